package agentcli

import (
	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// loopGuard is the same in every back-end.
type loopGuard = clienttool.Guard

// translator maps the canonical events of one run to the events of one chat turn:
// it takes the client's calls out of the text, guards against loops, and keeps
// the CLI's own calls to itself. It does no I/O and belongs to one goroutine.
type translator struct {
	req     *chat.Request
	guard   loopGuard
	scanner *toolScanner // nil when no call may be handed over
	shown   bool         // something reached the client
	called  bool
	stopped string // the guard's text instead of a call
	usage   *chat.Usage
}

func newTranslator(req *chat.Request, guard loopGuard) *translator {
	t := &translator{req: req, guard: guard}
	if len(req.Tools) > 0 && req.Choice.Mode != chat.ToolNone {
		t.scanner = newToolScanner(req.Tools, req.SerialTools)
		if req.Choice.Mode == chat.ToolNamed {
			t.scanner.only = req.Choice.Name
		}
	}
	return t
}

// event takes the next event of the run and yields what it means to the
// client. It returns false when the turn is over: after Finish or an error was
// yielded, or when yield returned false. The run may still be going then and
// is to be ended.
func (t *translator) event(e event, yield func(chat.Event, error) bool) bool {
	switch e.kind {
	case evText:
		return t.text(e.text, yield)
	case evThinking:
		if t.called {
			return true
		}
		t.shown = true
		return yield(chat.ReasoningDelta{Text: e.text}, nil)
	case evUsage:
		t.usage = e.usage
	case evDone:
		t.done(yield)
		return false
	case evError:
		yield(nil, e.fail.chatError(t.req.Model))
		return false
	}
	return true // sessions and the CLI's own calls are not the client's business
}

func (t *translator) text(text string, yield func(chat.Event, error) bool) bool {
	if t.scanner == nil {
		t.shown = true
		return yield(chat.TextDelta{Text: text}, nil)
	}
	alive := true
	more := t.scanner.feed(text, func(e chat.Event) bool {
		alive = t.pass(e, yield)
		return alive && t.stopped == ""
	})
	if alive && !more {
		t.finish(yield)
	}
	return more
}

// pass hands on what the scanner found.
func (t *translator) pass(e chat.Event, yield func(chat.Event, error) bool) bool {
	if call, ok := e.(chat.ToolCall); ok {
		if text := t.guard.Check(t.req.Messages, call); text != "" {
			t.stopped = text
			return true
		}
		t.called = true
	}
	t.shown = true
	return yield(e, nil)
}

// unheeded says that the client wanted a call and got words; the model cannot be
// forced.
func (t *translator) unheeded() bool {
	return t.scanner != nil && !t.called && t.stopped == "" && (t.req.Choice.Mode == chat.ToolAny || t.req.Choice.Mode == chat.ToolNamed)
}

// notHandedOver counts the blocks that were meant as calls and could not be.
func (t *translator) notHandedOver() int {
	if t.scanner == nil {
		return 0
	}
	return t.scanner.notes + t.scanner.lost
}

// done ends a run that succeeded.
func (t *translator) done(yield func(chat.Event, error) bool) {
	alive := true
	if t.scanner != nil {
		t.scanner.end(func(e chat.Event) bool {
			alive = t.pass(e, yield)
			return alive && t.stopped == ""
		})
	}
	if alive {
		t.finish(yield)
	}
}

// finish ends the turn. The CLI's own calls are no answer: a run that showed
// nothing else was empty to the client.
func (t *translator) finish(yield func(chat.Event, error) bool) {
	finish := chat.Finish{Usage: t.usage}
	switch {
	case t.called:
		finish.Reason = chat.ToolCalls
	case t.stopped != "":
		if !yield(chat.TextDelta{Text: t.stopped}, nil) {
			return
		}
	case !t.shown:
		empty := (&parser{}).newFailure(classEmpty, "")
		yield(nil, empty.chatError(t.req.Model))
		return
	}
	yield(finish, nil)
}
