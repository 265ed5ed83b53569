package openai

import (
	"strconv"
	"strings"

	"cursortray/proxy/chat"
)

// messages reads the history into req: system texts from any place into
// System, the rest into Messages. Entries without anything in them are left
// out.
func (d *decoder) messages(v value, req *chat.Request) {
	if v.raw == nil {
		d.fail(v, codeMissing, "is missing")
		return
	}
	if v.raw[0] != '[' {
		d.mistyped(v, "an array")
		return
	}
	h := history{decoder: d}
	for element := range v.elements() {
		h.add(element)
	}
	req.System = joinTexts(h.system)
	req.Messages = h.messages
	if len(req.Messages) > 0 || d.fault != nil {
		return
	}
	if req.System == "" {
		d.fail(v, codeInvalidValue, "must not be empty")
		return
	}
	// Some clients put a one-off question into a system message alone. A model
	// needs something to answer.
	req.Messages = []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: req.System}}}}
	req.System = ""
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

func (h *history) add(v value) {
	if v.absent() {
		h.mistyped(v, "an object")
		return
	}
	in := h.object(v, &messageShape)
	if h.fault != nil {
		return
	}
	role := in.get("role")
	switch h.required(role) {
	case "system", "developer":
		h.addSystem(in)
	case "user":
		h.append(chat.User, h.content(in.get("content")))
	case "assistant":
		h.append(chat.Assistant, h.assistant(in))
	case "tool":
		h.result(h.required(in.get("tool_call_id")), in)
	case "function":
		h.result(h.functionID(in), in)
	default:
		h.fail(role, codeInvalidValue, "must be system, developer, user, assistant, tool or function")
	}
}

func (h *history) append(role chat.Role, parts []chat.Part) {
	if len(parts) > 0 {
		h.messages = append(h.messages, chat.Message{Role: role, Parts: parts})
	}
}

func (h *history) addSystem(in object) {
	content := in.get("content")
	for _, part := range h.content(content) {
		if text, ok := part.(chat.Text); ok {
			h.system = append(h.system, text.Text)
		} else {
			h.fail(content, codeInvalidValue, "must be text in a message of this role")
		}
	}
}

// assistant returns the parts of an earlier answer in the order in which they
// came about: thinking, text, calls.
func (h *history) assistant(in object) []chat.Part {
	var parts []chat.Part
	// Clients that send both names send the same text in both.
	thinking, other := h.text(in.get("reasoning_content")), h.text(in.get("reasoning"))
	if thinking == "" {
		thinking = other
	}
	if thinking != "" {
		parts = append(parts, chat.Reasoning{Text: thinking})
	}
	parts = append(parts, h.content(in.get("content"))...)
	if refusal := h.text(in.get("refusal")); refusal != "" {
		parts = append(parts, chat.Text{Text: refusal})
	}
	if v := in.get("audio"); !v.absent() {
		h.fail(v, codeUnsupported, "is not supported: Cursor's models do not speak")
	}
	for element := range h.array(in.get("tool_calls")) {
		call := h.object(element, &callShape)
		h.functionType(call, "calls")
		parts = append(parts, h.call(h.required(call.get("id")), h.present(call.get("function"))))
	}
	if v := in.get("function_call"); !v.absent() {
		h.legacy++
		parts = append(parts, h.call("function_call_"+strconv.Itoa(h.legacy), v))
	}
	return parts
}

// call returns one call of an earlier answer. The arguments are passed on as
// the client echoes them, also when they are empty or broken.
func (h *history) call(id string, function value) chat.ToolUse {
	in := h.object(function, &calledFunctionShape)
	use := chat.ToolUse{ID: id, Name: h.required(in.get("name")), Arguments: h.text(in.get("arguments"))}
	if h.lastCall == nil {
		h.lastCall = map[string]string{}
	}
	h.lastCall[use.Name] = use.ID
	return use
}

// functionID returns the id of the call that a result of the old role
// "function" belongs to.
func (h *history) functionID(in object) string {
	if id := h.text(in.get("tool_call_id")); id != "" {
		return id
	}
	name := h.required(in.get("name"))
	if id, ok := h.lastCall[name]; ok {
		return id
	}
	return name
}

// result adds the result of a call. One without content says that the tool
// gave nothing, so it is kept.
func (h *history) result(id string, in object) {
	h.append(chat.User, []chat.Part{chat.ToolResult{CallID: id, Content: h.content(in.get("content"))}})
}

// content returns what a message of any role says: a string, null, nothing, or
// an array of parts. Empty texts are left out.
func (d *decoder) content(v value) []chat.Part {
	if v.absent() {
		return nil
	}
	var parts []chat.Part
	switch v.raw[0] {
	case '"':
		if s := text(v.raw); s != "" {
			parts = append(parts, chat.Text{Text: s})
		}
	case '[':
		for element := range v.elements() {
			if part := d.part(element); part != nil {
				parts = append(parts, part)
			}
		}
	default:
		d.mistyped(v, "a string or an array of parts")
	}
	return parts
}

// part returns a chat.Text or chat.Image, nil for an empty text or a fault.
func (d *decoder) part(v value) chat.Part {
	if v.absent() {
		d.mistyped(v, "an object")
		return nil
	}
	in := d.object(v, &partShape)
	if d.fault != nil {
		return nil
	}
	kind := in.get("type")
	switch name := d.required(kind); name {
	case "text", "refusal":
		said := d.present(in.get(name))
		if s := d.text(said); s != "" {
			return chat.Text{Text: s}
		}
	case "image_url":
		image := d.object(d.present(in.get("image_url")), &imageShape)
		return d.image(image.get("url"))
	case "input_audio", "file", "video_url":
		d.fail(kind, codeUnsupported, "%s is not supported: send text or pictures", name)
	default:
		d.fail(kind, codeInvalidValue, "must be text, image_url or refusal")
	}
	return nil
}

// image decodes a picture from its data: URL. Other URLs are refused: to fetch
// them would let any client make this machine call any address.
func (d *decoder) image(v value) chat.Part {
	url := d.required(v)
	if d.fault != nil {
		return nil
	}
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		d.fail(v, codeInvalidValue, "must be a data: URL; pictures are not fetched from elsewhere")
		return nil
	}
	picture, problem := parseDataURL(url[5:])
	if problem != "" {
		d.fail(v, codeInvalidValue, "%s", problem)
		return nil
	}
	return picture
}
