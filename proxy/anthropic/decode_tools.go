package anthropic

import (
	"iter"
	"slices"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// maxToolName is the dialect's own limit.
const maxToolName = 128

// tools reads the tools and which of them the model may call.
func (d *decoder) tools(in wirejson.Object, req *chat.Request) {
	var left []string // names of tools that are left out
	seen := map[string]bool{}
	for element := range d.Array(in.Get("tools")) {
		tool := d.Object(element, &toolShape)
		name := tool.Get("name")
		if !d.callable(tool) {
			left = append(left, d.Text(name))
			continue
		}
		t := chat.Tool{Name: d.Required(name), Description: d.Text(tool.Get("description")), Schema: d.Schema(tool.Get("input_schema"))}
		switch {
		case utf8.RuneCountInString(t.Name) > maxToolName:
			d.Fail(name, wirejson.CodeInvalidValue, "is longer than %d characters", maxToolName)
		case seen[t.Name]:
			d.Fail(name, wirejson.CodeInvalidValue, "is the name of an earlier tool, too")
		}
		if d.Fault != nil {
			return
		}
		seen[t.Name] = true
		req.Tools = append(req.Tools, t)
	}
	d.choice(in.Get("tool_choice"), req, left)
}

// callable tells whether a tool is one that the client runs and describes.
// Tools that Anthropic's servers run, or whose form only its models know, are
// not; and a tool that is to be loaded later, without any parameter, only keeps
// a place.
func (d *decoder) callable(tool wirejson.Object) bool {
	if kind := d.Text(tool.Get("type")); kind != "" && kind != "custom" {
		return false
	}
	if !d.Boolean(tool.Get("defer_loading"), false) {
		return true
	}
	for range members(member(tool.Get("input_schema"), "properties")) {
		return true
	}
	return false
}

// member returns a member of a JSON Schema, which has no shape of its own.
func member(v wirejson.Value, name string) (found wirejson.Value) {
	for m := range members(v) {
		if m.Key == name {
			found = m
		}
	}
	return found
}

// members yields the members of v, none if it is no object.
func members(v wirejson.Value) iter.Seq[wirejson.Value] {
	if v.Absent() || v.Raw[0] != '{' {
		return func(func(wirejson.Value) bool) {}
	}
	return v.Members()
}

// choice reads whether the model may, must or must not call a tool. A choice
// of a tool that was left out is no choice.
func (d *decoder) choice(v wirejson.Value, req *chat.Request, left []string) {
	in := d.Object(v, &choiceShape)
	if v.Absent() || d.Fault != nil {
		return
	}
	req.SerialTools = d.Boolean(in.Get("disable_parallel_tool_use"), false)
	kind, name := in.Get("type"), in.Get("name")
	switch d.Required(kind) {
	case "auto":
	case "none":
		req.Choice.Mode = chat.ToolNone
	case "any":
		if len(req.Tools) > 0 {
			req.Choice.Mode = chat.ToolAny
		} else if len(left) == 0 {
			d.Fail(kind, wirejson.CodeInvalidValue, "is any, but there are no tools")
		}
	case "tool":
		wanted := d.Required(name)
		switch {
		case slices.ContainsFunc(req.Tools, func(t chat.Tool) bool { return t.Name == wanted }):
			req.Choice = chat.ToolChoice{Mode: chat.ToolNamed, Name: wanted}
		case !slices.Contains(left, wanted):
			d.Fail(name, wirejson.CodeInvalidValue, "is not the name of one of the tools")
		}
	default:
		d.Fail(kind, wirejson.CodeInvalidValue, "must be auto, any, tool or none")
	}
}
