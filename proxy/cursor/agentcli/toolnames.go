package agentcli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"cursortray/proxy/chat"
)

// toolNames maps the names and argument keys that a model writes to those
// that the client offered. Where there is not one clear match there is none.
type toolNames struct {
	exact  map[string]*offeredTool
	folded map[string]*offeredTool // nil where two tools differ only in case or punctuation
}

type offeredTool struct {
	name   string
	open   bool              // takes keys that the schema does not list
	keys   map[string]bool   // the schema's own keys
	folded map[string]string // their spelling by fold; "" where two collide
}

func newToolNames(tools []chat.Tool) *toolNames {
	t := &toolNames{exact: make(map[string]*offeredTool), folded: make(map[string]*offeredTool)}
	for _, tool := range tools {
		o := newOfferedTool(tool)
		t.exact[o.name] = o
		key := fold(o.name)
		if _, twice := t.folded[key]; twice {
			o = nil
		}
		t.folded[key] = o
	}
	return t
}

// nativeName returns the name under which clients offer one of the CLI's own
// tools, which models ask for by habit. It takes a folded name. A tool is never
// swapped for one that can do more.
func nativeName(name string) string {
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

// resolve returns the offered name and the arguments with offered keys only.
// It reports false when no offered tool is meant.
func (t *toolNames) resolve(name string, args json.RawMessage) (string, json.RawMessage, bool) {
	if o := t.find(name); o != nil {
		return o.name, o.arguments(args), true
	}
	folded := fold(name)
	if o := t.folded[nativeName(folded)]; o != nil {
		return o.name, o.arguments(args), true
	}
	if folded == "mcp" {
		f := raw(args).object()
		if o := t.find("mcp__" + f.str("providerIdentifier") + "__" + f.str("toolName")); o != nil && f["args"].is('{') {
			return o.name, o.arguments(copyJSON(f["args"])), true
		}
	}
	return "", nil, false
}

func (t *toolNames) find(name string) *offeredTool {
	if o := t.exact[name]; o != nil {
		return o
	}
	if key := fold(name); key != "" {
		return t.folded[key]
	}
	return nil
}

func newOfferedTool(tool chat.Tool) *offeredTool {
	o := &offeredTool{name: tool.Name, keys: make(map[string]bool), folded: make(map[string]string)}
	schema := raw(bytes.TrimSpace(tool.Schema)).object()
	properties := schema.object("properties")
	// Keys that come by reference or by alternative are not known here.
	o.open = len(properties) == 0 || schema["patternProperties"] != nil || schema["$ref"] != nil ||
		schema["allOf"] != nil || schema["anyOf"] != nil || schema["oneOf"] != nil
	if more := schema["additionalProperties"]; more != nil && string(more) != "false" {
		o.open = true
	}
	for key := range properties {
		o.keys[key] = true
		f := fold(key)
		if _, twice := o.folded[f]; twice {
			key = ""
		}
		o.folded[f] = key
	}
	return o
}

// argument is one member of an arguments object.
type argument struct {
	key   string
	value json.RawMessage
}

// arguments renames keys to those of the schema and leaves out the rest. What
// is missing stays missing. Arguments that need no change keep their bytes.
func (o *offeredTool) arguments(args json.RawMessage) json.RawMessage {
	members, ok := membersOf(args)
	if !ok {
		return args
	}
	given := make(map[string]bool)
	for _, m := range members {
		given[m.key] = true
	}
	changed := false
	kept := members[:0]
	for _, m := range members {
		if !o.keys[m.key] {
			key := o.spelling(m.key)
			switch {
			case key != "" && !given[key]:
				given[key] = true
				m.key = key
				changed = true
			case !o.open:
				changed = true
				continue
			}
		}
		kept = append(kept, m)
	}
	if !changed {
		return args
	}
	return joinMembers(kept)
}

// spelling finds the one key of the schema that a key stands for, else "".
func (o *offeredTool) spelling(key string) string {
	folded := fold(key)
	if own, ok := o.folded[folded]; ok {
		return own
	}
	for _, names := range synonyms() {
		if !slices.Contains(names, folded) {
			continue
		}
		match := ""
		for _, name := range names {
			if own := o.folded[name]; own != "" {
				if match != "" {
					return "" // several would do
				}
				match = own
			}
		}
		return match
	}
	return ""
}

// synonyms lists, folded, the keys that the CLI's own tools and the clients'
// use for one and the same argument.
func synonyms() [][]string {
	return [][]string{
		{"path", "filepath", "file", "filename", "targetfile"},
		{"command", "cmd"},
		{"content", "contents", "filetext", "streamcontent"},
		{"oldtext", "oldstring", "oldstr"},
		{"newtext", "newstring", "newstr"},
		{"pattern", "globpattern"},
	}
}

// membersOf reads an object in its own order.
func membersOf(object json.RawMessage) ([]argument, bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var members []argument
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		m := argument{}
		m.key, _ = key.(string)
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		members = append(members, m)
	}
	return members, true
}

func joinMembers(members []argument) json.RawMessage {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quoteJSON(m.key)...)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// fold reduces a name to its letters and digits without case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
