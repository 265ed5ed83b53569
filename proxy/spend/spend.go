// Package spend keeps an editor that runs wild from using up a plan: it counts
// runs and what they cost, for each editor and for all together, and refuses
// further ones at the limits that the user set, until some time has passed or
// the user lifts them. A run is one request for a model that was let through,
// also one that brings the result of a tool, because that is what an agent
// that goes in circles sends.
//
// It knows neither prices nor files nor who an editor is. It starts no
// goroutine.
package spend

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/money"
)

// Limits are bounds on an hour and a day; zero is none. A limit is reached when
// as much was used in the time that lies behind.
type Limits struct {
	RunsHour, RunsDay   int
	MoneyHour, MoneyDay money.Amount
}

// Past is what an editor used before the Guard was made.
type Past struct {
	At     time.Time
	Editor string
	Runs   int
	Cost   money.Amount
}

// Config is what a Guard needs.
type Config struct {
	All Limits // for all editors together
	// Each holds for every editor that is not in Editors, on its own.
	Each    Limits
	Editors map[string]Limits
	// Past tells what was used since a moment, in the order of time, so that a
	// restart forgets nothing. It is called once, before the first run or by
	// Warm. nil: nothing was.
	Past func(ctx context.Context, since time.Time) ([]Past, error)
	// Failed is told that Past could not tell. nil is nobody.
	Failed func(err error)
}

// Step is how exact a Guard keeps time.
const Step = 10 * time.Second

// pastTime bounds how long the first run waits for what is past.
const pastTime = 3 * time.Second

// Guard counts. Its methods may be called from any goroutine.
type Guard struct {
	cfg  Config
	warm sync.Once

	mu      sync.Mutex
	all     *usage
	editors map[string]*usage
	allowed time.Time // until when no limit counts
	reached *reached  // the last refusal
}

// usage is what somebody used.
type usage struct{ hour, day window }

func newUsage() *usage {
	return &usage{
		hour: window{span: time.Hour, step: Step},
		day:  window{span: 24 * time.Hour, step: time.Minute},
	}
}

func (u *usage) add(at time.Time, runs int, cost money.Amount) {
	u.hour.add(at, runs, cost)
	u.day.add(at, runs, cost)
}

// New returns a Guard.
func New(cfg Config) *Guard {
	return &Guard{cfg: cfg, all: newUsage(), editors: map[string]*usage{}}
}

// Warm reads what is past, unless that was done, so that no run has to wait.
func (g *Guard) Warm(ctx context.Context) {
	g.warm.Do(func() {
		if g.cfg.Past == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, pastTime)
		defer cancel()
		now := time.Now()
		past, err := g.cfg.Past(ctx, now.Add(-24*time.Hour))
		if err != nil && g.cfg.Failed != nil {
			g.cfg.Failed(err)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, p := range past {
			if p.At.After(now) {
				p.At = now // by a clock that was wrong
			}
			g.all.add(p.At, p.Runs, p.Cost)
			g.editor(p.Editor).add(p.At, p.Runs, p.Cost)
		}
	})
}

func (g *Guard) editor(id string) *usage {
	u := g.editors[id]
	if u == nil {
		u = newUsage()
		g.editors[id] = u
	}
	return u
}

// Admit counts a run of an editor, or refuses it with the error for the client.
// Refused ones are not counted.
func (g *Guard) Admit(ctx context.Context, editor string) *chat.Error {
	// What is past serves all runs, and the first one's client may leave.
	g.Warm(context.WithoutCancel(ctx))
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if hit := g.find(editor, now); hit != nil && !now.Before(g.allowed) {
		g.reached = hit
		return hit.refusal(now)
	}
	g.all.add(now, 1, money.Amount{})
	g.editor(editor).add(now, 1, money.Amount{})
	return nil
}

// Spent adds what a run of an editor turned out to cost.
func (g *Guard) Spent(editor string, cost money.Amount) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	g.all.add(now, 0, cost)
	g.editor(editor).add(now, 0, cost)
}

// Allow lifts all limits for a while; what is used meanwhile counts. 0 ends it.
func (g *Guard) Allow(duration time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed, g.reached = time.Now().Add(duration), nil
}

// State is what the user sees of a Guard.
type State struct {
	Reached string    // which limit refused the last run, in words; "" is none, or it is free again
	Until   time.Time // when it is free again
	// AllowedUntil is when lifted limits count again; zero when they do.
	AllowedUntil time.Time
	RunsHour     int // of all editors in the last hour
	SpentDay     money.Amount
}

// State returns the present state.
func (g *Guard) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	s := State{RunsHour: g.all.hour.runsAt(now), SpentDay: g.all.day.costAt(now)}
	if now.Before(g.allowed) {
		s.AllowedUntil = g.allowed
	}
	if g.reached != nil {
		// Another limit may have come to keep it closed for longer.
		if g.reached = g.find(g.reached.editor, now); g.reached != nil {
			s.Reached, s.Until = g.reached.String(), g.reached.free
		}
	}
	return s
}

// find returns the limit that an editor has reached, if there is any: the one
// that lasts longest.
func (g *Guard) find(editor string, now time.Time) *reached {
	limits, named := g.cfg.Editors[editor]
	if !named {
		limits = g.cfg.Each
	}
	var hit *reached
	for _, r := range [...]*reached{
		g.all.reaches(g.cfg.All, now),
		g.editor(editor).reaches(limits, now).of(editor),
	} {
		if r != nil && (hit == nil || r.free.After(hit.free)) {
			hit = r
		}
	}
	if hit != nil {
		hit.editor = editor
	}
	return hit
}
