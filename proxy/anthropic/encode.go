package anthropic

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// The JSON of answers is appended, not marshaled: a stream makes one object per
// token, and reflection would cost more than all the rest.

// identity is what all events of one answer share.
type identity struct {
	id      string
	model   string // as the client asked for it
	request string // id of the request, for an error in mid-stream
	input   int    // estimated tokens of the request
}

// appendHead appends the members that a message begins with.
func (a identity) appendHead(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = wirejson.AppendString(dst, a.id)
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	return wirejson.AppendString(dst, a.model)
}

// appendStop appends why the answer ended, as two members. Whatever the
// upstream says, an answer with calls ends for them, unless it was cut short.
func appendStop(dst []byte, f chat.Finish, calls int) []byte {
	reason, text := "end_turn", ""
	switch {
	case f.Reason == chat.Length:
		reason = "max_tokens"
	case f.Reason == chat.ContentFilter:
		reason = "refusal"
	case calls > 0:
		reason = "tool_use"
	case f.StopText != "":
		reason, text = "stop_sequence", f.StopText
	}
	dst = append(dst, `"stop_reason":"`...)
	dst = append(dst, reason...)
	dst = append(dst, `","stop_sequence":`...)
	if text == "" {
		return append(dst, "null"...)
	}
	return wirejson.AppendString(dst, text)
}

// figures are the counters of the usage object.
type figures struct{ input, cacheWrite, cacheRead, output int }

// figuresOf returns the counters of a finished turn. Clients cannot do without
// them, so what is not known is estimated. Input tokens do not include cached
// ones in this dialect. Clients take all four together as what the window
// holds, so where that is known it is what they add up to: the upstream's own
// counts may sum over several calls of the model.
func figuresOf(f chat.Finish, estimatedInput, estimatedOutput int) figures {
	u := f.Usage
	if u == nil {
		u = &chat.Usage{Input: estimatedInput, Output: estimatedOutput}
	}
	prompt := u.Input + u.CacheRead + u.CacheWrite
	if f.Context != nil && f.Context.Used > u.Output {
		prompt = f.Context.Used - u.Output
	}
	read := min(u.CacheRead, prompt)
	written := min(u.CacheWrite, prompt-read)
	return figures{input: prompt - read - written, cacheWrite: written, cacheRead: read, output: u.Output}
}

// append appends the usage object.
func (f figures) append(dst []byte) []byte {
	dst = append(dst, `{"input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(f.input), 10)
	dst = append(dst, `,"cache_creation_input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(f.cacheWrite), 10)
	dst = append(dst, `,"cache_read_input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(f.cacheRead), 10)
	dst = append(dst, `,"output_tokens":`...)
	dst = strconv.AppendInt(dst, int64(f.output), 10)
	return append(dst, '}')
}

// arguments returns the arguments of a call as the text that clients parse: a
// JSON object, also when there are none.
func arguments(call chat.ToolCall) string {
	if len(call.Arguments) == 0 {
		return "{}"
	}
	return string(call.Arguments)
}

// signature goes with every block of thinking. Clients send it back with the
// next request and demand that it is not empty; here it means nothing.
const signature = "Y3Vyc29ydHJheQ=="

// appendMessage appends the body of an answer that is not streamed.
func appendMessage(dst []byte, a identity, r *chat.Response) []byte {
	var said tokencount.Estimator
	dst = a.appendHead(dst)
	dst = append(dst, `,"content":[`...)
	first := len(dst)
	block := func(head, text string) {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(dst, head...)
		dst = wirejson.AppendString(dst, text)
	}
	say := func(texts ...string) {
		for _, text := range texts {
			said.Add(text)
		}
		said.Break()
	}
	if r.Reasoning != "" {
		block(`{"type":"thinking","thinking":`, r.Reasoning)
		dst = append(dst, `,"signature":"`+signature+`"}`...)
		say(r.Reasoning)
	}
	if r.Text != "" {
		block(`{"type":"text","text":`, r.Text)
		dst = append(dst, '}')
		say(r.Text)
	}
	for _, call := range r.Calls {
		block(`{"type":"tool_use","id":`, call.ID)
		dst = append(dst, `,"name":`...)
		dst = wirejson.AppendString(dst, call.Name)
		dst = append(dst, `,"input":`...)
		dst = append(dst, arguments(call)...)
		dst = append(dst, '}')
		say(call.Name, arguments(call))
	}
	dst = append(dst, `],`...)
	dst = appendStop(dst, r.Finish, len(r.Calls))
	dst = append(dst, `,"usage":`...)
	dst = figuresOf(r.Finish, a.input, said.Tokens()).append(dst)
	return append(turn.AppendExtras(dst, &r.Finish), '}')
}
