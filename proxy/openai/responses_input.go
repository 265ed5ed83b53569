package openai

import (
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// inputItems gathers the items of a Responses request as messages. What the
// model said in one go is several items here and one message there.
type inputItems struct {
	history
	kept     *keptItems
	resolved map[string]bool // ids of items that stand for a reference
}

// input reads the instructions and the history into req.
func (d *decoder) input(in wirejson.Object, req *chat.Request, kept *keptItems) {
	items := inputItems{history: history{decoder: d}, kept: kept, resolved: map[string]bool{}}
	if s := d.Text(in.Get("instructions")); s != "" {
		items.system = append(items.system, s)
	}
	v := in.Get("input")
	switch {
	case v.Raw == nil:
		d.Fail(v, wirejson.CodeMissing, "is missing")
	case v.Raw[0] == '"':
		items.append(chat.User, d.content(v))
	case v.Raw[0] == '[':
		for element := range v.Elements() {
			items.add(element)
		}
	default:
		d.Mistyped(v, "a string or an array")
	}
	items.finish(v, req)
}

func (s *inputItems) add(v wirejson.Value) {
	if v.Absent() {
		s.Mistyped(v, "an object")
		return
	}
	in := s.Object(v, &inputItemShape)
	if s.Fault != nil {
		return
	}
	kind := in.Get("type")
	name := s.Text(kind)
	switch { // short forms
	case name != "":
	case !in.Get("role").Absent():
		name = "message"
	case !in.Get("id").Absent():
		name = "item_reference"
	}
	switch name {
	case "message":
		s.message(in)
	case "reasoning":
		s.reasoning(in)
	case "function_call":
		s.call(in, s.Text(in.Get("arguments")))
	case "custom_tool_call":
		s.call(in, customArguments(s.Text(in.Get("input"))))
	case "local_shell_call":
		s.shellCall(in)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		s.result(in)
	case "item_reference":
		s.reference(in)
	case "":
		s.Required(kind)
	default: // traces of hosted tools, and kinds of the future
		s.unknownType(v, name)
	}
}

// unknownType notes that something of this type is passed over.
func (d *decoder) unknownType(v wirejson.Value, name string) {
	if d.Unknown != nil {
		d.Unknown(v.Field() + ".type=" + name)
	}
}

func (s *inputItems) message(in wirejson.Object) {
	role := in.Get("role")
	switch s.Required(role) {
	case "system", "developer":
		s.addSystem(in)
	case "user":
		s.append(chat.User, s.content(in.Get("content")))
	case "assistant":
		s.said(s.content(in.Get("content"))...)
	default:
		s.Fail(role, wirejson.CodeInvalidValue, "must be system, developer, user or assistant")
	}
}

// said adds to what the model says, in the message that it has begun.
func (s *inputItems) said(parts ...chat.Part) {
	if n := len(s.messages); n > 0 && s.messages[n-1].Role == chat.Assistant {
		s.messages[n-1].Parts = append(s.messages[n-1].Parts, parts...)
		return
	}
	s.append(chat.Assistant, parts)
}

// reasoning reads thinking that the client sends back. Some models give the
// thinking itself, others a summary of it.
func (s *inputItems) reasoning(in wirejson.Object) {
	text := s.texts(in.Get("content"))
	if text == "" {
		text = s.texts(in.Get("summary"))
	}
	if text != "" {
		s.said(chat.Reasoning{Text: text})
	}
}

// texts joins the texts of parts, whatever their type.
func (d *decoder) texts(v wirejson.Value) string {
	var texts []string
	for element := range d.Array(v) {
		texts = append(texts, d.Text(d.Object(element, &inputPartShape).Get("text")))
	}
	return strings.Join(texts, "\n\n")
}

// call adds a call. Its arguments are passed on as the client echoes them.
func (s *inputItems) call(in wirejson.Object, arguments string) {
	s.said(chat.ToolUse{
		ID:        s.Required(in.Get("call_id")),
		Name:      flatName(s.Text(in.Get("namespace")), s.Required(in.Get("name"))),
		Arguments: arguments,
	})
}

// shellCall adds a call of the hosted shell, which the client has run.
func (s *inputItems) shellCall(in wirejson.Object) {
	action := in.Get("action")
	if !action.Absent() && action.Raw[0] != '{' {
		s.Mistyped(action, "an object")
		return
	}
	s.said(chat.ToolUse{ID: s.callID(in), Name: "local_shell", Arguments: string(action.Raw)})
}

// callID returns the id of a call. Items of the hosted shell may have only one.
func (s *inputItems) callID(in wirejson.Object) string {
	if id := in.Get("id"); in.Get("call_id").Absent() && !id.Absent() {
		return s.Required(id)
	}
	return s.Required(in.Get("call_id"))
}

func (s *inputItems) result(in wirejson.Object) {
	s.append(chat.User, []chat.Part{chat.ToolResult{CallID: s.callID(in), Content: s.content(in.Get("output"))}})
}

// reference puts an item of an earlier response in the place of a reference to
// it. Without reasoning that is no longer kept the model does; it cannot do
// without other items.
func (s *inputItems) reference(in wirejson.Object) {
	id := s.Required(in.Get("id"))
	switch item := s.kept.get(id); {
	case s.resolved[id]: // a short request must not grow without end
		return
	case item != nil:
		s.resolved[id] = true
		s.add(wirejson.Document(item))
		return
	case strings.HasPrefix(id, reasoningPrefix):
		return
	}
	s.Fail(in.Get("id"), wirejson.CodeInvalidValue,
		"names an item that is not kept here: this proxy keeps the items of its latest answers, in memory; send the item itself, as clients do with store: false")
}

// inputPart reads a part of a message or of a tool's output.
func (d *decoder) inputPart(v wirejson.Value) chat.Part {
	if v.Absent() {
		d.Mistyped(v, "an object")
		return nil
	}
	in := d.Object(v, &inputPartShape)
	if d.Fault != nil {
		return nil
	}
	kind := in.Get("type")
	switch name := d.Required(kind); name {
	case "input_text", "output_text", "text":
		return d.textPart(in.Get("text"))
	case "refusal":
		return d.textPart(in.Get("refusal"))
	case "input_image":
		return d.image(in.Get("image_url"))
	case "input_file", "input_audio":
		d.Fail(kind, wirejson.CodeUnsupported, "%s is not supported: send text or pictures", name)
	default:
		d.unknownType(v, name)
	}
	return nil
}
