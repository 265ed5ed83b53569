package openai

import (
	"slices"
	"unicode/utf8"

	"cursortray/proxy/chat"
)

// maxToolName is the dialect's own limit.
const maxToolName = 64

func (d *decoder) tools(v value) []chat.Tool {
	var tools []chat.Tool
	names := map[string]bool{}
	for element := range d.array(v) {
		in := d.object(element, &toolShape)
		d.functionType(in, "tools")
		function := d.object(d.present(in.get("function")), &functionShape)
		name := d.required(function.get("name"))
		if d.fault != nil {
			return nil
		}
		switch {
		case utf8.RuneCountInString(name) > maxToolName:
			d.fail(function.get("name"), codeInvalidValue, "is longer than %d characters", maxToolName)
		case names[name]:
			d.fail(function.get("name"), codeInvalidValue, "is the name of an earlier tool, too")
		}
		names[name] = true
		tools = append(tools, chat.Tool{
			Name:        name,
			Description: d.text(function.get("description")),
			Schema:      d.schema(function.get("parameters")),
		})
	}
	return tools
}

// functionType checks the type of a tool or call; without one it is a function.
func (d *decoder) functionType(in object, what string) {
	if v := in.get("type"); !v.absent() && d.text(v) != "function" {
		d.fail(v, codeUnsupported, "must be function: other %s are not supported", what)
	}
}

// present refuses a member that must be there.
func (d *decoder) present(v value) value {
	if v.absent() {
		d.fail(v, codeMissing, "is missing")
	}
	return v
}

func (d *decoder) choice(v value, tools []chat.Tool) chat.ToolChoice {
	if v.absent() {
		return chat.ToolChoice{}
	}
	if v.raw[0] == '{' {
		return d.namedChoice(v, tools)
	}
	if v.raw[0] != '"' {
		d.mistyped(v, "a string or an object")
		return chat.ToolChoice{}
	}
	switch text(v.raw) {
	case "auto":
		return chat.ToolChoice{Mode: chat.ToolAuto}
	case "none":
		return chat.ToolChoice{Mode: chat.ToolNone}
	case "required":
		if len(tools) == 0 {
			d.fail(v, codeInvalidValue, "is required, but there are no tools")
		}
		return chat.ToolChoice{Mode: chat.ToolAny}
	}
	d.fail(v, codeInvalidValue, "must be auto, none, required or a function of tools")
	return chat.ToolChoice{}
}

func (d *decoder) namedChoice(v value, tools []chat.Tool) chat.ToolChoice {
	in := d.object(v, &choiceShape)
	d.functionType(in, "choices")
	name := d.object(d.present(in.get("function")), &chosenFunctionShape).get("name")
	choice := chat.ToolChoice{Mode: chat.ToolNamed, Name: d.required(name)}
	if !slices.ContainsFunc(tools, func(t chat.Tool) bool { return t.Name == choice.Name }) {
		d.fail(name, codeInvalidValue, "is not the name of one of the tools")
	}
	return choice
}
