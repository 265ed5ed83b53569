package openai

import (
	"encoding/json"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

// itemKind says how one type of output item looks in the Responses dialect: as
// an item, and in the events that build it up.
type itemKind struct {
	typ      string // of the item
	idPrefix string
	delta    string // event with a piece of the content
	done     string // event with the whole content
	field    string // member that holds the content, in the item of a call and in the done event
	// Content of messages and reasoning lies in parts of the item. There is one
	// part, so its index is always 0.
	part      string // type of the part; "" for calls, which have none
	parts     string // member of the item that holds the parts
	partAdded string
	partDone  string
	partIndex string // member of events that tells which part they are about
	extra     string // further members of the part and of its text events
}

var (
	messageItem = &itemKind{
		typ: "message", idPrefix: "msg_",
		delta: "response.output_text.delta", done: "response.output_text.done", field: "text",
		part: "output_text", parts: "content",
		partAdded: "response.content_part.added", partDone: "response.content_part.done", partIndex: "content_index",
		extra: `,"logprobs":[]`,
	}
	reasoningItem = &itemKind{
		typ: "reasoning", idPrefix: reasoningPrefix,
		delta: "response.reasoning_summary_text.delta", done: "response.reasoning_summary_text.done", field: "text",
		part: "summary_text", parts: "summary",
		partAdded: "response.reasoning_summary_part.added", partDone: "response.reasoning_summary_part.done", partIndex: "summary_index",
	}
	functionItem = &itemKind{
		typ: "function_call", idPrefix: "fc_",
		delta: "response.function_call_arguments.delta", done: "response.function_call_arguments.done", field: "arguments",
	}
	customItem = &itemKind{
		typ: "custom_tool_call", idPrefix: "ctc_",
		delta: "response.custom_tool_call_input.delta", done: "response.custom_tool_call_input.done", field: "input",
	}
)

// reasoningPrefix begins the ids of reasoning items.
const reasoningPrefix = "rs_"

// sealedReasoning stands in for the encrypted reasoning that clients ask for.
// They send it back and look only at whether there is any: the AI SDK warns of
// reasoning without it, and drops that.
const sealedReasoning = "Y3Vyc29ydHJheQ=="

// States of an item or a response.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
)

// item is one output item.
type item struct {
	kind   *itemKind
	id     string
	callID string     // of a call
	origin toolOrigin // of a call
	sealed bool       // reasoning with sealedReasoning
}

// toolOrigin is a tool as the client declared it.
type toolOrigin struct {
	namespace string // "" for none
	name      string
	custom    bool // takes a text instead of arguments
}

// origins finds the declaration behind the name that the model knows a tool
// by. Tools without an entry are plain functions of that name.
type origins map[string]toolOrigin

func (o origins) of(name string) toolOrigin {
	if origin, found := o[name]; found {
		return origin
	}
	return toolOrigin{name: name}
}

// called returns the item for a call and its content.
func (o origins) called(call chat.ToolCall) (it item, content string) {
	origin := o.of(call.Name)
	it = item{kind: functionItem, callID: call.ID, origin: origin}
	if !origin.custom {
		return it, arguments(call)
	}
	it.kind = customItem
	return it, customInput(call)
}

// customInput returns the text that a call of a custom tool carries. The model
// was offered a function with one argument; what does not look like that is
// handed on as it is.
func customInput(call chat.ToolCall) string {
	var in struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal(call.Arguments, &in) != nil || in.Input == nil {
		return string(call.Arguments)
	}
	return *in.Input
}

// append appends the item in the given state. The content is escaped; there is
// none while it is in progress.
func (it *item) append(dst []byte, status string, content []byte) []byte {
	dst = append(dst, `{"id":"`...)
	dst = append(dst, it.id...)
	dst = append(dst, `","type":"`...)
	dst = append(dst, it.kind.typ...)
	dst = append(dst, `","status":"`...)
	dst = append(dst, status...)
	dst = append(dst, '"')
	if it.kind.part == "" {
		return it.appendCall(dst, content)
	}
	if it.kind == messageItem {
		dst = append(dst, `,"role":"assistant"`...)
	}
	if it.sealed {
		dst = append(dst, `,"encrypted_content":"`+sealedReasoning+`"`...)
	}
	dst = append(dst, `,"`...)
	dst = append(dst, it.kind.parts...)
	dst = append(dst, `":[`...)
	if status != statusInProgress {
		dst = it.appendPart(dst, content)
	}
	return append(dst, "]}"...)
}

func (it *item) appendCall(dst, content []byte) []byte {
	dst = append(dst, `,"call_id":`...)
	dst = wirejson.AppendString(dst, it.callID)
	dst = append(dst, `,"name":`...)
	dst = wirejson.AppendString(dst, it.origin.name)
	if it.origin.namespace != "" {
		dst = append(dst, `,"namespace":`...)
		dst = wirejson.AppendString(dst, it.origin.namespace)
	}
	dst = it.appendField(dst, content)
	return append(dst, '}')
}

// appendField appends the member that holds the content.
func (it *item) appendField(dst, content []byte) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, it.kind.field...)
	dst = append(dst, `":"`...)
	dst = append(dst, content...)
	return append(dst, '"')
}

func (it *item) appendPart(dst, content []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, it.kind.part...)
	dst = append(dst, '"')
	if it.kind == messageItem {
		dst = append(dst, `,"annotations":[]`...)
	}
	dst = append(dst, it.kind.extra...)
	dst = it.appendField(dst, content)
	return append(dst, '}')
}
