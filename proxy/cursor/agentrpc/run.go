package agentrpc

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// run is one call of the service: a turn of a conversation, or more precisely
// what the model does until it has answered. It is read by one goroutine at a
// time, that of the turn that is attached or else its pump, and written by its
// outbox only.
type run struct {
	b      *Backend
	conv   *conversation // with its blobs, for whoever reads
	key    string        // begins the ids of the run's calls
	ctx    context.Context
	stop   func() // resets the stream
	stream *duplex
	tap    *tap
	out    *outbox
	done   chan struct{} // closed when nothing of it is left

	cause atomic.Pointer[fault] // why we ended it; nil if we did not

	ended   bool        // the service has said so; for whoever reads
	reading atomic.Bool // somebody waits for the service

	moved atomic.Int64 // last progress, on tap's clock
	asked atomic.Int64 // an unknown question since, on tap's clock; 0 is none

	mu     sync.Mutex
	print  fingerprint // of the messages of the request that it goes on for
	mapper *execMapper
	work   []*toolCall // handed to the client or on the way there
	calls  int         // made so far, for ids
	tokens int         // put out since the current turn attached
	routed string      // the model that the service chose, if it says so
	mark   mark
	held   hold

	// The newest checkpoint, what it says, and where in the output it came.
	checkpoint []byte
	window     occupancy
	atMark     mark
}

// mark is a place in a run's output.
type mark struct {
	results int // how often results of the client were delivered
	shown   int // pieces of the answer since the last delivery
}

// toolCall is work that the client does.
type toolCall struct {
	id      string
	name    string
	pending pendingExec
	run     *run
	handed  bool     // the client knows of it; guarded by run.mu
	answer  *outcome // of the request that brought its result; guarded by registry.mu
}

// item is what reading a run gives: exactly one of its fields, except that call
// goes with its event.
type item struct {
	event chat.Event
	call  *toolCall
	end   *cursorpb.TurnEndedUpdate
	fault *fault
}

// read reads until there is something for the client, or the end.
func (r *run) read() item {
	for {
		r.reading.Store(true)
		r.tap.wait()
		m, err := r.stream.Receive()
		r.reading.Store(false)
		if err != nil {
			return item{fault: r.verdict(err)}
		}
		if it, ok := r.handle(m); ok {
			return it
		}
	}
}

// verdict says why the stream is over although the turn has not ended.
func (r *run) verdict(err error) *fault {
	if f := r.cause.Load(); f != nil {
		return f
	}
	if f := r.tap.outcome(err); f != nil {
		return f
	}
	return brokenOff(err)
}

// handle deals with one message. It returns false if there is nothing in it for
// the client.
func (r *run) handle(m *cursorpb.AgentServerMessage) (item, bool) {
	switch x := m.GetMessage().(type) {
	case *cursorpb.AgentServerMessage_InteractionUpdate:
		return r.update(x.InteractionUpdate)
	case *cursorpb.AgentServerMessage_ExecServerMessage:
		r.progress()
		return r.exec(x.ExecServerMessage)
	case *cursorpb.AgentServerMessage_ConversationCheckpointUpdate:
		r.progress()
		r.keep(x.ConversationCheckpointUpdate)
	case *cursorpb.AgentServerMessage_KvServerMessage:
		r.progress()
		r.out.put(r.ctx, r.conv.blobs.answer(x.KvServerMessage))
	case *cursorpb.AgentServerMessage_ExecServerControlMessage:
		if abort := x.ExecServerControlMessage.GetAbort(); abort != nil {
			r.withdraw(abort.GetId())
		}
	case *cursorpb.AgentServerMessage_InteractionQuery:
		reply, known := answerQuery(x.InteractionQuery)
		if known {
			r.progress()
		} else {
			r.asked.CompareAndSwap(0, r.tap.heard.Load()+1)
		}
		r.out.put(r.ctx, reply)
	}
	return item{}, false
}

// update is what the model says, and signs of life. Updates about tools are for
// display: work is asked for by exec messages only.
func (r *run) update(u *cursorpb.InteractionUpdate) (item, bool) {
	switch x := u.GetMessage().(type) {
	case *cursorpb.InteractionUpdate_TextDelta:
		if x.TextDelta.GetText() == "" {
			return item{}, false
		}
		if x.TextDelta.GetIsServerNotice() {
			r.b.notice(x.TextDelta.GetText())
			return item{}, false
		}
		return r.show(chat.TextDelta{Text: x.TextDelta.GetText()})
	case *cursorpb.InteractionUpdate_ThinkingDelta:
		if x.ThinkingDelta.GetText() == "" {
			return item{}, false
		}
		return r.show(chat.ReasoningDelta{Text: x.ThinkingDelta.GetText()})
	case *cursorpb.InteractionUpdate_TurnEnded:
		r.progress()
		r.ended = true
		return item{end: x.TurnEnded}, true
	case *cursorpb.InteractionUpdate_TokenDelta:
		if x.TokenDelta.GetTokens() > 0 {
			r.progress()
			r.mu.Lock()
			r.tokens += int(x.TokenDelta.GetTokens())
			r.mu.Unlock()
		}
	case *cursorpb.InteractionUpdate_RoutedModel:
		r.mu.Lock()
		r.routed = plain(x.RoutedModel.GetDisplayName())
		r.mu.Unlock()
	case *cursorpb.InteractionUpdate_ToolCallStarted, *cursorpb.InteractionUpdate_ToolCallCompleted,
		*cursorpb.InteractionUpdate_PartialToolCall, *cursorpb.InteractionUpdate_Summary:
		r.progress()
	}
	return item{}, false
}

