package openai

import (
	"slices"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// maxToolName is the dialect's own limit.
const maxToolName = 64

// toolList gathers the tools of a request.
type toolList struct {
	*decoder
	tools []chat.Tool
	names map[string]bool
}

func (d *decoder) tools(v wirejson.Value) []chat.Tool {
	list := toolList{decoder: d}
	for element := range d.Array(v) {
		in := d.Object(element, &toolShape)
		d.functionType(in, "tools")
		function := d.Object(d.Present(in.Get("function")), &functionShape)
		list.add(function, chat.Tool{Name: d.Required(function.Get("name"))})
	}
	return list.tools
}

// add completes a tool from its declaration. Its name may differ from the
// declared one; a description that it has already follows the declared one, and
// a schema stays.
func (l *toolList) add(in wirejson.Object, tool chat.Tool) {
	name := in.Get("name")
	tool.Description = l.Text(in.Get("description")) + tool.Description
	if tool.Schema == nil {
		tool.Schema = l.Schema(in.Get("parameters"))
	}
	switch {
	case l.Fault != nil:
		return
	case utf8.RuneCountInString(name.Text()) > maxToolName:
		l.Fail(name, wirejson.CodeInvalidValue, "is longer than %d characters", maxToolName)
	case l.names[tool.Name]:
		l.Fail(name, wirejson.CodeInvalidValue, "is the name of an earlier tool, too")
	}
	if l.names == nil {
		l.names = map[string]bool{}
	}
	l.names[tool.Name] = true
	l.tools = append(l.tools, tool)
}

// functionType checks the type of a tool or call; without one it is a function.
func (d *decoder) functionType(in wirejson.Object, what string) {
	if v := in.Get("type"); !v.Absent() && d.Text(v) != "function" {
		d.Fail(v, wirejson.CodeUnsupported, "must be function: other %s are not supported", what)
	}
}

// choice returns the tool choice. What an object means is up to the dialect.
func (d *decoder) choice(v wirejson.Value, tools []chat.Tool, named func(wirejson.Value) chat.ToolChoice) chat.ToolChoice {
	if v.Absent() {
		return chat.ToolChoice{}
	}
	if v.Raw[0] == '{' {
		return named(v)
	}
	if v.Raw[0] != '"' {
		d.Mistyped(v, "a string or an object")
		return chat.ToolChoice{}
	}
	switch v.Text() {
	case "auto":
		return chat.ToolChoice{Mode: chat.ToolAuto}
	case "none":
		return chat.ToolChoice{Mode: chat.ToolNone}
	case "required":
		d.anyTool(v, tools)
		return chat.ToolChoice{Mode: chat.ToolAny}
	}
	d.Fail(v, wirejson.CodeInvalidValue, "must be auto, none, required or a function of tools")
	return chat.ToolChoice{}
}

// anyTool refuses a choice that no tool can meet.
func (d *decoder) anyTool(v wirejson.Value, tools []chat.Tool) {
	if len(tools) == 0 {
		d.Fail(v, wirejson.CodeInvalidValue, "is required, but there are no tools")
	}
}

func (d *decoder) namedChoice(v wirejson.Value, tools []chat.Tool) chat.ToolChoice {
	in := d.Object(v, &choiceShape)
	d.functionType(in, "choices")
	name := d.Object(d.Present(in.Get("function")), &chosenFunctionShape).Get("name")
	return d.choose(name, d.Required(name), tools)
}

// choose returns the choice of the tool of that name, which v asks for.
func (d *decoder) choose(v wirejson.Value, name string, tools []chat.Tool) chat.ToolChoice {
	if !slices.ContainsFunc(tools, func(t chat.Tool) bool { return t.Name == name }) {
		d.Fail(v, wirejson.CodeInvalidValue, "is not the name of one of the tools")
	}
	return chat.ToolChoice{Mode: chat.ToolNamed, Name: name}
}
