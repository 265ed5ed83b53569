package openai

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// chunks turns the events of one turn into those of an event stream.
type chunks struct {
	eventBuffer
	head         []byte // each chunk up to the value of "choices"
	includeUsage bool
	begun        bool // the role was sent
	calls        int
}

func newChunks(a identity, includeUsage bool, write func([]byte) error) *chunks {
	head := a.appendHead([]byte("data: "), "chat.completion.chunk")
	return &chunks{eventBuffer: eventBuffer{write: write}, head: append(head, `,"choices":`...), includeUsage: includeUsage}
}

// Send writes the chunks for one event, the role before the first. Finish
// gives all that ends the stream.
func (c *chunks) Send(event chat.Event) error {
	if !c.begun {
		c.begun = true
		c.open(`"role":"assistant","content":""`)
		c.close("null")
	}
	switch e := event.(type) {
	case chat.TextDelta:
		c.text(`"content":"`, e.Text)
	case chat.ReasoningDelta:
		c.text(`"reasoning_content":"`, e.Text)
	case chat.ToolCall:
		c.call(e)
	case chat.Finish:
		c.finish(e)
	}
	return c.flush()
}

// open begins a chunk, up to and with the beginning of its delta.
func (c *chunks) open(delta string) {
	c.buf = append(c.buf, c.head...)
	c.buf = append(c.buf, `[{"index":0,"delta":{`...)
	c.buf = append(c.buf, delta...)
}

// close ends what open began. The reason is a JSON value.
func (c *chunks) close(reason string) {
	c.closeChoice(reason)
	c.buf = append(c.buf, '}')
	c.end()
}

func (c *chunks) closeChoice(reason string) {
	c.buf = append(c.buf, `},"finish_reason":`...)
	c.buf = append(c.buf, reason...)
	c.buf = append(c.buf, "}]"...)
}

func (c *chunks) text(field, text string) {
	for text != "" {
		n := wirejson.PieceLength(text)
		c.open(field)
		c.buf = wirejson.AppendEscaped(c.buf, text[:n])
		c.buf = append(c.buf, '"')
		c.close("null")
		text = text[n:]
	}
}

// call announces a call with its id and name, then sends its arguments.
func (c *chunks) call(call chat.ToolCall) {
	c.openCall()
	c.buf = append(c.buf, `"id":`...)
	c.buf = wirejson.AppendString(c.buf, call.ID)
	c.buf = append(c.buf, `,"type":"function","function":{"name":`...)
	c.buf = wirejson.AppendString(c.buf, call.Name)
	c.buf = append(c.buf, `,"arguments":""}}]`...)
	c.close("null")
	for text := arguments(call); text != ""; {
		n := wirejson.PieceLength(text)
		c.openCall()
		c.buf = append(c.buf, `"function":{"arguments":"`...)
		c.buf = wirejson.AppendEscaped(c.buf, text[:n])
		c.buf = append(c.buf, `"}}]`...)
		c.close("null")
		text = text[n:]
	}
	c.calls++
}

func (c *chunks) openCall() {
	c.open(`"tool_calls":[{"index":`)
	c.buf = strconv.AppendInt(c.buf, int64(c.calls), 10)
	c.buf = append(c.buf, ',')
}

// finish ends the stream. Usage has its own chunk for clients that asked for
// it, and rides on the last one for all others; unknown usage is left out.
func (c *chunks) finish(e chat.Finish) {
	c.open("")
	c.closeChoice(`"` + finishReason(e.Reason, c.calls) + `"`)
	c.buf = turn.AppendExtras(c.buf, &e)
	if e.Usage != nil {
		if c.includeUsage {
			c.buf = append(c.buf, "}\n\n"...)
			c.buf = append(c.buf, c.head...)
			c.buf = append(c.buf, "[]"...)
		}
		c.buf = append(c.buf, `,"usage":`...)
		c.buf = appendUsage(c.buf, e.Usage, e.Context)
	}
	c.buf = append(c.buf, "}\n\ndata: [DONE]\n\n"...)
}

// Fail writes the event that tells of an error in mid-stream. Nothing follows
// it: neither a finish reason nor the end marker, which would make a broken
// answer look whole.
func (c *chunks) Fail(err *chat.Error) {
	c.buf = append(c.buf[:0], "data: "...)
	c.buf = appendError(c.buf, answerTo(err), err.Message, err.Param)
	c.buf = append(c.buf, "\n\n"...)
	_ = c.flush() // the client may be gone
}
