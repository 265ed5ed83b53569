package clienttool

import (
	"encoding/json"

	"cursortray/proxy/chat"
)

// Names maps the names and argument keys that a model writes to those that the
// client offered. Where there is not one clear match there is none. It does not
// change.
type Names struct {
	exact  map[string]*Tool
	folded map[string]*Tool // nil where two tools differ only in case or punctuation
}

// NewNames prepares the tools of a request.
func NewNames(tools []chat.Tool) *Names {
	n := &Names{exact: make(map[string]*Tool), folded: make(map[string]*Tool)}
	for _, tool := range tools {
		t := newTool(tool)
		n.exact[t.Name] = t
		key := Fold(t.Name)
		if _, twice := n.folded[key]; twice {
			t = nil
		}
		n.folded[key] = t
	}
	return n
}

// habitual returns the name under which clients offer one of Cursor's own
// tools, which models ask for by habit. It takes a folded name. A tool is never
// swapped for one that can do more.
func habitual(name string) string {
	switch name {
	case "shell":
		return "bash"
	case "updatetodos":
		return "todowrite"
	case "delete":
		return "rm"
	case "askquestion":
		return "question"
	}
	return ""
}

// Resolve returns the offered name and the arguments with offered keys only.
// It reports false when no offered tool is meant.
func (n *Names) Resolve(name string, args json.RawMessage) (string, json.RawMessage, bool) {
	if t := n.Find(name); t != nil {
		return t.Name, t.Arguments(args), true
	}
	folded := Fold(name)
	if t := n.folded[habitual(folded)]; t != nil {
		return t.Name, t.Arguments(args), true
	}
	if folded == "mcp" {
		f := object(args)
		inner := f["args"]
		t := n.Find("mcp__" + text(f["providerIdentifier"]) + "__" + text(f["toolName"]))
		if t != nil && len(inner) > 0 && inner[0] == '{' {
			return t.Name, t.Arguments(inner), true
		}
	}
	return "", nil, false
}

// Find returns the tool of that name, or the one tool whose name differs only in
// case and punctuation. It returns nil for none.
func (n *Names) Find(name string) *Tool {
	if t := n.exact[name]; t != nil {
		return t
	}
	if key := Fold(name); key != "" {
		return n.folded[key]
	}
	return nil
}
