package openai

import (
	"slices"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// maxToolName is the dialect's own limit.
const maxToolName = 64

func (d *decoder) tools(v wirejson.Value) []chat.Tool {
	var tools []chat.Tool
	names := map[string]bool{}
	for element := range d.Array(v) {
		in := d.Object(element, &toolShape)
		d.functionType(in, "tools")
		function := d.Object(d.Present(in.Get("function")), &functionShape)
		name := d.Required(function.Get("name"))
		if d.Fault != nil {
			return nil
		}
		switch {
		case utf8.RuneCountInString(name) > maxToolName:
			d.Fail(function.Get("name"), wirejson.CodeInvalidValue, "is longer than %d characters", maxToolName)
		case names[name]:
			d.Fail(function.Get("name"), wirejson.CodeInvalidValue, "is the name of an earlier tool, too")
		}
		names[name] = true
		tools = append(tools, chat.Tool{
			Name:        name,
			Description: d.Text(function.Get("description")),
			Schema:      d.Schema(function.Get("parameters")),
		})
	}
	return tools
}

// functionType checks the type of a tool or call; without one it is a function.
func (d *decoder) functionType(in wirejson.Object, what string) {
	if v := in.Get("type"); !v.Absent() && d.Text(v) != "function" {
		d.Fail(v, wirejson.CodeUnsupported, "must be function: other %s are not supported", what)
	}
}

func (d *decoder) choice(v wirejson.Value, tools []chat.Tool) chat.ToolChoice {
	if v.Absent() {
		return chat.ToolChoice{}
	}
	if v.Raw[0] == '{' {
		return d.namedChoice(v, tools)
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
		if len(tools) == 0 {
			d.Fail(v, wirejson.CodeInvalidValue, "is required, but there are no tools")
		}
		return chat.ToolChoice{Mode: chat.ToolAny}
	}
	d.Fail(v, wirejson.CodeInvalidValue, "must be auto, none, required or a function of tools")
	return chat.ToolChoice{}
}

func (d *decoder) namedChoice(v wirejson.Value, tools []chat.Tool) chat.ToolChoice {
	in := d.Object(v, &choiceShape)
	d.functionType(in, "choices")
	name := d.Object(d.Present(in.Get("function")), &chosenFunctionShape).Get("name")
	choice := chat.ToolChoice{Mode: chat.ToolNamed, Name: d.Required(name)}
	if !slices.ContainsFunc(tools, func(t chat.Tool) bool { return t.Name == choice.Name }) {
		d.Fail(name, wirejson.CodeInvalidValue, "is not the name of one of the tools")
	}
	return choice
}
