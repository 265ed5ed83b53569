package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// declaredTools reads the tools of a Responses request. Tools that OpenAI would
// run itself are left out without a word: Codex sends web_search unless it is
// switched off.
func (d *decoder) declaredTools(v wirejson.Value) ([]chat.Tool, origins) {
	list := declared{toolList{decoder: d}, origins{}}
	for element := range d.Array(v) {
		list.declare(element, "")
	}
	return list.tools, list.origins
}

// declared gathers tools and how the client declared them.
type declared struct {
	toolList
	origins origins
}

func (l *declared) declare(v wirejson.Value, namespace string) {
	in := l.Object(v, &declaredToolShape)
	kind := l.Required(in.Get("type"))
	switch {
	case l.Fault != nil:
	case kind == "function":
		l.addAs(in, toolOrigin{namespace: namespace}, chat.Tool{})
	case kind == "custom":
		l.addAs(in, toolOrigin{namespace: namespace, custom: true}, chat.Tool{
			Description: l.grammar(in.Get("format")), Schema: customSchema(),
		})
	case kind == "namespace" && namespace == "":
		name := l.Required(in.Get("name"))
		for element := range l.Array(in.Get("tools")) {
			l.declare(element, name)
		}
	}
}

// addAs adds a tool under the name that the model knows it by.
func (l *declared) addAs(in wirejson.Object, origin toolOrigin, tool chat.Tool) {
	origin.name = l.Required(in.Get("name"))
	tool.Name = flatName(origin.namespace, origin.name)
	l.add(in, tool)
	if origin.custom || origin.namespace != "" {
		l.origins[tool.Name] = origin
	}
}

// flatName is the one name of a tool in a namespace. It keeps to the longest
// name that models take.
func flatName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	flat := strings.TrimRight(namespace, "_") + "__" + name
	if len(flat) <= maxToolName {
		return flat
	}
	sum := sha256.Sum256([]byte(flat))
	mark := "_" + hex.EncodeToString(sum[:4])
	return strings.ToValidUTF8(flat[:maxToolName-len(mark)], "") + mark
}

// customSchema offers a tool that takes a text as a function with one argument.
func customSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string","description":"The whole input of the tool"}},"required":["input"],"additionalProperties":false}`)
}

// customArguments is the reverse of customInput.
func customArguments(input string) string {
	return string(append(wirejson.AppendString([]byte(`{"input":`), input), '}'))
}

// grammar describes the form of a custom tool's input. Nothing makes the model
// keep to it.
func (l *declared) grammar(v wirejson.Value) string {
	in := l.Object(v, &toolFormatShape)
	definition := l.Text(in.Get("definition"))
	if definition == "" {
		return ""
	}
	return "\n\nThe input must follow this grammar (" + l.Text(in.Get("syntax")) + "):\n" + definition
}

// toolChoice reads the choice into req. A list of allowed tools leaves the
// others out.
func (d *decoder) toolChoice(v wirejson.Value, req *chat.Request) {
	req.Choice = d.choice(v, req.Tools, func(v wirejson.Value) chat.ToolChoice {
		in := d.Object(v, &responseChoiceShape)
		kind := in.Get("type")
		switch d.Required(kind) {
		case "function", "custom":
			return d.choose(in.Get("name"), d.namedTool(in), req.Tools)
		case "allowed_tools":
			var allowed []string
			for element := range d.Array(in.Get("tools")) {
				if entry := d.Object(element, &responseChoiceShape); !entry.Get("name").Absent() { // hosted ones have none
					allowed = append(allowed, d.namedTool(entry))
				}
			}
			req.Tools = slices.DeleteFunc(req.Tools, func(t chat.Tool) bool { return !slices.Contains(allowed, t.Name) })
			return d.choice(in.Get("mode"), req.Tools, func(v wirejson.Value) chat.ToolChoice {
				d.Mistyped(v, "a string")
				return chat.ToolChoice{}
			})
		}
		d.Fail(kind, wirejson.CodeUnsupported, "must be function, custom or allowed_tools: this proxy runs no tools itself")
		return chat.ToolChoice{}
	})
}

// namedTool returns the name by which the model knows the tool that in names.
func (d *decoder) namedTool(in wirejson.Object) string {
	return flatName(d.Text(in.Get("namespace")), d.Required(in.Get("name")))
}

// choiceJSON is the tool choice as responses repeat it.
func (o origins) choiceJSON(choice chat.ToolChoice) []byte {
	switch choice.Mode {
	case chat.ToolNone:
		return []byte(`"none"`)
	case chat.ToolAny:
		return []byte(`"required"`)
	case chat.ToolNamed:
		origin := o.of(choice.Name)
		kind := "function"
		if origin.custom {
			kind = "custom"
		}
		return append(wirejson.AppendString([]byte(`{"type":"`+kind+`","name":`), origin.name), '}')
	}
	return []byte(`"auto"`)
}
