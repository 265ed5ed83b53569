package confedit

import (
	"bytes"
	"fmt"
	"strings"
)

type tomlLanguage struct{}

func (tomlLanguage) decode(text []byte) (any, error) {
	values, err := decodeTOML(text)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	return values, nil
}

func (tomlLanguage) replace(text []byte, p Path, value any) ([]byte, error) {
	rendered, ok := tomlValue(value)
	if !ok {
		return nil, ErrUnsafe
	}
	from, to, err := tomlLanguage{}.source(text, p)
	if err != nil {
		return nil, err
	}
	return join(text[:from], []byte(rendered), text[to:]), nil
}

func (tomlLanguage) source(text []byte, p Path) (from, to int, err error) {
	for _, s := range statements(text) {
		if !s.header && samePath(s.path, p) {
			return s.value, s.end, nil
		}
	}
	return 0, 0, ErrUnsafe // inside an inline table, or a table
}

func (tomlLanguage) insert(text []byte, parent Path, step Step, value any) ([]byte, error) {
	if step.Key != "" {
		return nil, ErrUnsafe
	}
	nl := newline(text)
	if m, ok := value.(Map); ok {
		section, err := tomlSection(parent.Then(step), m, nl)
		if err != nil {
			return nil, err
		}
		return appendSection(text, section, nl), nil
	}
	rendered, ok := tomlValue(value)
	if !ok {
		return nil, ErrUnsafe
	}
	line := tomlKey(step.Name) + " = " + rendered
	all := statements(text)
	at, found := 0, len(parent) == 0
	for _, s := range all {
		if s.header && samePath(s.path, parent) && len(parent) > 0 {
			at, found = lineEnd(text, s.end), true
			line = lineIndent(text, s.start) + line
		}
	}
	if !found {
		return appendSection(text, "["+tomlHeader(parent)+"]"+nl+line, nl), nil
	}
	inside := len(parent) == 0
	for _, s := range all {
		if s.header {
			inside = len(parent) > 0 && samePath(s.path, parent)
		} else if inside {
			at = lineEnd(text, s.end)
		}
	}
	if at == 0 {
		at = beforeTables(text, all)
	}
	if at > 0 && text[at-1] != '\n' {
		line = nl + line
	}
	return join(text[:at], []byte(line+nl), text[at:]), nil
}

// beforeTables is where the first assignment of a file goes: before the first
// table and the comment that belongs to it, or at the end.
func beforeTables(text []byte, all []statement) int {
	if len(all) == 0 {
		return len(text)
	}
	at := lineStart(text, all[0].start)
	for at > 0 {
		above := lineStart(text, at-1)
		if line := bytes.TrimSpace(text[above:at]); len(line) == 0 || line[0] != '#' {
			break
		}
		at = above
	}
	return at
}

func (tomlLanguage) cut(text []byte, p Path) ([]byte, error) {
	var cuts [][2]int
	open := false // the last cut is a section of which more may follow
	for _, s := range statements(text) {
		at, end := lineStart(text, s.start), lineEnd(text, s.end)
		switch {
		case s.path == nil || !s.path.Within(p):
			open = false
		case open && !s.header:
			cuts[len(cuts)-1][1] = end
		default:
			if s.header {
				at = withEmptyLine(text, at)
			}
			cuts = append(cuts, [2]int{at, end})
			open = s.header
		}
	}
	if len(cuts) == 0 {
		return nil, ErrUnsafe
	}
	var out []byte
	from := 0
	for _, c := range cuts {
		out = append(out, text[from:max(from, c[0])]...)
		from = c[1]
	}
	return append(out, text[from:]...), nil
}

// withEmptyLine takes the empty line above a table along.
func withEmptyLine(text []byte, at int) int {
	if at == 0 {
		return at
	}
	above := lineStart(text, at-1)
	if len(bytes.TrimSpace(text[above:at])) > 0 {
		return at
	}
	return above
}

func samePath(a, b Path) bool {
	return a != nil && len(a) == len(b) && a.Within(b)
}

// appendSection puts a table behind everything else, after an empty line.
func appendSection(text []byte, section, nl string) []byte {
	before := ""
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			before = nl
		}
		before += nl
	}
	return join(text, []byte(before+section+nl))
}

// tomlSection writes a map as a table with its scalars first, then its maps.
func tomlSection(p Path, m Map, nl string) (string, error) {
	lines := []string{"[" + tomlHeader(p) + "]"}
	var below []string // each after an empty line
	for _, member := range m {
		if inner, ok := member.Value.(Map); ok {
			section, err := tomlSection(p.Then(Step{Name: member.Name}), inner, nl)
			if err != nil {
				return "", err
			}
			below = append(below, "", section)
			continue
		}
		rendered, ok := tomlValue(member.Value)
		if !ok {
			return "", ErrUnsafe
		}
		lines = append(lines, tomlKey(member.Name)+" = "+rendered)
	}
	if len(lines) == 1 && len(below) > 0 { // a table of tables needs no header
		return strings.Join(below[1:], nl), nil
	}
	return strings.Join(append(lines, below...), nl), nil
}

func tomlHeader(p Path) string {
	names := make([]string, len(p))
	for i, step := range p {
		names[i] = tomlKey(step.Name)
	}
	return strings.Join(names, ".")
}

func tomlKey(name string) string {
	if bare([]byte(name)) {
		return name
	}
	return tomlString(name)
}

// tomlString is a JSON string: TOML knows all of its escapes but needs DEL
// escaped, too.
func tomlString(s string) string {
	return strings.ReplaceAll(quoted(s), "\x7f", `\u007f`)
}

func tomlValue(v any) (string, bool) {
	if s, ok := v.(string); ok {
		return tomlString(s), true
	}
	if text, ok := scalar(v); ok {
		return text, true
	}
	list, ok := elements(v)
	if !ok {
		return "", false
	}
	parts := make([]string, len(list))
	for i, element := range list {
		if parts[i], ok = tomlValue(element); !ok {
			return "", false
		}
	}
	return fmt.Sprintf("[%s]", strings.Join(parts, ", ")), true
}
