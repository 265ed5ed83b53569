package editors

import "strings"

// Snippet is text for the user to put somewhere. It holds the key.
type Snippet struct {
	For  string // a file to add it to, or a shell
	File string // the file; for shells the one that is read at the start
	Text string
}

// Snippet returns what to write where, to set an editor up by hand.
func (m *Manager) Snippet(id string, s Setup) ([]Snippet, []string, error) {
	p, err := m.Plan(id, s)
	if err != nil {
		return nil, nil, err
	}
	return p.Text, p.Steps, nil
}

func (m *Manager) snippets(e editor, s Setup) ([]Snippet, error) {
	var list []Snippet
	for _, v := range m.variants(e) {
		edits := v.all(s, nil)
		text, err := applyEdits(v.format, nil, edits)
		if err != nil {
			return nil, err
		}
		list = append(list, Snippet{For: v.path, File: v.path, Text: string(text)})
	}
	if e.vars == nil {
		return list, nil
	}
	for _, shell := range shells() {
		var lines strings.Builder
		for _, v := range e.vars(s) {
			lines.WriteString(shell.line(v) + "\n")
		}
		list = append(list, Snippet{For: shell.name, File: shell.file, Text: lines.String()})
	}
	return list, nil
}
