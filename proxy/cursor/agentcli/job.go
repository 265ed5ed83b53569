package agentcli

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"cursortray/proxy/chat"
)

// job is one request on its way through the CLI: at most two runs, the second
// only when the first failed in a passing way before it gave anything.
type job struct {
	b     *Backend
	req   *chat.Request
	model string
	yield func(chat.Event, error) bool
	left  bool // the loop was left or has got its last event

	lease *lease
	plan  plan
}

// plan is what one run is given.
type plan struct {
	place  *workspace
	prompt string
	resume string // chat to continue, "" for a fresh one
	config string // CURSOR_CONFIG_DIR, "" to leave it
}

// serve runs the request to its end. The error is the one that ends the turn;
// after a Finish there is none.
func (j *job) serve(ctx context.Context) *chat.Error {
	if ctx.Err() != nil {
		return chat.AsError(ctx.Err())
	}
	if j.model = j.req.Model; j.model == "" {
		j.model = "auto"
	}
	if !modelName().MatchString(j.model) {
		return j.explain(&failure{class: classModel})
	}
	if j.req.Workspace != "" {
		if _, err := named(j.req.Workspace); err != nil {
			return err
		}
	}
	if err := j.b.queue.enter(ctx); err != nil {
		return err
	}
	j.lease = newLease(j.b.queue.leave)
	defer j.lease.drop()
	p, err := j.b.locate(ctx)
	if err != nil {
		return err
	}
	if err := j.prepare(ctx); err != nil {
		return err
	}
	return j.try(ctx, p)
}

// prepare makes the folder and the prompt.
func (j *job) prepare(ctx context.Context) *chat.Error {
	moves, problem := j.b.settingsMove(ctx)
	if problem != nil {
		return problem
	}
	var err *chat.Error
	if j.plan, err = j.makePlan(ctx); err != nil {
		return err
	}
	if moves {
		j.plan.config = j.plan.place.config
	}
	return nil
}

// freshPlan sends the whole conversation to a new chat.
func (j *job) freshPlan() (plan, *chat.Error) {
	place, err := j.b.place(j.req)
	if err != nil {
		return plan{}, err
	}
	if place.own {
		j.lease.onEnd(func() { j.b.folders.giveBack(place) })
	}
	prompt, err := buildPrompt(j.req, place.saveImage())
	if err != nil {
		return plan{}, err
	}
	return plan{place: place, prompt: prompt}, nil
}

// try runs the CLI, and once more if that may help.
func (j *job) try(ctx context.Context, p program) *chat.Error {
	for again := true; ; again = false {
		a := &attempt{job: j, turn: newTranslator(j.req, loopGuard{})}
		failed, err := a.do(ctx, p)
		switch {
		case err != nil:
			return err
		case failed == nil:
			return nil
		case !again || a.begun || !j.mend(ctx, failed, a):
			return j.explain(failed)
		}
		j.b.log.Info("the Cursor CLI failed before it answered; trying once more", "class", failed.class)
		if p, err = j.b.locate(ctx); err != nil {
			return err
		}
	}
}

const (
	retryPause  = 100 * time.Millisecond
	retryJitter = 300 * time.Millisecond
	longestWait = 2 * time.Second // a longer wait that the CLI asks for is the client's to make
)

// mend says whether the failure may be gone in a second run, and removes its
// cause where it is on our side.
func (j *job) mend(ctx context.Context, failed *failure, a *attempt) bool {
	switch {
	case failed.class == classNotFound:
		j.b.forget()
		return a.neverRan
	case failed.class == classOutdated && strings.Contains(failed.reason, "--trust"):
		return j.b.noTrust.CompareAndSwap(false, true)
	case j.plan.resume != "" && chatGone(failed):
		return j.startOver()
	case !failed.retryable || failed.class == classTimeout || failed.after > longestWait:
		return false
	}
	pause := time.NewTimer(retryPause + rand.N(retryJitter))
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
	case <-j.b.queue.closed:
	}
	return true // the next run says why it cannot be
}

// explain makes the error of a failed run, and remembers what it taught.
func (j *job) explain(failed *failure) *chat.Error {
	switch failed.class {
	case classAuth:
		j.b.login.Store(nil)
	case classModel:
		j.b.learnModels(failed.usable)
		if list := j.b.models.Load(); list != nil && len(failed.usable) == 0 {
			for _, m := range list.models {
				failed.usable = append(failed.usable, m.ID)
			}
		}
	}
	return failed.chatError(j.model)
}

// hand passes an event on and notices when the loop is left.
func (j *job) hand(e chat.Event, err error) bool {
	if !j.yield(e, err) {
		j.left = true
	}
	return !j.left
}

// lease is what a job and its processes use together: the place in the queue
// and the folder. It ends when all have dropped it.
type lease struct {
	users atomic.Int32
	ends  []func()
	ended chan struct{}
}

func newLease(end func()) *lease {
	l := &lease{ends: []func(){end}, ended: make(chan struct{})}
	l.users.Store(1)
	return l
}

// onEnd adds what is to be done at the end, after the rest. Only the job calls
// it, while it has a share itself.
func (l *lease) onEnd(f func()) { l.ends = append(l.ends, f) }

func (l *lease) take() { l.users.Add(1) }

func (l *lease) drop() {
	if l.users.Add(-1) > 0 {
		return
	}
	for _, end := range l.ends {
		end()
	}
	close(l.ended)
}
