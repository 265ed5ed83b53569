package openai

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// responseObject is what all states of one response share.
type responseObject struct {
	identity
	origins origins
	sealed  bool       // the client asked for encrypted reasoning
	serial  bool       // at most one call
	choice  []byte     // the tool choice, as JSON
	input   int        // estimated tokens of the request, where usage must not lack; else 0
	kept    *keptItems // gets the finished items; nil where the client keeps them
}

// output gathers the finished items of a response.
type output struct {
	response *responseObject
	json     []byte // the items, with commas between them
	count    int
}

// next gives an item its id. Ids of one response differ in their number.
func (o *output) next(it item) item {
	it.id = it.kind.idPrefix + o.response.suffix() + "_" + strconv.Itoa(o.count)
	it.sealed = o.response.sealed && it.kind == reasoningItem
	return it
}

// add appends a finished item and returns its JSON.
func (o *output) add(it *item, status string, content []byte) []byte {
	if o.count > 0 {
		o.json = append(o.json, ',')
	}
	start := len(o.json)
	o.json = it.append(o.json, status, content)
	o.count++
	o.response.kept.add(it.id, o.json[start:])
	return o.json[start:]
}

const responsePrefix = "resp_"

// suffix is the part of the response's id that the ids of its items repeat.
func (r *responseObject) suffix() string { return r.id[len(responsePrefix):] }

// figured puts estimates in the place of usage that nobody knows, where it must
// not lack.
func (r *responseObject) figured(finish chat.Finish, said *tokencount.Estimator) chat.Finish {
	if finish.Usage == nil && r.input > 0 {
		finish.Usage = &chat.Usage{Input: r.input, Output: said.Tokens()}
	}
	return finish
}

// ending is how a response ended; the zero value is that it has not.
type ending struct {
	incomplete string // why it was cut short, "" if it was not
	finish     *chat.Finish
	failure    *chat.Error
}

// endingOf tells what the end of a turn means for the response, and for an item
// that ends with it.
func endingOf(finish chat.Finish) ending {
	e := ending{finish: &finish}
	switch finish.Reason {
	case chat.Length:
		e.incomplete = "max_output_tokens"
	case chat.ContentFilter:
		e.incomplete = "content_filter"
	}
	return e
}

func (e ending) status() string {
	switch {
	case e.failure != nil:
		return statusFailed
	case e.finish == nil:
		return statusInProgress
	case e.incomplete != "":
		return statusIncomplete
	}
	return statusCompleted
}

// append appends the response object. Usage that is not known is left out.
func (r *responseObject) append(dst []byte, e ending, items []byte) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, r.id...)
	dst = append(dst, `","object":"response","created_at":`...)
	dst = strconv.AppendInt(dst, r.created, 10)
	dst = append(dst, `,"status":"`...)
	dst = append(dst, e.status()...)
	dst = append(dst, `","error":`...)
	dst = appendFailure(dst, e.failure)
	dst = append(dst, `,"incomplete_details":`...)
	if e.incomplete == "" {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, `{"reason":"`...)
		dst = append(dst, e.incomplete...)
		dst = append(dst, `"}`...)
	}
	dst = append(dst, `,"instructions":null,"metadata":{},"model":`...)
	dst = wirejson.AppendString(dst, r.model)
	dst = append(dst, `,"output":[`...)
	dst = append(dst, items...)
	dst = append(dst, `],"parallel_tool_calls":`...)
	dst = strconv.AppendBool(dst, !r.serial)
	dst = append(dst, `,"previous_response_id":null,"store":false,"temperature":null,"tool_choice":`...)
	dst = append(dst, r.choice...)
	dst = append(dst, `,"tools":[],"top_p":null`...)
	if e.finish != nil && e.finish.Usage != nil {
		dst = append(dst, `,"usage":`...)
		dst = appendResponseUsage(dst, e.finish.Usage, e.finish.Context)
	}
	if e.finish != nil {
		dst = turn.AppendExtras(dst, e.finish)
	}
	return append(dst, '}')
}

// appendFailure appends the error member of a response.
func appendFailure(dst []byte, err *chat.Error) []byte {
	if err == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"code":"`...)
	dst = append(dst, failureCode(err.Kind)...)
	dst = append(dst, `","message":`...)
	dst = wirejson.AppendString(dst, answerTo(err).messageOr(err.Message))
	return append(dst, '}')
}

// appendResponseUsage appends the usage object of this dialect, with the same
// figures as in the other.
func appendResponseUsage(dst []byte, u *chat.Usage, window *chat.Context) []byte {
	prompt := promptTokens(u, window)
	dst = append(dst, `{"input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	dst = append(dst, `,"input_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(min(u.CacheRead, prompt)), 10)
	dst = append(dst, `},"output_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Output), 10)
	dst = append(dst, `,"output_tokens_details":{"reasoning_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Reasoning), 10)
	dst = append(dst, `},"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt+u.Output), 10)
	return append(dst, '}')
}

// appendResponse appends the body of an answer that is not streamed.
func appendResponse(dst []byte, r *responseObject, answer *chat.Response) []byte {
	out := output{response: r}
	var said tokencount.Estimator
	end := endingOf(answer.Finish)
	add := func(it item, status, content string) {
		said.Add(content)
		it = out.next(it)
		out.add(&it, status, wirejson.AppendEscaped(nil, content))
	}
	if answer.Reasoning != "" {
		add(item{kind: reasoningItem}, statusCompleted, answer.Reasoning)
	}
	if answer.Text != "" {
		status := statusCompleted
		if len(answer.Calls) == 0 { // what was cut short is the text
			status = end.status()
		}
		add(item{kind: messageItem}, status, answer.Text)
	}
	for _, call := range answer.Calls {
		it, content := r.origins.called(call)
		add(it, statusCompleted, content)
	}
	return r.append(dst, endingOf(r.figured(answer.Finish, &said)), out.json)
}
