package openai

import (
	"strconv"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// messages reads the history into req: system texts from any place into
// System, the rest into Messages. Entries without anything in them are left
// out.
func (d *decoder) messages(v wirejson.Value, req *chat.Request) {
	if v.Raw == nil {
		d.Fail(v, wirejson.CodeMissing, "is missing")
		return
	}
	if v.Raw[0] != '[' {
		d.Mistyped(v, "an array")
		return
	}
	h := history{decoder: d}
	for element := range v.Elements() {
		h.add(element)
	}
	h.finish(v, req)
}

// history gathers the messages of one request.
type history struct {
	*decoder
	system   []string
	messages []chat.Message
	// lastCall is the id of the latest call of each function, for results
	// that name only the function.
	lastCall map[string]string
	legacy   int // calls that came without an id
}

func (h *history) add(v wirejson.Value) {
	if v.Absent() {
		h.Mistyped(v, "an object")
		return
	}
	in := h.Object(v, &messageShape)
	if h.Fault != nil {
		return
	}
	role := in.Get("role")
	switch h.Required(role) {
	case "system", "developer":
		h.addSystem(in)
	case "user":
		h.append(chat.User, h.content(in.Get("content")))
	case "assistant":
		h.append(chat.Assistant, h.assistant(in))
	case "tool":
		h.result(h.Required(in.Get("tool_call_id")), in)
	case "function":
		h.result(h.functionID(in), in)
	default:
		h.Fail(role, wirejson.CodeInvalidValue, "must be system, developer, user, assistant, tool or function")
	}
}

// finish hands over what was gathered from v.
func (h *history) finish(v wirejson.Value, req *chat.Request) {
	req.System = joinTexts(h.system)
	req.Messages = h.messages
	if len(req.Messages) > 0 || h.Fault != nil {
		return
	}
	if req.System == "" {
		h.Nothing(v)
		return
	}
	// Some clients put a one-off question into a system message alone. A model
	// needs something to answer.
	req.Messages = []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: req.System}}}}
	req.System = ""
}

func (h *history) append(role chat.Role, parts []chat.Part) {
	if len(parts) > 0 {
		h.messages = append(h.messages, chat.Message{Role: role, Parts: parts})
	}
}

func (h *history) addSystem(in wirejson.Object) {
	content := in.Get("content")
	for _, part := range h.content(content) {
		if text, ok := part.(chat.Text); ok {
			h.system = append(h.system, text.Text)
		} else {
			h.Fail(content, wirejson.CodeInvalidValue, "must be text in a message of this role")
		}
	}
}

// assistant returns the parts of an earlier answer in the order in which they
// came about: thinking, text, calls.
func (h *history) assistant(in wirejson.Object) []chat.Part {
	var parts []chat.Part
	// Clients that send both names send the same text in both.
	thinking, other := h.Text(in.Get("reasoning_content")), h.Text(in.Get("reasoning"))
	if thinking == "" {
		thinking = other
	}
	if thinking != "" {
		parts = append(parts, chat.Reasoning{Text: thinking})
	}
	parts = append(parts, h.content(in.Get("content"))...)
	if refusal := h.Text(in.Get("refusal")); refusal != "" {
		parts = append(parts, chat.Text{Text: refusal})
	}
	if v := in.Get("audio"); !v.Absent() {
		h.Fail(v, wirejson.CodeUnsupported, "is not supported: Cursor's models do not speak")
	}
	for element := range h.Array(in.Get("tool_calls")) {
		call := h.Object(element, &callShape)
		h.functionType(call, "calls")
		parts = append(parts, h.call(h.Required(call.Get("id")), h.Present(call.Get("function"))))
	}
	if v := in.Get("function_call"); !v.Absent() {
		h.legacy++
		parts = append(parts, h.call("function_call_"+strconv.Itoa(h.legacy), v))
	}
	return parts
}

// call returns one call of an earlier answer. The arguments are passed on as
// the client echoes them, also when they are empty or broken.
func (h *history) call(id string, function wirejson.Value) chat.ToolUse {
	in := h.Object(function, &calledFunctionShape)
	use := chat.ToolUse{ID: id, Name: h.Required(in.Get("name")), Arguments: h.Text(in.Get("arguments"))}
	if h.lastCall == nil {
		h.lastCall = map[string]string{}
	}
	h.lastCall[use.Name] = use.ID
	return use
}

// functionID returns the id of the call that a result of the old role
// "function" belongs to.
func (h *history) functionID(in wirejson.Object) string {
	if id := h.Text(in.Get("tool_call_id")); id != "" {
		return id
	}
	name := h.Required(in.Get("name"))
	if id, ok := h.lastCall[name]; ok {
		return id
	}
	return name
}

// result adds the result of a call. One without content says that the tool
// gave nothing, so it is kept.
func (h *history) result(id string, in wirejson.Object) {
	h.append(chat.User, []chat.Part{chat.ToolResult{CallID: id, Content: h.content(in.Get("content"))}})
}

// content returns what a message of any role says: a string, null, nothing, or
// an array of parts. Empty texts are left out.
func (d *decoder) content(v wirejson.Value) []chat.Part {
	if v.Absent() {
		return nil
	}
	var parts []chat.Part
	switch v.Raw[0] {
	case '"':
		if s := v.Text(); s != "" {
			parts = append(parts, chat.Text{Text: s})
		}
	case '[':
		for element := range v.Elements() {
			if part := d.part(d, element); part != nil {
				parts = append(parts, part)
			}
		}
	default:
		d.Mistyped(v, "a string or an array of parts")
	}
	return parts
}

// chatPart reads a part of a chat completions message.
func (d *decoder) chatPart(v wirejson.Value) chat.Part {
	if v.Absent() {
		d.Mistyped(v, "an object")
		return nil
	}
	in := d.Object(v, &partShape)
	if d.Fault != nil {
		return nil
	}
	kind := in.Get("type")
	switch name := d.Required(kind); name {
	case "text", "refusal":
		return d.textPart(in.Get(name))
	case "image_url":
		image := d.Object(d.Present(in.Get("image_url")), &imageShape)
		return d.image(image.Get("url"))
	case "input_audio", "file", "video_url":
		d.Fail(kind, wirejson.CodeUnsupported, "%s is not supported: send text or pictures", name)
	default:
		d.Fail(kind, wirejson.CodeInvalidValue, "must be text, image_url or refusal")
	}
	return nil
}

func (d *decoder) textPart(v wirejson.Value) chat.Part {
	if s := d.Text(d.Present(v)); s != "" {
		return chat.Text{Text: s}
	}
	return nil
}

// image decodes a picture from its data: URL. Other URLs are refused: to fetch
// them would let any client make this machine call any address.
func (d *decoder) image(v wirejson.Value) chat.Part {
	url := d.Required(v)
	if d.Fault != nil {
		return nil
	}
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		d.Fail(v, wirejson.CodeInvalidValue, "must be a data: URL; pictures are not fetched from elsewhere")
		return nil
	}
	picture, problem := parseDataURL(url[5:])
	if problem != "" {
		d.Fail(v, wirejson.CodeInvalidValue, "%s", problem)
		return nil
	}
	return picture
}
