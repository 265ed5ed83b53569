package agentrpc

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// arguments collects the arguments of one client tool from what a native
// request says. Keys, kinds of values and limits come from the tool's schema
// alone. Nothing is made up: when the schema wants more than is known, there
// is no call.
type arguments struct {
	tool      *clienttool.Tool
	settings  settings
	workspace string
	values    map[string]any
	lacking   bool // something that the work needs has no place in the schema
	ranged    bool // the lines asked for are in the arguments
}

func newArguments(tool *clienttool.Tool, s settings, workspace string) *arguments {
	return &arguments{tool: tool, settings: s, workspace: workspace, values: map[string]any{}}
}

// need sets a value that the work makes no sense without.
func (a *arguments) need(value any, keys ...string) {
	if !a.offer(value, keys...) {
		a.lacking = true
	}
}

// offer sets a value if the tool takes it under one of the keys.
func (a *arguments) offer(value any, keys ...string) bool {
	key := a.tool.Key(keys...)
	if key == "" {
		return false
	}
	fitting, ok := a.property(key).fit(value)
	if ok {
		a.values[key] = fitting
	}
	return ok
}

// fail says that the tool cannot do the work.
func (a *arguments) fail() { a.lacking = true }

// finish returns the arguments as JSON. It reports false when the work or the
// schema needs something that is not there.
func (a *arguments) finish() (json.RawMessage, bool) {
	if a.lacking {
		return nil, false
	}
	for _, key := range a.tool.Required {
		if _, given := a.values[key]; given {
			continue
		}
		value, ok := harmless(key)
		if !ok {
			return nil, false
		}
		fitting, ok := a.property(key).fit(value)
		if !ok {
			return nil, false
		}
		a.values[key] = fitting
	}
	return encodeJSON(a.values), true
}

// harmless is the value of an argument that says nothing about the work itself
// but is required by some tools.
func harmless(key string) (any, bool) {
	switch clienttool.Fold(key) {
	case "description", "explanation", "purpose", "toolsummary":
		return "Asked for by the model", true
	case "isbackground", "runinbackground", "background", "replaceall":
		return false, true
	case "requiresapproval":
		return true, true // the user decides
	}
	return nil, false
}

// property is what a schema says about one argument.
type property struct {
	Type  any `json:"type"`
	Items *struct {
		Type any `json:"type"`
	} `json:"items"`
	Enum        []any    `json:"enum"`
	Description string   `json:"description"`
	Minimum     *float64 `json:"minimum"`
	Maximum     *float64 `json:"maximum"`
}

func (a *arguments) property(key string) property {
	var p property
	if json.Unmarshal(a.tool.Properties[key], &p) != nil {
		return property{}
	}
	return p
}

func (p property) takes(kind string) bool {
	kinds := typesOf(p.Type)
	return len(kinds) == 0 || slices.Contains(kinds, kind)
}

// list tells that the argument is a list of texts and not a text.
func (p property) list() bool {
	return p.takes("array") && !p.takes("string") && (p.Items == nil || property{Type: p.Items.Type}.takes("string"))
}

// fit gives a value the form that the schema wants.
func (p property) fit(value any) (any, bool) {
	ok := false
	switch v := value.(type) {
	case string:
		ok = p.takes("string")
		if !ok && p.list() {
			return []string{v}, true
		}
	case bool:
		ok = p.takes("boolean")
	case int:
		value = p.bounded(v)
		ok = p.takes("integer") || p.takes("number")
	default: // lists and objects
		ok = p.takes("array")
	}
	if ok && len(p.Enum) > 0 {
		ok = slices.ContainsFunc(p.Enum, func(allowed any) bool { return reflect.DeepEqual(allowed, value) })
	}
	return value, ok
}

func (p property) bounded(n int) int {
	if p.Maximum != nil && float64(n) > *p.Maximum {
		n = int(math.Trunc(*p.Maximum))
	}
	if p.Minimum != nil && float64(n) < *p.Minimum {
		n = int(math.Ceil(*p.Minimum))
	}
	return n
}

// duration offers a time in the unit of the tool's own argument, which its name
// or its description tells; milliseconds are the custom.
func (a *arguments) duration(milliseconds int) {
	key := a.tool.Key("timeout", "timeout_ms", "timeoutMs", "timeout_seconds", "timeoutSeconds", "timeout_secs", "timeout_sec")
	if key == "" || milliseconds <= 0 {
		return
	}
	name, about := clienttool.Fold(key), strings.ToLower(a.property(key).Description)
	seconds := strings.Contains(name, "sec") ||
		!strings.HasSuffix(name, "ms") && strings.Contains(about, "second") && !strings.Contains(about, "millisecond")
	if seconds {
		milliseconds = (milliseconds + 999) / 1000
	}
	a.offer(milliseconds, key)
}

// itemTool describes the members of a list argument as if they were a tool.
func itemTool(tool *clienttool.Tool, key string) *clienttool.Tool {
	var list struct {
		Items json.RawMessage `json:"items"`
	}
	if json.Unmarshal(tool.Properties[key], &list) != nil {
		list.Items = nil
	}
	return clienttool.NewNames([]chat.Tool{{Name: key, Schema: list.Items}}).Find(key)
}
