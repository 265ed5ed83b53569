package simserver

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cursortray/proxy/cursor/cursorpb"
)

// Exec is a piece of work that was asked of the client.
type Exec struct {
	run      *Run
	request  *cursorpb.ExecServerMessage
	kind     string                   // the field's name, "unknown" for one that no table lists
	want     protoreflect.FieldNumber // of the result; 0 if only a throw is right
	sequence uint64
	done     chan struct{} // closed with the last message about it
	replied  chan struct{} // closed with the whole result

	// Guarded by the run.
	lastBeat time.Time
	aborted  uint64 // the sequence at which it was withdrawn
	answered bool
	closed   bool
	unclosed bool // it is on record that no stream_close came
	answer   ExecAnswer
}

// ExecAnswer is what the client said about a piece of work.
type ExecAnswer struct {
	Request *cursorpb.ExecServerMessage
	Results []*cursorpb.ExecClientMessage // more than one for a shell stream only
	Throw   *cursorpb.ExecClientThrow
	Beats   int // signs of life before the result
}

// Exec asks for a piece of work: the variant of m is set, its ids are given by
// the run unless they are set already.
func (r *Run) Exec(m *cursorpb.ExecServerMessage) (*Exec, error) {
	m = clone(m)
	e := &Exec{run: r, request: m, done: make(chan struct{}), replied: make(chan struct{})}
	e.kind, e.want = resultOf(m)
	r.mu.Lock()
	if m.GetId() == 0 && m.GetExecId() == "" {
		m.Id, m.ExecId = r.nextID, fmt.Sprintf("exec-%d", r.nextID)
		r.nextID++
	}
	r.sequence++
	e.sequence = r.sequence
	e.lastBeat = r.sim.clock()
	e.answer.Request = m
	r.execs = append(r.execs, e)
	r.mu.Unlock()
	return e, r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_ExecServerMessage{ExecServerMessage: m}})
}

// Wait returns the answer. What the client answers by itself has a limit, the
// result of a tool has none.
func (e *Exec) Wait() (ExecAnswer, error) {
	r := e.run
	var limit time.Duration
	if e.settledAlone() {
		limit = r.rules.AnswerWithin
	}
	if !r.await(e.replied, limit) {
		if r.ctx.Err() == nil {
			r.violate("exec-unanswered", e.kind+" got no answer")
			return ExecAnswer{}, &RunError{Code: "deadline_exceeded", Message: "Error"}
		}
		return ExecAnswer{}, r.gone()
	}
	late := !r.await(e.done, r.rules.Closing) && r.ctx.Err() == nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if late && !e.closed {
		e.unclosed = true
		r.violate("exec-unclosed", e.kind+" was answered, but no stream_close followed")
	}
	r.last = append(r.last, e.answer)
	return e.answer, nil
}

// Abort withdraws the work.
func (e *Exec) Abort() error {
	r := e.run
	r.mu.Lock()
	r.sequence++
	e.aborted = r.sequence
	r.mu.Unlock()
	return r.Send(&cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_ExecServerControlMessage{
		ExecServerControlMessage: &cursorpb.ExecServerControlMessage{Message: &cursorpb.ExecServerControlMessage_Abort{
			Abort: &cursorpb.ExecServerAbort{Id: e.request.GetId()},
		}},
	}})
}

// settledAlone tells whether a client answers without asking anybody.
func (e *Exec) settledAlone() bool {
	switch e.request.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_RequestContextArgs, *cursorpb.ExecServerMessage_McpStateExecArgs, nil:
		return true
	}
	return false
}

// resultOf gives the name of a request's kind and the number of its result.
// They are the same, except for Pi tools (45 to 51 give 46 to 52) and mini_swe
// (52 gives 55). A throw is the only answer to 44 and 56, whose work no client
// does, and to what no table lists.
func resultOf(m *cursorpb.ExecServerMessage) (kind string, want protoreflect.FieldNumber) {
	message := m.ProtoReflect()
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("message"))
	if field == nil {
		return "unknown", 0
	}
	want = field.Number()
	switch {
	case want >= 45 && want <= 51:
		want++
	case want == 52:
		want = 55
	case want == 56:
		want = 0
	}
	return string(field.Name()), want
}

// exec finds a piece of work by its ids. Where the id is 0 the name counts.
func (r *Run) exec(id uint32, execID string) *Exec {
	for i := len(r.execs) - 1; i >= 0; i-- {
		e := r.execs[i]
		if e.request.GetId() == id && (id != 0 || execID == "" || e.request.GetExecId() == execID) {
			return e
		}
	}
	return nil
}

// execResult takes a result, or one event of a shell stream.
func (r *Run) execResult(m *cursorpb.ExecClientMessage, raw []byte, now time.Time) {
	e := r.exec(m.GetId(), m.GetExecId())
	if e == nil {
		r.violate("exec-unknown", fmt.Sprintf("a result for id %d, which was not asked for", m.GetId()))
		return
	}
	message := m.ProtoReflect()
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("message"))
	switch {
	case m.GetExecId() != e.request.GetExecId():
		r.violate("exec-id", fmt.Sprintf("exec_id %s in the answer to %s", quote(m.GetExecId()), quote(e.request.GetExecId())))
	case field == nil:
		r.violate("exec-field", e.kind+" was answered with nothing")
	case field.Number() != e.want:
		r.violate("exec-field", fmt.Sprintf("%s was answered in field %d, want %d", e.kind, field.Number(), e.want))
	case unsetOneof(message.Get(field).Message()):
		r.violate("exec-field", e.kind+" was answered with an empty "+string(field.Name()))
	}
	if e.withdrawn() {
		return
	}
	if e.answered || e.closed {
		r.violate("exec-doubled", e.kind+" was answered twice")
		return
	}
	r.checkExecBeat(e, now)
	e.answer.Results = append(e.answer.Results, m)
	if context := m.GetRequestContextResult(); context != nil {
		r.contextAnswer(context, raw)
	}
	if m.GetShellStream() == nil || e.shellOver(m.GetShellStream()) {
		e.reply()
	}
}

