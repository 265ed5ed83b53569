package openai

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// The JSON of answers is appended, not marshaled: a stream makes one object per
// token, and reflection would cost more than all the rest.

// identity is what all chunks of one answer share.
type identity struct {
	id      string
	created int64
	model   string // as the client asked for it
}

// appendHead appends the members that an answer or chunk begins with.
func (a identity) appendHead(dst []byte, object string) []byte {
	dst = append(dst, `{"id":`...)
	dst = wirejson.AppendString(dst, a.id)
	dst = append(dst, `,"object":"`...)
	dst = append(dst, object...)
	dst = append(dst, `","created":`...)
	dst = strconv.AppendInt(dst, a.created, 10)
	dst = append(dst, `,"model":`...)
	return wirejson.AppendString(dst, a.model)
}

// finishReason says why the answer ended. Whatever the upstream says, an
// answer with calls ends in tool_calls, unless it was cut short.
func finishReason(reason chat.Reason, calls int) string {
	switch {
	case reason == chat.Length:
		return "length"
	case reason == chat.ContentFilter:
		return "content_filter"
	case calls > 0:
		return "tool_calls"
	}
	return "stop"
}

// promptTokens returns the tokens of the prompt, which include cached ones in
// this dialect. Clients take prompt plus completion as what the window holds,
// so where that is known it is what they add up to: the upstream's own counts
// may sum over several calls of the model.
func promptTokens(u *chat.Usage, window *chat.Context) int {
	if window != nil && window.Used > u.Output {
		return window.Used - u.Output
	}
	return u.Input + u.CacheRead + u.CacheWrite
}

// appendUsage appends the usage object.
func appendUsage(dst []byte, u *chat.Usage, window *chat.Context) []byte {
	prompt := promptTokens(u, window)
	dst = append(dst, `{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Output), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt+u.Output), 10)
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(min(u.CacheRead, prompt)), 10)
	dst = append(dst, '}')
	if u.Reasoning > 0 {
		dst = append(dst, `,"completion_tokens_details":{"reasoning_tokens":`...)
		dst = strconv.AppendInt(dst, int64(u.Reasoning), 10)
		dst = append(dst, '}')
	}
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

// appendCompletion appends the body of an answer that is not streamed.
func appendCompletion(dst []byte, a identity, r *chat.Response) []byte {
	dst = a.appendHead(dst, "chat.completion")
	dst = append(dst, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if r.Text == "" && len(r.Calls) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = wirejson.AppendString(dst, r.Text)
	}
	if r.Reasoning != "" {
		dst = append(dst, `,"reasoning_content":`...)
		dst = wirejson.AppendString(dst, r.Reasoning)
	}
	for i, call := range r.Calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"id":`...)
		dst = wirejson.AppendString(dst, call.ID)
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = wirejson.AppendString(dst, call.Name)
		dst = append(dst, `,"arguments":`...)
		dst = wirejson.AppendString(dst, arguments(call))
		dst = append(dst, "}}"...)
	}
	if len(r.Calls) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, `},"logprobs":null,"finish_reason":"`...)
	dst = append(dst, finishReason(r.Finish.Reason, len(r.Calls))...)
	dst = append(dst, `"}]`...)
	if u := r.Finish.Usage; u != nil {
		dst = append(dst, `,"usage":`...)
		dst = appendUsage(dst, u, r.Finish.Context)
	}
	return append(turn.AppendExtras(dst, &r.Finish), '}')
}
