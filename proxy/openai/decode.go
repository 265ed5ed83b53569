package openai

import (
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// chatRequest is a decoded chat completions request.
type chatRequest struct {
	chat.Request
	stream       bool
	includeUsage bool // usage in a chunk of its own
}

// decoder reads the dialects' own kinds of members on top of the plain ones.
type decoder struct {
	wirejson.Decoder
	// part returns a chat.Text or chat.Image, nil for an empty text or a fault.
	part func(d *decoder, v wirejson.Value) chat.Part
}

// decodeChat reads the body of a chat completions request. unknown is told the
// names of members that are not known to any client of ours.
func decodeChat(body []byte, unknown func(field string)) (*chatRequest, *chat.Error) {
	d := &decoder{wirejson.Decoder{Unknown: unknown}, (*decoder).chatPart}
	in := d.Body(body, &chatShape)
	if d.Fault != nil {
		return nil, d.Fault
	}
	req := &chatRequest{}
	req.Model = d.Required(in.Get("model"))
	d.messages(in.Get("messages"), &req.Request)
	req.stream = d.Boolean(in.Get("stream"), false)
	options := d.Object(in.Get("stream_options"), &streamOptionsShape)
	req.includeUsage = d.Boolean(options.Get("include_usage"), false)
	req.Tools = d.tools(in.Get("tools"))
	req.Choice = d.choice(in.Get("tool_choice"), req.Tools, func(v wirejson.Value) chat.ToolChoice {
		return d.namedChoice(v, req.Tools)
	})
	req.SerialTools = !d.Boolean(in.Get("parallel_tool_calls"), true)
	req.Effort = d.Text(in.Get("reasoning_effort"))
	req.MaxTokens = d.limit(in)
	req.Stop = d.stop(in.Get("stop"))
	req.Format = d.format(in.Get("response_format"))
	d.unsupported(in)
	if d.Fault != nil {
		return nil, d.Fault
	}
	return req, nil
}

// limit returns the answer's token limit: of the two names the newer wins.
// Values below 1 mean "no limit" to several clients.
func (d *decoder) limit(in wirejson.Object) int {
	older, newer := d.Integer(in.Get("max_tokens")), in.Get("max_completion_tokens")
	if newer.Absent() {
		return max(older, 0)
	}
	return max(d.Integer(newer), 0)
}

// stop returns the stop texts: one string or an array.
func (d *decoder) stop(v wirejson.Value) []string {
	if v.Absent() {
		return nil
	}
	if v.Raw[0] == '"' {
		return []string{v.Text()}
	}
	if v.Raw[0] != '[' {
		d.Mistyped(v, "a string or an array of strings")
		return nil
	}
	var stops []string
	for element := range v.Elements() {
		if element.Raw[0] != '"' {
			d.Mistyped(element, "a string")
			return nil
		}
		stops = append(stops, element.Text())
	}
	return stops
}

func (d *decoder) format(v wirejson.Value) chat.Format {
	in := d.Object(v, &formatShape)
	if v.Absent() || d.Fault != nil {
		return chat.Format{}
	}
	return d.formatOf(in, func() wirejson.Value {
		return d.Object(in.Get("json_schema"), &jsonSchemaShape).Get("schema")
	})
}

// formatOf reads the type of a format, and its schema from where the dialect
// has it.
func (d *decoder) formatOf(in wirejson.Object, schema func() wirejson.Value) chat.Format {
	kind := in.Get("type")
	switch name := d.Required(kind); name {
	case "text", "":
		return chat.Format{}
	case "json_object":
		return chat.Format{JSON: true}
	case "json_schema":
		return chat.Format{JSON: true, Schema: d.Schema(schema())}
	default:
		d.Fail(kind, wirejson.CodeInvalidValue, "must be text, json_object or json_schema")
		return chat.Format{}
	}
}

// unsupported refuses what would change the answer's shape and cannot be had.
func (d *decoder) unsupported(in wirejson.Object) {
	if n := in.Get("n"); !n.Absent() && d.Integer(n) != 1 {
		d.Fail(n, wirejson.CodeUnsupported, "must be 1: one request gives one answer")
	}
	if v := in.Get("logprobs"); d.Boolean(v, false) {
		d.Fail(v, wirejson.CodeUnsupported, "is not supported: Cursor reports no log probabilities")
	}
	for v := range d.Array(in.Get("modalities")) {
		if d.Text(v) != "text" {
			d.Fail(v, wirejson.CodeUnsupported, "must be text: Cursor's models answer with nothing else")
		}
	}
	if v := in.Get("audio"); !v.Absent() {
		d.Fail(v, wirejson.CodeUnsupported, "is not supported: Cursor's models do not speak")
	}
	for _, name := range []string{"functions", "function_call"} {
		if v := in.Get(name); !v.Absent() && string(v.Raw) != "[]" {
			d.Fail(v, wirejson.CodeUnsupported, "is not supported: use tools and tool_choice")
		}
	}
}

// joinTexts joins texts that came in several places as paragraphs.
func joinTexts(texts []string) string { return strings.Join(texts, "\n\n") }
