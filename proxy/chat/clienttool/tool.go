package clienttool

import (
	"bytes"
	"encoding/json"
	"slices"

	"cursortray/proxy/chat"
)

// Tool is one tool of a client, as far as its schema tells. It does not change.
type Tool struct {
	Name string
	// Properties are the schemas of the arguments by key.
	Properties map[string]json.RawMessage
	Required   []string

	open   bool              // takes keys that the schema does not list
	folded map[string]string // spelling of the keys by Fold; "" where two collide
}

func newTool(tool chat.Tool) *Tool {
	t := &Tool{Name: tool.Name, folded: make(map[string]string)}
	schema := object(tool.Schema)
	t.Properties = object(schema["properties"])
	if json.Unmarshal(schema["required"], &t.Required) != nil {
		t.Required = nil
	}
	// Keys that come by reference or by alternative are not known here.
	t.open = len(t.Properties) == 0 || schema["patternProperties"] != nil || schema["$ref"] != nil ||
		schema["allOf"] != nil || schema["anyOf"] != nil || schema["oneOf"] != nil
	if more := schema["additionalProperties"]; more != nil && string(more) != "false" {
		t.open = true
	}
	for key := range t.Properties {
		f := Fold(key)
		if _, twice := t.folded[f]; twice {
			key = ""
		}
		t.folded[f] = key
	}
	return t
}

// Key returns the first of the keys that the tool takes, whatever its case and
// punctuation, in the schema's own spelling; "" for none.
func (t *Tool) Key(keys ...string) string {
	for _, key := range keys {
		if _, own := t.Properties[key]; own {
			return key
		}
		if own := t.folded[Fold(key)]; own != "" {
			return own
		}
	}
	return ""
}

// argument is one member of an arguments object.
type argument struct {
	key   string
	value json.RawMessage
}

// Arguments renames keys to those of the schema and leaves out the rest. What
// is missing stays missing. Arguments that need no change keep their bytes.
func (t *Tool) Arguments(args json.RawMessage) json.RawMessage {
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
		if _, own := t.Properties[m.key]; !own {
			key := t.spelling(m.key)
			switch {
			case key != "" && !given[key]:
				given[key] = true
				m.key = key
				changed = true
			case !t.open:
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
func (t *Tool) spelling(key string) string {
	folded := Fold(key)
	if own, ok := t.folded[folded]; ok {
		return own
	}
	for _, names := range synonyms() {
		if !slices.Contains(names, folded) {
			continue
		}
		match := ""
		for _, name := range names {
			if own := t.folded[name]; own != "" {
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

// synonyms lists, folded, the keys that Cursor's own tools and the clients' use
// for one and the same argument.
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
		out = append(out, encode(m.key)...)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}
