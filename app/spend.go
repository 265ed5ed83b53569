package app

import (
	"context"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/ledger"
	"cursortray/proxy/money"
	"cursortray/proxy/spend"
)

// Guard refuses requests at the limits that the user set. *spend.Guard is one.
// It may be called from any goroutine.
type Guard interface {
	// Warm reads what was used before; Admit does it, too.
	Warm(ctx context.Context)
	// Admit counts a request of an editor, or refuses it.
	Admit(ctx context.Context, editor string) *chat.Error
	// Spent tells what a request turned out to cost.
	Spent(editor string, cost money.Amount)
	// Allow lifts all limits for a while; 0 ends that.
	Allow(duration time.Duration)
	State() spend.State
}

// GuardStatus is what the spend guard does.
type GuardStatus struct {
	Reached string    // the limit that refuses requests, in words; "" is none
	Until   time.Time // when it lets requests through again
	// AllowedUntil is when limits that were lifted hold again; zero when they do.
	AllowedUntil time.Time
	RunsHour     int    // requests for a model in the last hour
	SpentDay     string // by the table of prices, in the last 24 hours: "$1.39"; "" is nothing
}

// guardInterval is how often sums over the last hour are told anew.
const guardInterval = time.Minute

const (
	// firstLedgerLook keeps the reading of the ledger out of the start's way: the
	// port, and a client that has waited for it, go first. A request for a model
	// does not wait for it: it makes the guard read at once.
	firstLedgerLook = 200 * time.Millisecond
	// warmTime bounds that reading.
	warmTime = 5 * time.Second
)

// readLedger reads, behind the start, what was used before it.
func (m *machine) readLedger() {
	book, guard := m.app.cfg.Ledger, m.app.cfg.Guard
	if book == nil && guard == nil {
		return
	}
	start := time.Now()
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		wait := time.NewTimer(firstLedgerLook)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
			return func(*machine) {}
		}
		ctx, cancel := context.WithTimeout(ctx, warmTime)
		defer cancel()
		if guard != nil {
			guard.Warm(ctx)
		}
		var recent []Request
		var past []ledger.Load
		if book != nil {
			entries, err := book.Recent(ctx, maxRecent)
			if err == nil {
				past, err = book.Load(ctx, start.Add(-useHours*time.Hour), pastStep, spend.CodePrefix)
			}
			if err != nil && ctx.Err() == nil {
				m.app.cfg.Logger.Warn("the ledger of requests cannot be read", "problem", err)
			}
			for _, e := range entries {
				recent = append(recent, requestOf(e, nil))
			}
		}
		return func(m *machine) {
			m.showPast(recent)
			m.editorsAsked(past, start)
			m.showGuard()
		}
	})
}

// showPast shows requests from before the start, behind those that came while
// they were read.
func (m *machine) showPast(recent []Request) {
	if shown := m.snap.Recent; shown != nil {
		first := shown.All[len(shown.All)-1].At
		for len(recent) > 0 && !recent[0].At.Before(first.Truncate(time.Millisecond)) {
			recent = recent[1:]
		}
	}
	m.showRequests(recent, false)
}

// admit asks the guard. A refusal is an outcome like others.
func (t *tally) admit(ctx context.Context) *chat.Error {
	guard := t.app.cfg.Guard
	if guard == nil {
		return nil
	}
	refusal := guard.Admit(ctx, t.req.Client.Key)
	if refusal != nil {
		t.failed(ctx, refusal)
	}
	return refusal
}

// allowSpending lifts the limits for a while.
func (m *machine) allowSpending(duration time.Duration) {
	guard := m.app.cfg.Guard
	if guard == nil {
		return
	}
	guard.Allow(min(max(0, duration), maxAllowed))
	m.showGuard()
	if until := m.snap.Guard.AllowedUntil; !until.IsZero() {
		m.notify("No limits until " + until.Format("15:04"))
	} else {
		m.notify("The limits hold again")
	}
}

// maxAllowed is how long limits may be lifted; who wants more changes them.
const maxAllowed = 24 * time.Hour

// showGuard shows what the guard does, and looks again when that changes by
// itself.
func (m *machine) showGuard() {
	guard := m.app.cfg.Guard
	if guard == nil {
		return
	}
	s := guard.State()
	shown := GuardStatus{Reached: s.Reached, Until: s.Until, AllowedUntil: s.AllowedUntil, RunsHour: s.RunsHour}
	if !s.SpentDay.IsZero() {
		shown.SpentDay = s.SpentDay.Dollars()
	}
	if shown.Reached != "" && shown.Reached != m.snap.Guard.Reached {
		m.notify("Limit reached: " + shown.Reached + ". Free again at " + shown.Until.Format("15:04"))
		m.app.cfg.Logger.Warn("a spend limit is reached; requests are refused", "limit", shown.Reached, "until", shown.Until.Format(time.RFC3339))
	}
	m.snap.Guard = shown
	next := time.Duration(never)
	if shown.RunsHour > 0 || shown.SpentDay != "" {
		next = guardInterval
	}
	for _, at := range []time.Time{shown.Until, shown.AllowedUntil} {
		if !at.IsZero() {
			next = min(next, max(time.Millisecond, time.Until(at)))
		}
	}
	m.guardLook.Reset(next)
}

// PastOf tells a guard what a ledger knows.
func PastOf(book interface {
	Load(ctx context.Context, since time.Time, step time.Duration, except string) ([]ledger.Load, error)
}) func(ctx context.Context, since time.Time) ([]spend.Past, error) {
	return func(ctx context.Context, since time.Time) ([]spend.Past, error) {
		loads, err := book.Load(ctx, since, spend.Step, spend.CodePrefix)
		var past []spend.Past
		for _, l := range loads {
			past = append(past, spend.Past{At: l.At, Editor: l.Editor, Runs: l.Runs, Cost: l.Cost})
		}
		return past, err
	}
}
