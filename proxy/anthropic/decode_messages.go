package anthropic

import (
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// messages reads the history into req: system texts from any place into
// System, the rest into Messages. Entries without anything in them are left
// out.
func (d *decoder) messages(in wirejson.Object, req *chat.Request) {
	v := in.Get("messages")
	if v.Raw == nil {
		d.Fail(v, wirejson.CodeMissing, "is missing")
		return
	}
	if v.Raw[0] != '[' {
		d.Mistyped(v, "an array")
		return
	}
	system := d.systemTexts(in.Get("system"))
	ahead := len(system)
	for element := range v.Elements() {
		system = append(system, d.message(element, req)...)
	}
	req.System = joinTexts(system)
	if len(req.Messages) > 0 || d.Fault != nil {
		return
	}
	if len(system) == ahead {
		d.Nothing(v)
		return
	}
	// All that is said stands in a system message. A model needs something to
	// answer.
	req.System = joinTexts(system[:ahead])
	req.Messages = []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: joinTexts(system[ahead:])}}}}
}

// message adds one entry to the history, or returns its texts if it speaks for
// the system: Claude Code puts such a message after the first one of the user.
func (d *decoder) message(v wirejson.Value, req *chat.Request) (system []string) {
	if v.Absent() {
		d.Mistyped(v, "an object")
		return nil
	}
	in := d.Object(v, &messageShape)
	if d.Fault != nil {
		return nil
	}
	role, content := in.Get("role"), in.Get("content")
	message := chat.Message{}
	switch d.Required(role) {
	case "user":
		message.Role = chat.User
	case "assistant":
		message.Role = chat.Assistant
	case "system":
		return d.systemTexts(content)
	default:
		d.Fail(role, wirejson.CodeInvalidValue, "must be user, assistant or system")
		return nil
	}
	if message.Parts = d.content(content); len(message.Parts) > 0 {
		req.Messages = append(req.Messages, message)
	}
	return nil
}

// billingNote begins the first system block of Claude Code (seen in 2.1). It is
// for Anthropic's servers: a version and sometimes a number of the request,
// which would make each request of a conversation look like another one.
const billingNote = "x-anthropic-billing-header:"

// systemTexts returns what is said for the system: a string or text blocks.
func (d *decoder) systemTexts(v wirejson.Value) []string {
	var texts []string
	for _, part := range d.content(v) {
		text, ok := part.(chat.Text)
		switch {
		case !ok:
			d.Fail(v, wirejson.CodeInvalidValue, "must be text")
		case !strings.HasPrefix(text.Text, billingNote):
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// joinTexts joins texts that came in several places as paragraphs.
func joinTexts(texts []string) string { return strings.Join(texts, "\n\n") }
