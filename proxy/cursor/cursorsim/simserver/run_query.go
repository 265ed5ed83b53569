package simserver

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cursortray/proxy/cursor/cursorpb"
)

// Query is a question that parks the run.
type Query struct {
	run     *Run
	message *cursorpb.InteractionQuery
	number  protoreflect.FieldNumber
	done    chan struct{}

	answered bool
	answer   *cursorpb.InteractionResponse
}

// Ask sends a question; its id is given by the run.
func (r *Run) Ask(m *cursorpb.InteractionQuery) (*Query, error) {
	m = clone(m)
	q := &Query{run: r, message: m, done: make(chan struct{}), number: queryNumber(m.ProtoReflect(), "query")}
	r.mu.Lock()
	m.Id = r.nextID
	r.nextID++
	r.sequence++
	r.queries = append(r.queries, q)
	r.mu.Unlock()
	return q, r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_InteractionQuery{InteractionQuery: m}})
}

// Wait returns the answer.
func (q *Query) Wait() (*cursorpb.InteractionResponse, error) {
	r := q.run
	if r.await(q.done, r.rules.AnswerWithin) {
		return q.answer, nil
	}
	if r.ctx.Err() == nil {
		r.violate("query-unanswered", fmt.Sprintf("query %d of kind %d got no answer", q.message.GetId(), q.number))
		return nil, &RunError{Code: "deadline_exceeded", Message: "Error"}
	}
	return nil, r.gone()
}

// queryNumber is the field of a question or an answer, known or not.
func queryNumber(m protoreflect.Message, oneof protoreflect.Name) protoreflect.FieldNumber {
	if field := m.WhichOneof(m.Descriptor().Oneofs().ByName(oneof)); field != nil {
		return field.Number()
	}
	number, _, n := protowire.ConsumeField(m.GetUnknown())
	if n < 0 {
		return 0
	}
	return number
}

func (r *Run) queryAnswer(m *cursorpb.InteractionResponse) {
	for _, q := range r.queries {
		if q.message.GetId() != m.GetId() {
			continue
		}
		if q.answered {
			r.violate("query-doubled", fmt.Sprintf("a second answer to query %d", m.GetId()))
			return
		}
		if got := queryNumber(m.ProtoReflect(), "result"); got != q.number {
			r.violate("query-field", fmt.Sprintf("query %d of kind %d was answered in field %d", m.GetId(), q.number, got))
		} else if field := m.ProtoReflect().WhichOneof(m.ProtoReflect().Descriptor().Oneofs().ByName("result")); field != nil &&
			unsetOneof(m.ProtoReflect().Get(field).Message()) {
			r.violate("query-field", fmt.Sprintf("query %d was answered with nothing", m.GetId()))
		}
		q.answered, q.answer = true, m
		close(q.done)
		return
	}
	r.violate("query-unknown", fmt.Sprintf("an answer to query %d, which was not asked", m.GetId()))
}
