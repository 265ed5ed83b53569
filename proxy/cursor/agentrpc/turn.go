package agentrpc

import (
	"context"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorpb"
)

// turn answers one request of a client, with one run where all goes well.
type turn struct {
	b      *Backend
	ctx    context.Context
	req    *chat.Request
	yield  func(chat.Event, error) bool
	prints []fingerprint // of the beginnings of req.Messages
	tools  *toolbox
	budget budget

	// How the next run begins.
	conv   *conversation
	model  cursor.Selection
	known  int
	replay replay
	resume bool
	token  string // that the last run was called with

	// What the client has got.
	text     strings.Builder
	thoughts thoughts
	shown    bool
	calls    int
	gone     bool     // the client has left the loop
	record   *outcome // nil if nobody may ask for it again
}

func (t *turn) play() *fault {
	if f := t.prepare(); f != nil {
		return f
	}
	r, done, f := t.claim()
	defer func() { t.record.close(false) }()
	for !done && f == nil {
		if r == nil {
			r, f = t.begin()
		}
		if f == nil {
			f = t.stream(r)
			if f == nil {
				return nil
			}
		}
		f = t.recover(r, f)
		r = nil
	}
	return f
}

func (t *turn) prepare() *fault {
	if t.b.runs.isClosed() {
		return &fault{err: shuttingDown()}
	}
	if err := t.ctx.Err(); err != nil {
		return &fault{err: canceled(err)}
	}
	if len(t.req.Messages) == 0 {
		return &fault{err: &chat.Error{Kind: chat.Invalid, Param: "messages", Message: "there are no messages"}}
	}
	t.prints = fingerprints(t.req.Messages)
	tools, err := t.b.toolboxes.of(t.req)
	if err != nil {
		return &fault{err: err}
	}
	t.tools = tools
	return nil
}

// claim takes over the run that waits for the results in the request. done says
// that the request was answered already, and that the answer was repeated.
func (t *turn) claim() (r *run, done bool, f *fault) {
	results := newResults(t.req.Messages)
	if len(results) == 0 {
		return nil, false, nil
	}
	r, o := t.b.runs.claim(results, t.print())
	switch {
	case r != nil:
		t.record, t.conv = o, r.conv
		t.deliver(r, results)
		return r, false, nil
	case o == nil:
		return nil, false, nil
	}
	events, good, err := o.wait(t.ctx)
	if err != nil {
		return nil, false, &fault{err: canceled(err)}
	}
	for _, e := range events {
		if !t.yield(e, nil) {
			t.gone = true
			break
		}
	}
	return nil, good, nil
}

// print stands for all messages of the request.
func (t *turn) print() fingerprint { return t.prints[len(t.prints)-1] }

// deliver sends the results to the run, and an error for each that is missing:
// the client has been told of it.
func (t *turn) deliver(r *run, results []chat.ToolResult) {
	r.mu.Lock()
	r.mapper.attach(t.req, t.tools)
	r.print, r.mark, r.tokens = t.print(), mark{results: r.mark.results + 1}, 0
	var handed []*toolCall
	r.work = slices.DeleteFunc(r.work, func(c *toolCall) bool {
		if c.handed {
			handed = append(handed, c)
		}
		return c.handed
	})
	r.mu.Unlock()
	r.moved.Store(int64(time.Since(r.tap.started)))
	results = moveNote(results, func(id string) (pendingExec, bool) {
		i := slices.IndexFunc(handed, func(c *toolCall) bool { return c.id == id })
		if i < 0 {
			return pendingExec{}, false
		}
		return handed[i].pending, true
	})
	for _, c := range handed {
		i := slices.IndexFunc(results, func(result chat.ToolResult) bool { return result.CallID == c.id })
		if i < 0 {
			r.out.put(r.ctx, c.pending.refuse("tool result not provided")...)
			continue
		}
		r.out.put(r.ctx, c.pending.answer(results[i])...)
	}
}

// stream passes on what a run says, until the turn ends, waits for the client,
// or fails.
func (t *turn) stream(r *run) *fault {
	stop := context.AfterFunc(t.ctx, func() { r.leave(&fault{err: canceled(t.ctx.Err())}) })
	defer stop()
	var quiet *time.Timer // runs once there are calls
	var timeout <-chan time.Time
	for {
		it, ok := r.next(timeout)
		if !t.rest(r, it) {
			return nil
		}
		switch {
		case !ok:
			if r.park(false) {
				stop()
				return t.handOver(r)
			}
		case it.fault != nil:
			return t.broken(r, it.fault)
		case it.end != nil:
			stop()
			return t.end(r, it.end)
		case r.left(): // and read to its end
		case it.call != nil && !t.offers(it.call.name):
			t.refuse(r, it.call)
		case it.call != nil:
			if !t.call(r, it) {
				return nil
			}
			if t.req.SerialTools {
				r.park(true)
				stop()
				return t.handOver(r)
			}
			if quiet == nil {
				r.letPump()
				quiet = time.NewTimer(t.b.times.window)
				defer quiet.Stop()
				timeout = quiet.C
			}
			quiet.Reset(t.b.times.window)
		default:
			if !t.say(r, it.event) {
				return nil
			}
			if t.isFull(r) {
				stop()
				return t.cut(r)
			}
		}
	}
}

// say passes on what the model says. It returns false if the client has left.
func (t *turn) say(r *run, e chat.Event) bool {
	text, ok := e.(chat.TextDelta)
	if !ok || t.thoughts.past {
		return t.emit(r, e)
	}
	for _, e := range t.thoughts.split(text.Text) {
		if !t.emit(r, e) {
			return false
		}
	}
	return true
}

