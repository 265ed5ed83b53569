package openai

import (
	"strings"

	"cursortray/proxy/chat"
)

// chatRequest is a decoded chat completions request.
type chatRequest struct {
	chat.Request
	stream       bool
	includeUsage bool // usage in a chunk of its own
}

// decodeChat reads the body of a chat completions request. unknown is told the
// names of members that are not known to any client of ours.
func decodeChat(body []byte, unknown func(field string)) (*chatRequest, *chat.Error) {
	d := &decoder{unknown: unknown}
	in := d.body(body, &chatShape)
	if d.fault != nil {
		return nil, d.fault
	}
	req := &chatRequest{}
	req.Model = d.required(in.get("model"))
	d.messages(in.get("messages"), &req.Request)
	req.stream = d.boolean(in.get("stream"), false)
	options := d.object(in.get("stream_options"), &streamOptionsShape)
	req.includeUsage = d.boolean(options.get("include_usage"), false)
	req.Tools = d.tools(in.get("tools"))
	req.Choice = d.choice(in.get("tool_choice"), req.Tools)
	req.SerialTools = !d.boolean(in.get("parallel_tool_calls"), true)
	req.Effort = d.text(in.get("reasoning_effort"))
	req.MaxTokens = d.limit(in)
	req.Stop = d.stop(in.get("stop"))
	req.Format = d.format(in.get("response_format"))
	d.unsupported(in)
	if d.fault != nil {
		return nil, d.fault
	}
	return req, nil
}

// limit returns the answer's token limit: of the two names the newer wins.
// Values below 1 mean "no limit" to several clients.
func (d *decoder) limit(in object) int {
	older, newer := d.integer(in.get("max_tokens")), in.get("max_completion_tokens")
	if newer.absent() {
		return max(older, 0)
	}
	return max(d.integer(newer), 0)
}

// stop returns the stop texts: one string or an array.
func (d *decoder) stop(v value) []string {
	if v.absent() {
		return nil
	}
	if v.raw[0] == '"' {
		return []string{text(v.raw)}
	}
	if v.raw[0] != '[' {
		d.mistyped(v, "a string or an array of strings")
		return nil
	}
	var stops []string
	for element := range v.elements() {
		if element.raw[0] != '"' {
			d.mistyped(element, "a string")
			return nil
		}
		stops = append(stops, text(element.raw))
	}
	return stops
}

func (d *decoder) format(v value) chat.Format {
	in := d.object(v, &formatShape)
	if v.absent() || d.fault != nil {
		return chat.Format{}
	}
	kind := in.get("type")
	switch name := d.required(kind); name {
	case "text", "":
		return chat.Format{}
	case "json_object":
		return chat.Format{JSON: true}
	case "json_schema":
		schema := d.object(in.get("json_schema"), &jsonSchemaShape)
		return chat.Format{JSON: true, Schema: d.schema(schema.get("schema"))}
	default:
		d.fail(kind, codeInvalidValue, "must be text, json_object or json_schema")
		return chat.Format{}
	}
}

// unsupported refuses what would change the answer's shape and cannot be had.
func (d *decoder) unsupported(in object) {
	if n := in.get("n"); !n.absent() && d.integer(n) != 1 {
		d.fail(n, codeUnsupported, "must be 1: one request gives one answer")
	}
	if v := in.get("logprobs"); d.boolean(v, false) {
		d.fail(v, codeUnsupported, "is not supported: Cursor reports no log probabilities")
	}
	for v := range d.array(in.get("modalities")) {
		if d.text(v) != "text" {
			d.fail(v, codeUnsupported, "must be text: Cursor's models answer with nothing else")
		}
	}
	if v := in.get("audio"); !v.absent() {
		d.fail(v, codeUnsupported, "is not supported: Cursor's models do not speak")
	}
	for _, name := range []string{"functions", "function_call"} {
		if v := in.get(name); !v.absent() && string(v.raw) != "[]" {
			d.fail(v, codeUnsupported, "is not supported: use tools and tool_choice")
		}
	}
}

// joinTexts joins texts that came in several places as paragraphs.
func joinTexts(texts []string) string { return strings.Join(texts, "\n\n") }
