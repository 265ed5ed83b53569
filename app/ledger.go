package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"cursortray/proxy"
	"cursortray/proxy/chat"
	"cursortray/proxy/choice"
	"cursortray/proxy/ledger"
)

// Ledger keeps what requests used. *ledger.Ledger is one.
type Ledger interface {
	// Add does not wait.
	Add(e ledger.Entry)
	// Recent returns the last n, the newest first.
	Recent(ctx context.Context, n int) ([]ledger.Entry, error)
	// Load tells what each editor used since a moment, in steps of time, but for
	// requests whose outcome begins with except.
	Load(ctx context.Context, since time.Time, step time.Duration, except string) ([]ledger.Load, error)
}

// Request is one request for a model: figures, and nothing of what was said.
type Request struct {
	At      time.Time
	Editor  string // id of the editor whose key it had; "" is the main key
	Model   string // an id; "" is not known
	Dialect string // chat, responses or messages
	Backend string // id of the way that answered; "" is none
	Outcome string // "ok", "cancelled", or the code of an error
	Context *chat.Context
	Cost    string // exact decimal dollars; "" is not known
	Took    time.Duration
}

// RequestList is a list of requests, the newest first. It does not change.
type RequestList struct{ All []Request }

// maxRecent is how many requests are shown.
const maxRecent = 10

// tally is what is known of a request while it is answered. Only its own
// goroutine uses it, until it is over.
type tally struct {
	app    *App
	req    *chat.Request
	begun  time.Time
	way    string
	finish *chat.Finish // nil: it did not come to its end
	over   bool
}

// observe begins the tally of a request, and returns the context to answer it
// with.
func (a *App) observe(ctx context.Context, req *chat.Request) (*tally, context.Context) {
	t := &tally{app: a, req: req, begun: time.Now()}
	return t, choice.WithTold(ctx, func(way string) { t.way = way })
}

// finished is the end of a turn that succeeded.
func (t *tally) finished(f chat.Finish) {
	t.finish = &f
	t.end(ledger.OK)
}

func (t *tally) failed(ctx context.Context, err *chat.Error) { t.end(outcomeOf(ctx, err)) }

// left is called when nobody wants more of the turn: the client has left, or
// the answer has reached one of its stop texts.
func (t *tally) left(ctx context.Context) {
	if ctx.Err() == nil && len(t.req.Stop) > 0 {
		t.end(ledger.OK)
		return
	}
	t.end(outcomeOf(ctx, &chat.Error{Kind: chat.Canceled}))
}

// end hands the tally to the machine, once.
func (t *tally) end(outcome string) {
	if t.over {
		return
	}
	t.over = true
	took := time.Since(t.begun)
	t.app.inbox.put(func(m *machine) { m.requestEnded(t, outcome, took) })
}

// outcomeOf is the word for an error: its code, or its kind. Of a context that
// ended for a reason of this program's own it is that reason's.
func outcomeOf(ctx context.Context, err *chat.Error) string {
	if err.Kind == chat.Canceled {
		if cause := (*chat.Error)(nil); !errors.As(context.Cause(ctx), &cause) {
			return ledger.Cancelled
		} else {
			err = cause
		}
	}
	if err.Code != "" {
		return err.Code
	}
	return strings.ReplaceAll(err.Kind.String(), " ", "_")
}

// requestEnded writes a request down.
func (m *machine) requestEnded(t *tally, outcome string, took time.Duration) {
	e := ledger.Entry{
		At: t.begun, Editor: t.req.Client.Key, Model: m.knownModel(t.req, outcome), Dialect: t.req.Client.Dialect,
		Backend: t.way, Outcome: outcome, Took: took,
	}
	var window *chat.Context
	if f := t.finish; f != nil {
		p := m.price(m.modelID(t.req), f)
		window = f.Context
		m.enterFigures(&e, f, p)
		m.turnEnded(t.req, f, p)
	}
	if m.app.cfg.Ledger != nil {
		m.app.cfg.Ledger.Add(e)
	}
	m.showRequests([]Request{requestOf(e, window)}, true)
	m.showGuard()
}

// turnedAway writes down a request that never came to the back-end.
func (a *App) turnedAway(t proxy.TurnedAway) {
	e := ledger.Entry{At: t.At, Editor: t.Client.Key, Dialect: t.Client.Dialect, Outcome: t.Outcome, Took: t.Took}
	if t.Outcome == chat.Canceled.String() {
		e.Outcome = ledger.Cancelled
	}
	a.inbox.put(func(m *machine) {
		if a.cfg.Ledger != nil {
			a.cfg.Ledger.Add(e)
		}
		m.showRequests([]Request{requestOf(e, nil)}, true)
	})
}

// enterFigures puts in what a turn used and what that costs.
func (m *machine) enterFigures(e *ledger.Entry, f *chat.Finish, p priced) {
	if c := f.Context; c != nil && !c.Stale {
		e.Context, e.Window = int64(c.Used), int64(c.Max)
	}
	if p.used == nil {
		e.Paused = f.Reason == chat.ToolCalls
		return
	}
	e.Input, e.Output, e.Reasoning = int64(p.used.Input), int64(p.used.Output), int64(p.used.Reasoning)
	e.CacheRead, e.CacheWrite = int64(p.used.CacheRead), int64(p.used.CacheWrite)
	if !p.known {
		return
	}
	e.Cost = strings.TrimPrefix(p.Money.String(), "$")
	if m.app.cfg.Guard != nil {
		m.app.cfg.Guard.Spent(e.Editor, p.Money)
	}
}

// knownModel is the id of the model that a request names. What nobody knows
// may be any text, and is not kept.
func (m *machine) knownModel(req *chat.Request, outcome string) string {
	if catalog := m.app.catalog.Load(); catalog != nil {
		if selection, err := catalog.Resolve(req.Model, req.Effort); err == nil {
			return selection.ID
		}
	}
	if outcome == ledger.OK && plainName(req.Model) {
		return req.Model
	}
	return ""
}

// plainName says whether a name looks like one of a model.
func plainName(name string) bool {
	const limit = 64
	return len(name) <= limit && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._:@[]", r))
	})
}

func requestOf(e ledger.Entry, window *chat.Context) Request {
	if window == nil && e.Context > 0 {
		window = &chat.Context{Used: int(e.Context), Max: int(e.Window)}
	}
	return Request{
		At: e.At, Editor: e.Editor, Model: e.Model, Dialect: e.Dialect, Backend: e.Backend, Outcome: e.Outcome,
		Context: window, Cost: e.Cost, Took: e.Took,
	}
}

// showRequests adds requests to those that are shown: newer ones in front, or
// older ones behind.
func (m *machine) showRequests(some []Request, newer bool) {
	var all []Request
	if m.snap.Recent != nil {
		all = m.snap.Recent.All
	}
	if newer {
		all = append(some, all...)
	} else {
		all = append(all[:len(all):len(all)], some...)
	}
	if len(all) > 0 {
		m.snap.Recent = &RequestList{All: all[:min(len(all), maxRecent)]}
	}
}
