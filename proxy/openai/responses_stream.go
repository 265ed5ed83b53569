package openai

import (
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/tokencount"
	"cursortray/proxy/wirejson"
)

// responseStream turns the events of one turn into those of a Responses stream:
// created, in progress, the items one after the other, and one end.
type responseStream struct {
	eventBuffer
	response *responseObject
	output   output
	sequence int
	begun    bool
	said     tokencount.Estimator

	open    *item  // the item that grows, nil for none
	place   []byte // where the open item's content stands, as members of its events
	content []byte // its content so far, escaped
}

func newResponseStream(r *responseObject, write func([]byte) error) *responseStream {
	return &responseStream{eventBuffer: eventBuffer{write: write}, response: r, output: output{response: r}}
}

// Send writes the events for one event of the turn. Finish gives all that ends
// the stream.
func (s *responseStream) Send(event chat.Event) error {
	s.begin()
	switch e := event.(type) {
	case chat.TextDelta:
		s.grow(messageItem, e.Text)
	case chat.ReasoningDelta:
		s.grow(reasoningItem, e.Text)
	case chat.ToolCall:
		s.call(e)
	case chat.Finish:
		s.finish(e)
	}
	return s.flush()
}

// Fail ends the stream with an error. An item that is not whole gets no end,
// or clients would keep it as if it were.
func (s *responseStream) Fail(err *chat.Error) {
	s.begin()
	s.state("response.failed", ending{failure: err})
	_ = s.flush() // the client may be gone
}

// begin announces the response, before anything else is sent.
func (s *responseStream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	s.state("response.created", ending{})
	s.state("response.in_progress", ending{})
}

// state writes an event that carries the whole response.
func (s *responseStream) state(typ string, e ending) {
	s.event(typ)
	s.buf = append(s.buf, `,"response":`...)
	s.buf = s.response.append(s.buf, e, s.output.json)
	s.endEvent()
}

// event begins an event of the given type.
func (s *responseStream) event(typ string) {
	s.buf = append(s.buf, "event: "...)
	s.buf = append(s.buf, typ...)
	s.buf = append(s.buf, "\ndata: {\"type\":\""...)
	s.buf = append(s.buf, typ...)
	s.buf = append(s.buf, `","sequence_number":`...)
	s.buf = strconv.AppendInt(s.buf, int64(s.sequence), 10)
	s.sequence++
}

func (s *responseStream) endEvent() {
	s.buf = append(s.buf, '}')
	s.end()
}

// grow adds text to the open item if it is of that kind, else to a new one.
func (s *responseStream) grow(kind *itemKind, text string) {
	if s.open == nil || s.open.kind != kind {
		s.start(item{kind: kind})
	}
	s.pieces(text)
}

// call writes a whole call.
func (s *responseStream) call(call chat.ToolCall) {
	it, content := s.response.origins.called(call)
	s.start(it)
	s.pieces(content)
	s.close(statusCompleted)
}

func (s *responseStream) finish(finish chat.Finish) {
	e := endingOf(finish)
	s.close(e.status())
	s.state("response."+e.status(), endingOf(s.response.figured(finish, &s.said)))
}

// start opens an item; the one before is whole.
func (s *responseStream) start(it item) {
	s.close(statusCompleted)
	it = s.output.next(it)
	s.open, s.content = &it, s.content[:0]
	s.item("response.output_item.added", s.output.count, it.append(nil, statusInProgress, nil))

	s.place = append(s.place[:0], `,"item_id":"`...)
	s.place = append(s.place, it.id...)
	s.place = append(s.place, `","output_index":`...)
	s.place = strconv.AppendInt(s.place, int64(s.output.count), 10)
	if it.kind.part != "" {
		s.place = append(s.place, `,"`...)
		s.place = append(s.place, it.kind.partIndex...)
		s.place = append(s.place, `":0`...)
		s.part(it.kind.partAdded)
	}
}

// pieces adds text to the open item.
func (s *responseStream) pieces(text string) {
	if s.response.input > 0 {
		s.said.Add(text)
	}
	for text != "" {
		n := wirejson.PieceLength(text)
		s.event(s.open.kind.delta)
		s.buf = append(s.buf, s.place...)
		s.buf = append(s.buf, `,"delta":"`...)
		start := len(s.buf)
		s.buf = wirejson.AppendEscaped(s.buf, text[:n])
		s.content = append(s.content, s.buf[start:]...)
		s.buf = append(s.buf, '"')
		s.buf = append(s.buf, s.open.kind.extra...)
		s.endEvent()
		text = text[n:]
	}
}

// close ends the open item, if there is one.
func (s *responseStream) close(status string) {
	it := s.open
	if it == nil {
		return
	}
	s.event(it.kind.done)
	s.buf = append(s.buf, s.place...)
	s.buf = it.appendField(s.buf, s.content)
	s.buf = append(s.buf, it.kind.extra...)
	if it.kind == functionItem {
		s.buf = append(s.buf, `,"name":`...)
		s.buf = wirejson.AppendString(s.buf, it.origin.name)
	}
	s.endEvent()
	if it.kind.part != "" {
		s.part(it.kind.partDone)
	}
	index := s.output.count
	s.item("response.output_item.done", index, s.output.add(it, status, s.content))
	s.open = nil
}

// part writes an event about the part of the open item.
func (s *responseStream) part(typ string) {
	s.event(typ)
	s.buf = append(s.buf, s.place...)
	s.buf = append(s.buf, `,"part":`...)
	s.buf = s.open.appendPart(s.buf, s.content)
	s.endEvent()
}

// item writes an event about a whole item.
func (s *responseStream) item(typ string, index int, json []byte) {
	s.event(typ)
	s.buf = append(s.buf, `,"output_index":`...)
	s.buf = strconv.AppendInt(s.buf, int64(index), 10)
	s.buf = append(s.buf, `,"item":`...)
	s.buf = append(s.buf, json...)
	s.endEvent()
}