// rest passes on what say held back, before anything but more text. A run that
// broke off takes it along.
func (t *turn) rest(r *run, next item) bool {
	if t.thoughts.held == "" {
		return true
	}
	if _, more := next.event.(chat.TextDelta); more {
		return true
	}
	e := t.thoughts.rest()
	return next.fault != nil || t.emit(r, e)
}

// emit passes on an event. It returns false if the client has left.
func (t *turn) emit(r *run, e chat.Event) bool {
	if text, ok := e.(chat.TextDelta); ok {
		t.text.WriteString(text.Text)
	}
	t.shown = true
	t.record.add(e)
	if t.yield(e, nil) {
		return true
	}
	t.gone = true
	r.leave(&fault{err: canceled(nil)})
	t.b.goroutines.run(r.drain)
	return false
}

// call tells the client to execute a tool.
func (t *turn) call(r *run, it item) bool {
	r.mu.Lock()
	it.call.handed = true
	r.mu.Unlock()
	t.calls++
	return t.emit(r, it.event)
}

// offers tells whether the request has a tool of that name: a call that was
// kept may be older than the request.
func (t *turn) offers(name string) bool {
	return slices.ContainsFunc(t.req.Tools, func(tool chat.Tool) bool { return tool.Name == name })
}

func (t *turn) refuse(r *run, c *toolCall) {
	r.mu.Lock()
	r.work = slices.DeleteFunc(r.work, func(other *toolCall) bool { return other == c })
	r.mu.Unlock()
	r.out.put(r.ctx, c.pending.refuse("this tool is no longer there")...)
}

// handOver ends the turn with the calls that it made; the run is parked.
func (t *turn) handOver(r *run) *fault {
	t.finish(t.outcome(r, chat.ToolCalls, r.conv.window))
	return nil
}

// broken is the end of a run that failed. Calls that the client has got can be
// executed all the same: it comes back with the results, and the history.
func (t *turn) broken(r *run, f *fault) *fault {
	if t.calls == 0 || r.left() {
		return f
	}
	finish := t.outcome(r, chat.ToolCalls, r.conv.window)
	t.b.giveBack(r)
	r.finish()
	t.finish(finish)
	return nil
}

// end is the end of a turn by the service's own sign.
func (t *turn) end(r *run, ended *cursorpb.TurnEndedUpdate) *fault {
	window := r.conv.window
	switch {
	case r.left():
		return r.cause.Load()
	case t.calls > 0: // whose results the service did not wait for
		finish := t.summary(r, ended, window)
		finish.Reason = chat.ToolCalls
		t.b.giveBack(r)
		t.b.goroutines.run(r.finish)
		t.finish(finish)
		return nil
	case !t.shown:
		return &fault{err: &chat.Error{Kind: chat.BadGateway, Code: CodeEmpty, Message: "Cursor ended its answer without saying anything"}}
	}
	settled := t.settle(r)
	if !r.isCurrent() {
		wait := time.NewTimer(t.b.times.checkpoint)
		defer wait.Stop()
		select {
		case <-settled:
		case <-wait.C:
		}
	}
	t.finish(t.summary(r, ended, window))
	return nil
}

// settle puts the conversation where the next turn finds it, and lets the run
// come to its end behind the client's back.
func (t *turn) settle(r *run) (settled chan struct{}) {
	settled = make(chan struct{})
	c := r.conv
	c.settled, c.resume, c.partial = settled, false, false
	c.print = t.print().with(chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.Text{Text: t.text.String()}}})
	rebuilt := t.known == 0 && len(t.req.Messages) > 1 && t.record == nil
	t.b.shelf.put(c)
	t.b.goroutines.run(func() { r.settle(settled, rebuilt) })
	return settled
}

// isFull tells whether the answer has reached its limit.
func (t *turn) isFull(r *run) bool {
	if !t.b.cfg.LimitTokens || t.req.MaxTokens <= 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens >= t.req.MaxTokens
}

// cut ends the turn at its limit.
func (t *turn) cut(r *run) *fault {
	finish := t.outcome(r, chat.Length, r.conv.window)
	r.leave(&fault{err: canceled(nil)})
	t.b.goroutines.run(r.drain)
	t.finish(finish)
	return nil
}

// summary is the last event of a turn that the service ended.
func (t *turn) summary(r *run, ended *cursorpb.TurnEndedUpdate, before occupancy) chat.Finish {
	r.mu.Lock()
	now := r.window
	r.mu.Unlock()
	finish := t.outcome(r, chat.Stop, before)
	finish.Usage = usage(ended, occupancy{})
	if now.Known && now.Used > 0 && finish.Usage != nil && !t.b.cfg.RawUsage {
		finish.Billed, finish.Usage = finish.Usage, usage(ended, now)
	}
	return finish
}

// outcome is the last event of a turn, as far as it is the same however the turn
// ends. Its context is what the run said of the window, else what an earlier one
// did.
func (t *turn) outcome(r *run, reason chat.Reason, before occupancy) chat.Finish {
	r.mu.Lock()
	defer r.mu.Unlock()
	finish := chat.Finish{Reason: reason, Context: before.context(true), Conversation: r.conv.name, Routed: r.routed}
	if r.window.Known {
		finish.Context = r.window.context(false)
	}
	return finish
}

// finish is the last event, whether the client takes it or not.
func (t *turn) finish(f chat.Finish) {
	t.record.add(f)
	t.record.close(true)
	t.gone = true
	t.yield(f, nil)
}