// reply tells that the answer is whole.
func (e *Exec) reply() {
	e.answered = true
	e.run.seen = max(e.run.seen, e.sequence)
	close(e.replied)
}

// withdrawn: nothing may come for a piece of work that was withdrawn, once the
// client knows it. It knows it when it has answered something newer.
func (e *Exec) withdrawn() bool {
	if e.aborted == 0 {
		return false
	}
	if e.run.seen > e.aborted {
		e.run.violate("exec-aborted", e.kind+" was answered after it had been withdrawn")
	}
	return true
}

// shellOver checks the order of a shell stream's events, and tells whether this
// one is the last.
func (e *Exec) shellOver(event *cursorpb.ShellStream) bool {
	switch event.GetEvent().(type) {
	case *cursorpb.ShellStream_Start:
		if len(e.answer.Results) > 1 {
			e.run.violate("shell-order", "start is not the first event of a shell stream")
		}
		return false
	case *cursorpb.ShellStream_Rejected, *cursorpb.ShellStream_PermissionDenied:
		return true
	}
	if e.answer.Results[0].GetShellStream().GetStart() == nil {
		e.run.violate("shell-order", "a shell stream without a start")
	}
	return event.GetExit() != nil || event.GetBackgrounded() != nil
}

// unsetOneof tells whether a message is a choice with nothing chosen.
func unsetOneof(m protoreflect.Message) bool {
	oneofs := m.Descriptor().Oneofs()
	for i := range oneofs.Len() {
		if o := oneofs.Get(i); !o.IsSynthetic() && (o.Name() == "result" || o.Name() == "event") {
			return m.WhichOneof(o) == nil
		}
	}
	return false
}

// execControl takes the end, the failure or a sign of life of a piece of work.
func (r *Run) execControl(m *cursorpb.ExecClientControlMessage, now time.Time) {
	id := m.GetStreamClose().GetId() | m.GetThrow().GetId() | m.GetHeartbeat().GetId()
	e := r.exec(id, "")
	switch {
	case m.GetMessage() == nil:
		r.violate("message", "an exec control message of no known kind")
		return
	case e == nil:
		r.violate("exec-unknown", fmt.Sprintf("a control message for id %d, which was not asked for", id))
		return
	case e.withdrawn():
		return
	}
	switch control := m.GetMessage().(type) {
	case *cursorpb.ExecClientControlMessage_Heartbeat:
		if e.answered {
			r.violate("exec-heartbeat", e.kind+" got a sign of life after its answer")
		}
		r.checkExecBeat(e, now)
		e.answer.Beats++
	case *cursorpb.ExecClientControlMessage_Throw:
		r.execThrow(e, control.Throw)
	case *cursorpb.ExecClientControlMessage_StreamClose:
		switch {
		case e.closed:
			r.violate("exec-doubled", e.kind+" was closed twice")
			return
		case !e.answered:
			r.violate("exec-unanswered", e.kind+" was closed without an answer")
			e.reply()
		}
		e.closed = true
		close(e.done)
	}
}

func (r *Run) execThrow(e *Exec, throw *cursorpb.ExecClientThrow) {
	if e.answered || e.closed {
		r.violate("exec-doubled", e.kind+" was answered, and then failed")
		return
	}
	if code := throw.GetErrorCode(); e.kind == "unknown" && code != "unknown_exec_variant" {
		r.violate("exec-field", "the error code for an unknown request is "+quote(code))
	}
	if strings.TrimSpace(throw.GetError()) == "" {
		r.violate("exec-field", "a throw without a reason")
	}
	e.answer.Throw = throw
	e.reply()
}

// checkExecBeat looks at the time since the last sign of life of a piece of
// work, which ends here or has another one.
func (r *Run) checkExecBeat(e *Exec, now time.Time) {
	limit := r.rules.ExecHeartbeat + r.rules.Slack
	if gap := now.Sub(e.lastBeat); gap > limit && !r.paused && e.lastBeat.After(r.resumed) {
		r.violate("exec-heartbeat", fmt.Sprintf("%s was without a sign of life for %v, the limit is %v", e.kind, gap.Round(time.Millisecond), limit))
	}
	e.lastBeat = now
}

// lastField returns the last value of a length-delimited field, not nil if it
// is there.
func lastField(raw []byte, number protoreflect.FieldNumber) []byte {
	var found []byte
	for len(raw) > 0 {
		n, kind, size := protowire.ConsumeField(raw)
		if size < 0 {
			return found
		}
		if n == number && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(raw)
			value, _ := protowire.ConsumeBytes(raw[tag:])
			found = append([]byte{}, value...)
		}
		raw = raw[size:]
	}
	return found
}