func (r *run) show(e chat.Event) (item, bool) {
	r.progress()
	r.mu.Lock()
	r.mark.shown++
	r.mu.Unlock()
	return item{event: e}, true
}

// progress notes that the turn moves. It saves a look at the clock: the bytes
// have just been heard.
func (r *run) progress() {
	r.moved.Store(r.tap.heard.Load())
	if r.asked.Load() != 0 {
		r.asked.Store(0)
	}
}

// exec deals with a request for work.
func (r *run) exec(x *cursorpb.ExecServerMessage) (item, bool) {
	r.mu.Lock()
	plan := r.mapper.plan(x)
	if plan.call == nil {
		r.mu.Unlock()
		r.out.put(r.ctx, plan.answers...)
		if plan.fail != nil {
			r.leave(&fault{err: plan.fail})
			return item{fault: r.cause.Load()}, true
		}
		return item{}, false
	}
	c := &toolCall{id: callID(r.key, r.calls), name: plan.call.name, pending: plan.call.pending, run: r}
	r.calls++
	r.mark.shown++
	r.work = append(r.work, c)
	r.mu.Unlock()
	r.b.runs.know(c)
	return item{event: chat.ToolCall{ID: c.id, Name: c.name, Arguments: plan.call.arguments}, call: c}, true
}

// keep stores a checkpoint.
func (r *run) keep(checkpoint []byte) {
	window := readOccupancy(checkpoint)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoint, r.atMark = checkpoint, r.mark
	if window.Known {
		r.window = window
	}
}

// withdraw forgets work that the service no longer wants. It gets no answer.
// Pieces of work without numbers of their own cannot be told apart by one: then
// all are done and answered, since work that nobody answers would hang the run.
func (r *run) withdraw(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := ""
	for _, c := range r.work {
		if c.pending.id != id {
			continue
		}
		if known != "" && known != c.pending.execID {
			return
		}
		known = c.pending.execID
	}
	r.work = slices.DeleteFunc(r.work, func(c *toolCall) bool { return c.pending.id == id })
	r.held.queue = slices.DeleteFunc(r.held.queue, func(it item) bool { return it.call != nil && it.call.pending.id == id })
}

// pending is the work that wants signs of life.
func (r *run) pending() []pendingExec {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []pendingExec
	for _, c := range r.work {
		list = append(list, c.pending)
	}
	return list
}

// watch ends a run that is dead or stands still. A busy connection is no proof
// of life, and a silent one none of death while the client works.
func (r *run) watch() {
	if !r.reading.Load() { // the client is slow, and nothing is known of the service
		r.tap.hear()
		r.progress()
		return
	}
	heard := time.Duration(r.tap.heard.Load())
	if r.tap.silence() > r.b.times.silence {
		r.end(silent("Cursor has gone silent"))
		return
	}
	if asked := time.Duration(r.asked.Load()); asked != 0 && heard-asked > r.b.times.question {
		r.end(&fault{err: &chat.Error{Kind: chat.BadGateway, Code: CodeInsists,
			Message: "Cursor asks something that this version of cursortray does not know"}})
		return
	}
	if len(r.pending()) == 0 && heard-time.Duration(r.moved.Load()) > r.b.times.progress {
		r.end(silent("Cursor's answer has come to a standstill"))
	}
}

// end ends the run at once.
func (r *run) end(f *fault) {
	r.cause.CompareAndSwap(nil, f)
	r.stop()
}

// leave tells the service that the run is given up, and lets it end the run
// itself for a moment.
func (r *run) leave(f *fault) { r.leaveWithin(f, r.b.times.goodbye) }

func (r *run) leaveWithin(f *fault, patience time.Duration) {
	if !r.cause.CompareAndSwap(nil, f) {
		return
	}
	if !r.out.putFirst(cancelAction()) {
		r.stop()
		return
	}
	timer := time.AfterFunc(patience, r.stop)
	context.AfterFunc(r.ctx, func() { timer.Stop() })
}

// left tells whether the run was given up, so that no other may take its place.
func (r *run) left() bool {
	f := r.cause.Load()
	return f != nil && f.remedy == giveUp
}

func cancelAction() *cursorpb.AgentClientMessage {
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ConversationAction{
		ConversationAction: &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_CancelAction{CancelAction: &cursorpb.CancelAction{}}}}}
}

// endHalf ends our half of the stream in the proper way.
func (r *run) endHalf() error {
	r.tap.complete.Store(true)
	return r.stream.CloseRequest()
}

// finish frees what the run holds, once nobody reads it any more. A run whose
// turn has not ended is reset.
func (r *run) finish() {
	r.b.runs.gone(r)
	if !r.ended && !r.tap.frames.done {
		r.stop()
	} else {
		r.out.end()
	}
	select {
	case <-r.out.done:
	case <-time.After(r.b.times.goodbye):
		// A write is stuck.
	}
	_ = r.stream.CloseResponse()
	r.stop()
	<-r.out.done
	close(r.done)
}
