package app

import (
	"context"
	"errors"
	"iter"
	"time"

	"cursortray/proxy/chat"
)

const (
	// firstCheck is from the start to the first check, which may take much of
	// the processor: a client that has waited for the port goes first.
	firstCheck    = 50 * time.Millisecond
	checkInterval = 5 * time.Minute
	checkTimeout  = time.Minute
	// Failing requests cause a check, but not one each.
	checkSpacing = 10 * time.Second
)

// health is what the machine knows about the back-end.
type health struct {
	checking bool
	again    bool // a check was asked for while one ran
	last     time.Time
	checked  *chat.Error // what the last check said
	failed   *chat.Error // what the last failed request said, where no check can know it
}

// check asks the back-end, one check at a time.
func (m *machine) check() {
	if m.quitting {
		return
	}
	if m.health.checking {
		m.health.again = true
		return
	}
	m.health.checking = true
	backend := m.app.cfg.Backend
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		err := backend.Check(ctx)
		if ctx.Err() == context.DeadlineExceeded {
			err = chat.Errorf(chat.Timeout, "the back-end did not answer a check within %s", checkTimeout)
		}
		return func(m *machine) { m.checkedBackend(chat.AsError(err)) }
	})
}

func (m *machine) checkedBackend(problem *chat.Error) {
	h := &m.health
	h.checking, h.last, h.checked = false, time.Now(), problem
	if m.quitting {
		return
	}
	if a, ok := m.app.cfg.Backend.(interface{ Account() string }); ok {
		m.snap.Backend.Account = a.Account()
	}
	if problem == nil && h.failed != nil && area(h.failed.Kind) != "plan" {
		h.failed = nil // the check knows better
	}
	m.showBackend()
	m.recheck.Reset(checkInterval)
	if h.again {
		h.again = false
		m.check()
	}
}

// requestFailed takes what a request met. What a check would find as well is
// left to a check; the plan's limits only requests run into.
func (m *machine) requestFailed(err *chat.Error) {
	h := &m.health
	switch err.Kind {
	case chat.NotInPlan, chat.QuotaSpent, chat.LoginRequired, chat.Unavailable:
		h.failed = err
		m.showBackend()
	case chat.BadGateway, chat.Timeout, chat.Internal:
	default:
		return // the request's own fault, or passing
	}
	if wait := checkSpacing - time.Since(h.last); wait > 0 {
		m.recheck.Reset(wait)
		return
	}
	m.check()
}

// requestServed clears what a request that succeeded proves wrong.
func (m *machine) requestServed() {
	m.health.failed, m.health.checked = nil, nil
	m.showBackend()
}

func (m *machine) showBackend() {
	problem := m.health.checked
	if problem == nil {
		problem = m.health.failed
	}
	shown := m.snap.Backend.Problem
	if shown != nil && problem != nil && shown.Kind == problem.Kind && shown.Message == problem.Message {
		return // the same pointer keeps the Snapshot equal
	}
	m.snap.Backend.Problem = problem
	if problem != nil {
		m.app.cfg.Logger.Warn("the back-end has a problem", "kind", problem.Kind.String(), "problem", problem.Message)
	} else if shown != nil {
		m.app.cfg.Logger.Info("the back-end is well again")
	}
}

// observed is the back-end as the proxy sees it: it lets the guard refuse
// turns, and tells the App how they end, and what they used.
type observed struct {
	chat.Backend
	app *App
}

func (b observed) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	req = b.app.cfg.DefaultModel.request(req)
	if client, now := req.Client, time.Now(); client.Key != "" {
		b.app.inbox.put(func(m *machine) { m.editorAsked(client, now) })
	}
	return func(yield func(chat.Event, error) bool) {
		tally, ctx := b.app.observe(ctx, req)
		if refusal := tally.admit(ctx); refusal != nil {
			yield(nil, refusal)
			return
		}
		defer tally.left(ctx)
		for event, err := range b.Backend.Chat(ctx, req) {
			if err != nil {
				tally.failed(ctx, chat.AsError(err))
				b.ended(err)
			} else if finish, ok := event.(chat.Finish); ok {
				tally.finished(finish)
				b.ended(nil)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

func (b observed) ended(err error) {
	switch e := chat.AsError(err); {
	case e == nil:
		b.app.inbox.put((*machine).runEnded)
		if b.app.troubled.Load() {
			b.app.inbox.put((*machine).requestServed)
		}
	case e.Kind != chat.Canceled && e.Kind != chat.ShuttingDown && e.Kind != chat.Invalid:
		b.app.inbox.put(func(m *machine) { m.requestFailed(e) })
	}
}

// readKey fetches the local key early, so that the first request finds it and
// a locked keychain shows before an editor stumbles over it.
func (m *machine) readKey() {
	keys := m.app.cfg.Keys
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		_, err := keys.Key(ctx)
		return func(m *machine) { m.keyRead(err) }
	})
}

func (m *machine) keyRead(err error) {
	m.snap.KeyProblem, m.snap.KeyKeyring = "", KeyringFine
	if err != nil && !m.quitting && !errors.Is(err, context.Canceled) {
		m.snap.KeyProblem, m.snap.KeyKeyring = chat.AsError(err).Message, keyringState(err, "")
		m.app.cfg.Logger.Warn("the local API key cannot be read", "problem", m.snap.KeyProblem)
	}
}
