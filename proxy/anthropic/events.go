package anthropic

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// events turns the events of one turn into those of an event stream. At most
// one block is open at any time; their indexes rise by one.
type events struct {
	write  func(events []byte) error // must copy what it keeps
	answer identity

	buf   []byte // complete events, not yet written
	err   error  // first failed write
	begun bool   // the message was announced
	open  block  // kind of the open block
	index int    // of the open block, or of the next one
	delta []byte // a delta of the open block, up to its text
	calls int
	said  tokencount.Estimator
}

type block int

const (
	noBlock block = iota
	textBlock
	thinkingBlock
	callBlock
)

func newEvents(a identity, write func([]byte) error) *events {
	return &events{write: write, answer: a}
}

// Send writes the events for one event, the beginning of the message before
// the first. Finish gives all that ends the stream.
func (s *events) Send(event chat.Event) error {
	if !s.begun {
		s.begun = true
		s.begin()
	}
	switch e := event.(type) {
	case chat.TextDelta:
		s.enter(textBlock, `{"type":"text","text":""}`, `{"type":"text_delta","text":"`)
		s.text(e.Text)
	case chat.ReasoningDelta:
		s.enter(thinkingBlock, `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"`)
		s.text(e.Text)
	case chat.ToolCall:
		s.call(e)
	case chat.Finish:
		s.finish(e)
	}
	return s.flush()
}

func (s *events) flush() error {
	if s.err == nil && len(s.buf) > 0 {
		s.err = s.write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err
}

// begin announces the message. What its request costs is known at its end
// only, and clients want a number here.
func (s *events) begin() {
	s.buf = append(s.buf, "event: message_start\ndata: "+`{"type":"message_start","message":`...)
	s.buf = s.answer.appendHead(s.buf)
	s.buf = append(s.buf, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	s.buf = figures{input: max(s.answer.input, 1)}.append(s.buf)
	s.buf = append(s.buf, "}}\n\n"...)
}

// enter makes a block of this kind the open one.
func (s *events) enter(kind block, start, delta string) {
	if s.open == kind {
		return
	}
	s.leave()
	s.start(kind, delta)
	s.buf = append(s.buf, start...)
	s.buf = append(s.buf, "}\n\n"...)
}

// start opens a block, up to what it consists of.
func (s *events) start(kind block, delta string) {
	s.open = kind
	s.buf = append(s.buf, "event: content_block_start\ndata: "+`{"type":"content_block_start","index":`...)
	s.buf = strconv.AppendInt(s.buf, int64(s.index), 10)
	s.buf = append(s.buf, `,"content_block":`...)
	s.delta = append(s.delta[:0], "event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":`...)
	s.delta = strconv.AppendInt(s.delta, int64(s.index), 10)
	s.delta = append(s.delta, `,"delta":`...)
	s.delta = append(s.delta, delta...)
}

// leave ends the open block, if there is one. Thinking gets its signature
// before.
func (s *events) leave() {
	if s.open == noBlock {
		return
	}
	if s.open == thinkingBlock {
		s.buf = append(s.buf, "event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":`...)
		s.buf = strconv.AppendInt(s.buf, int64(s.index), 10)
		s.buf = append(s.buf, `,"delta":{"type":"signature_delta","signature":"`+signature+`"}}`+"\n\n"...)
	}
	s.buf = append(s.buf, "event: content_block_stop\ndata: "+`{"type":"content_block_stop","index":`...)
	s.buf = strconv.AppendInt(s.buf, int64(s.index), 10)
	s.buf = append(s.buf, "}\n\n"...)
	s.open = noBlock
	s.index++
	s.said.Break()
}

// text writes deltas of the open block.
func (s *events) text(text string) {
	s.said.Add(text)
	for text != "" {
		n := wirejson.PieceLength(text)
		s.buf = append(s.buf, s.delta...)
		s.buf = wirejson.AppendEscaped(s.buf, text[:n])
		s.buf = append(s.buf, "\"}}\n\n"...)
		if len(s.buf) >= wirejson.MaxPiece { // one huge event need not be whole in memory twice
			_ = s.flush() // Send reports the error
		}
		text = text[n:]
	}
}

// call writes a whole block for a call.
func (s *events) call(call chat.ToolCall) {
	s.leave()
	s.start(callBlock, `{"type":"input_json_delta","partial_json":"`)
	s.buf = append(s.buf, `{"type":"tool_use","id":`...)
	s.buf = wirejson.AppendString(s.buf, call.ID)
	s.buf = append(s.buf, `,"name":`...)
	s.buf = wirejson.AppendString(s.buf, call.Name)
	s.buf = append(s.buf, `,"input":{}}}`+"\n\n"...)
	s.said.Add(call.Name)
	s.text(arguments(call))
	s.leave()
	s.calls++
}

// finish ends the stream.
func (s *events) finish(f chat.Finish) {
	s.leave()
	s.buf = append(s.buf, "event: message_delta\ndata: "+`{"type":"message_delta","delta":{`...)
	s.buf = appendStop(s.buf, f, s.calls)
	s.buf = append(s.buf, `},"usage":`...)
	s.buf = figuresOf(f, s.answer.input, s.said.Tokens()).append(s.buf)
	s.buf = turn.AppendExtras(s.buf, &f)
	s.buf = append(s.buf, "}\n\nevent: message_stop\ndata: "+`{"type":"message_stop"}`+"\n\n"...)
}

// Fail writes the event that tells of an error in mid-stream. Nothing follows
// it: neither the end of a block nor that of the message, which would make a
// broken answer look whole.
func (s *events) Fail(err *chat.Error) {
	s.buf = append(s.buf[:0], "event: error\ndata: "...)
	s.buf = appendError(s.buf, answerTo(err), messageOf(err), s.answer.request)
	s.buf = append(s.buf, "\n\n"...)
	_ = s.flush() // the client may be gone
}
