package agentcli

import (
	"context"
	"errors"
	"time"

	"cursortray/proxy/chat"
)

const (
	lingerGrace  = 2 * time.Second        // from the result to the end of the process
	hurriedGrace = 200 * time.Millisecond // the same while requests wait
	toolSlack    = 30 * time.Second       // beyond the time that a shell call set itself
)

// attempt is one process of the CLI and what becomes of its stream.
type attempt struct {
	*job
	turn   *translator
	parser *parser
	child  *child
	watch  *watch
	passed func() // lets the next child start

	begun    bool // the CLI did something; the run must not be repeated
	ended    bool // the stream has come to its own end
	over     bool // the turn has got its last event
	toolMove bool // a call of the CLI's own began or ended
	neverRan bool
	failed   *failure
	session  string // id of the CLI's chat
}

// do runs the process and hands its events on, all on the caller's goroutine.
// Without failure and error the turn is over.
func (a *attempt) do(ctx context.Context, p program) (*failure, *chat.Error) {
	a.parser = newParser(a.b.hide)
	if err := a.start(ctx, p); err != nil {
		return a.startFailure(p.command, err)
	}
	defer a.leave()
	defer context.AfterFunc(ctx, func() { a.child.stop(stopCanceled) })()
	a.read()
	a.passed()
	if a.over {
		return nil, nil
	}
	if !a.ended {
		a.settle(ctx)
	}
	switch a.child.stopped() {
	case stopCanceled:
		return nil, chat.AsError(ctx.Err())
	case stopClosing:
		return nil, shuttingDown()
	}
	if a.failed == nil {
		a.parser.end(a.child.exit(), a.event)
	}
	if a.failed == nil { // the time was up with events still in the pipe
		a.failed = a.parser.newFailure(classTimeout, "")
	}
	return a.failed, nil
}

func (a *attempt) start(ctx context.Context, p program) (err error) {
	a.passed = func() {}
	if a.plan.config == "" {
		if a.passed, err = passGate(ctx, a.b.gate); err != nil {
			return err
		}
	}
	a.lease.take()
	a.child, err = a.b.children.start(launch{
		command: p.command,
		args:    runArgs(a.model, a.plan.place.dir, a.plan.resume, !a.b.noTrust.Load()),
		dir:     a.plan.place.dir,
		env:     a.b.env.withConfig(a.plan.config),
		stdin:   a.plan.prompt,
		gone:    a.lease.drop,
	})
	if err != nil {
		a.passed()
		a.lease.drop()
		return err
	}
	a.watch = newWatch(a.child, a.b.limits.Start, a.b.limits.Run, func() { a.child.stop(stopSilent) })
	return nil
}

func (a *attempt) startFailure(c command, err error) (*failure, *chat.Error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, chat.AsError(err)
	}
	if errors.Is(err, errClosed) {
		return nil, shuttingDown()
	}
	if gone := folderGone(err); gone != nil {
		return nil, gone
	}
	a.neverRan = true
	return a.b.startFailure(c, err), nil
}

// read feeds the parser until the run or its stream ends.
func (a *attempt) read() {
	lines := newLineReader(a.watch)
	lines.filter = a.parser.filter
	emit := a.event // one closure for all lines
	defer func() {
		if lines.skipped > 0 {
			a.b.log.Warn("lines of the Cursor CLI were too long to be read", "lines", lines.skipped)
		}
	}()
	for first := true; ; first = false {
		line, err := lines.next()
		if err != nil {
			return
		}
		if first {
			a.passed()
			a.watch.setLimit(a.b.limits.Idle)
		}
		if !a.parser.line(line, emit) {
			return
		}
		if a.toolMove {
			a.toolMove = false
			a.watch.setLimit(a.silence())
		}
	}
}

// silence is how long nothing may come: a gap is normal only while a call is
// open.
func (a *attempt) silence() time.Duration {
	open, own := a.parser.working()
	switch {
	case !open:
		return a.b.limits.Idle
	case own > 0:
		return max(a.b.limits.Tool, own+toolSlack)
	}
	return a.b.limits.Tool
}

// event takes one event of the parser.
func (a *attempt) event(e event) bool {
	switch e.kind {
	case evSession:
		a.session = e.id
		return true
	case evError:
		a.failed, a.ended = e.fail, true
		return false
	case evToolStarted, evToolCompleted:
		a.begun, a.toolMove = true, true
		return true
	case evText, evThinking:
		a.begun = true
	case evDone:
		a.ended = true
		a.remember()
	}
	if a.child.stopped() != notStopped {
		return false // what is still in the pipe is for nobody
	}
	more := a.turn.event(e, a.hand)
	a.over = !more
	return more
}

// settle waits for the end of a process whose stream broke off, for it may have
// said why on stderr.
func (a *attempt) settle(ctx context.Context) {
	a.child.linger(lingerGrace)
	select {
	case <-a.child.over:
	case <-ctx.Done():
		a.child.stop(stopCanceled)
	}
}

// leave gives the process up: after its result it has some time to end by
// itself, otherwise it is ended now. Its goroutine does the rest.
func (a *attempt) leave() {
	a.watch.stop()
	a.passed()
	switch {
	case !a.ended, a.failed != nil: // a second run may use the same folder
		a.child.stop(stopFinished)
	case a.b.queue.crowded():
		a.child.linger(hurriedGrace)
	default:
		a.child.linger(lingerGrace)
	}
	a.child.drop()
	if a.over && a.ended && a.failed == nil && a.turn.unheeded() {
		a.b.log.Debug("the client wanted a call of a tool, and the model answered in words")
	}
	if n := a.turn.notHandedOver(); n > 0 {
		a.b.log.Debug("calls in the model's text could not be handed over", "calls", n)
	}
	if n := a.parser.noise; n.lines > 0 {
		a.b.log.Debug("the Cursor CLI printed lines that are no events", "lines", n.lines, "first_sizes", n.sizes)
	}
	if names := a.parser.unknownTypes(); len(names) > 0 {
		a.b.log.Debug("the Cursor CLI sent events that are not known", "types", names)
	}
}
