package openai

import (
	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// responsesRequest is a decoded Responses request.
type responsesRequest struct {
	chat.Request
	stream  bool
	origins origins
	sealed  bool // the client wants encrypted reasoning to send back
	stored  bool // the client may refer to the items of the answer by their ids
}

// decodeResponses reads the body of a Responses request. unknown is told the
// names of members that are not known to any client of ours. kept are items of
// earlier answers; nil for none.
func decodeResponses(body []byte, unknown func(field string), kept *keptItems) (*responsesRequest, *chat.Error) {
	d := &decoder{wirejson.Decoder{Unknown: unknown}, (*decoder).inputPart}
	in := d.Body(body, &responsesShape)
	if d.Fault != nil {
		return nil, d.Fault
	}
	req := &responsesRequest{}
	req.Model = d.Required(in.Get("model"))
	d.stateless(in)
	d.input(in, &req.Request, kept)
	req.stored = d.Boolean(in.Get("store"), true)
	req.stream = d.Boolean(in.Get("stream"), false)
	req.Tools, req.origins = d.declaredTools(in.Get("tools"))
	d.toolChoice(in.Get("tool_choice"), &req.Request)
	req.SerialTools = !d.Boolean(in.Get("parallel_tool_calls"), true)
	req.Effort = d.Text(d.Object(in.Get("reasoning"), &reasoningShape).Get("effort"))
	req.MaxTokens = max(d.Integer(in.Get("max_output_tokens")), 0)
	req.Format = d.textFormat(d.Object(in.Get("text"), &textShape).Get("format"))
	for v := range d.Array(in.Get("include")) {
		req.sealed = req.sealed || d.Text(v) == "reasoning.encrypted_content"
	}
	req.Session = d.Text(in.Get("prompt_cache_key"))
	if d.Fault != nil {
		return nil, d.Fault
	}
	return req, nil
}

// stateless refuses what refers to something that a server would have kept.
func (d *decoder) stateless(in wirejson.Object) {
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if v := in.Get(name); !v.Absent() {
			d.Fail(v, wirejson.CodeUnsupported, "is not supported: this proxy keeps no responses; send the whole history in input")
		}
	}
	if v := in.Get("background"); d.Boolean(v, false) {
		d.Fail(v, wirejson.CodeUnsupported, "is not supported: this proxy keeps no responses that could be asked for later")
	}
}

func (d *decoder) textFormat(v wirejson.Value) chat.Format {
	in := d.Object(v, &responseFormatShape)
	if v.Absent() || d.Fault != nil {
		return chat.Format{}
	}
	return d.formatOf(in, func() wirejson.Value { return in.Get("schema") })
}
