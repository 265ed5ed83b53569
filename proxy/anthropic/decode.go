package anthropic

import (
	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// messagesRequest is a decoded request.
type messagesRequest struct {
	chat.Request
	stream bool
}

// decoder reads the dialect's own kinds of members on top of the plain ones.
type decoder struct{ wirejson.Decoder }

// decodeMessages reads the body of a request for an answer or for the count of
// its tokens. unknown is told the names of members and kinds of blocks that are
// not known to any client of ours.
func decodeMessages(body []byte, unknown func(field string)) (*messagesRequest, *chat.Error) {
	d := &decoder{wirejson.Decoder{Unknown: unknown}}
	in := d.Body(body, &requestShape)
	if d.Fault != nil {
		return nil, d.Fault
	}
	req := &messagesRequest{}
	req.Model = d.Required(in.Get("model"))
	d.messages(in, &req.Request)
	req.stream = d.Boolean(in.Get("stream"), false)
	d.tools(in, &req.Request)
	req.MaxTokens = max(d.Integer(in.Get("max_tokens")), 0)
	for v := range d.Array(in.Get("stop_sequences")) {
		req.Stop = append(req.Stop, d.Text(v))
	}
	output := d.Object(in.Get("output_config"), &outputConfigShape)
	req.Effort = d.effort(in.Get("thinking"), output.Get("effort"))
	req.Format = d.format(output.Get("format"), in.Get("output_format"))
	if d.Fault != nil {
		return nil, d.Fault
	}
	return req, nil
}

// effort returns the level of reasoning that the client asks for, or just that
// the model is to think, or not to. A budget of tokens has no counterpart.
func (d *decoder) effort(thinking, effort wirejson.Value) string {
	kind := d.Text(d.Object(thinking, &thinkingShape).Get("type"))
	level := d.Text(effort)
	switch {
	case kind == "disabled":
		return "none"
	case level != "":
		return level
	case kind == "enabled":
		return "on"
	}
	return "" // adaptive: the model decides, as it does by default
}

// format returns the form of the answer; the second place is that of clients
// of 2025.
func (d *decoder) format(v, older wirejson.Value) chat.Format {
	if v.Absent() {
		v = older
	}
	in := d.Object(v, &formatShape)
	if v.Absent() || d.Fault != nil {
		return chat.Format{}
	}
	if kind := in.Get("type"); d.Required(kind) != "json_schema" {
		d.Fail(kind, wirejson.CodeInvalidValue, "must be json_schema")
		return chat.Format{}
	}
	return chat.Format{JSON: true, Schema: d.Schema(in.Get("schema"))}
}
