package agentrpc

import (
	"slices"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// registry knows the open runs and the calls that clients know of.
type registry struct {
	max   int // open runs
	times timing

	mu     sync.Mutex
	closed bool
	open   []*run // oldest first
	calls  map[string]*toolCall
	past   []*outcome // of requests that brought results, oldest first
}

const (
	maxPast      = 1024
	maxPastBytes = 16 << 20
)

func newRegistry(limit int, times timing) *registry {
	return &registry{max: limit, times: times, calls: make(map[string]*toolCall)}
}

// admit counts a run as open. If there are too many, the one that waits for its
// client the longest is given up.
func (g *registry) admit(r *run) *chat.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return shuttingDown()
	}
	if len(g.open) >= g.max {
		idle := g.idle(func(*run) bool { return true })
		if idle == nil {
			return &chat.Error{Kind: chat.Overloaded, Code: CodeTooMany, RetryAfter: overloadPause,
				Message: "too many answers are under way at once; try again in a moment"}
		}
		g.dismiss(idle)
	}
	g.open = append(g.open, r)
	return nil
}

// supersede gives up the parked runs of the conversation that a new run is for:
// those whose calls are in its history, and those of the same session and
// task.
func (g *registry) supersede(messages []chat.Message, c *conversation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range messages {
		for _, p := range m.Parts {
			if use, ok := p.(chat.ToolUse); ok {
				if call := g.calls[use.ID]; call != nil && call.answer == nil {
					g.dismissIdle(call.run)
				}
			}
		}
	}
	if c.session == "" {
		return
	}
	for _, r := range slices.Clone(g.open) {
		if r.conv != c && r.conv.session == c.session && r.conv.surroundings == c.surroundings {
			g.dismissIdle(r)
		}
	}
}

// idle returns the run that is parked the longest among those that fit. It
// needs g.mu, like the next two.
func (g *registry) idle(fits func(*run) bool) *run {
	var oldest *run
	var since time.Time
	for _, r := range g.open {
		if parked := r.parkedSince(); !parked.IsZero() && fits(r) && (oldest == nil || parked.Before(since)) {
			oldest, since = r, parked
		}
	}
	return oldest
}

func (g *registry) dismissIdle(r *run) {
	if !r.parkedSince().IsZero() {
		g.dismiss(r)
	}
}

func (g *registry) dismiss(r *run) {
	g.remove(r)
	r.leave(&fault{err: &chat.Error{Kind: chat.Canceled, Message: "another run took the place of this one"}})
}

// parkedSince returns when the run was left by its turn; zero if it has one.
func (r *run) parkedSince() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held.attached {
		return time.Time{}
	}
	return r.held.since
}

// gone forgets a run that is over, and the calls that wait for results: whoever
// brings one now gets an answer from the history.
func (g *registry) gone(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(r)
}

// remove needs g.mu.
func (g *registry) remove(r *run) {
	g.open = slices.DeleteFunc(g.open, func(other *run) bool { return other == r })
	for id, c := range g.calls {
		if c.run == r && c.answer == nil {
			delete(g.calls, id)
		}
	}
}

// know remembers a call for the request that brings its result.
func (g *registry) know(c *toolCall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls[c.id] = c
}

// claim finds the run that waits for results, attaches it and begins the
// outcome of the request that brings them. If the same request has brought them
// before, its outcome is returned without a run. Both are nil if nobody waits.
func (g *registry) claim(results []chat.ToolResult, print fingerprint) (*run, *outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expire(time.Now())
	// With results for two runs, the one that was asked for last wins.
	for i := len(results) - 1; i >= 0; i-- {
		c := g.calls[results[i].CallID]
		switch {
		case c == nil:
		case c.answer != nil && c.answer.print == print:
			return nil, c.answer
		case c.answer == nil && c.run.attach():
			return c.run, g.begin(c.run, print)
		}
	}
	return nil, nil
}

// begin makes the outcome for a run's calls. It needs g.mu.
func (g *registry) begin(r *run, print fingerprint) *outcome {
	o := newOutcome(print)
	g.past = append(g.past, o)
	for _, c := range g.calls {
		if c.run == r && c.answer == nil && c.isHanded() {
			// The run is not remembered for as long as its outcome.
			g.calls[c.id] = &toolCall{id: c.id, answer: o}
			o.ids = append(o.ids, c.id)
		}
	}
	return o
}

func (c *toolCall) isHanded() bool {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	return c.handed
}

// expire forgets outcomes that are too old or too many. It needs g.mu.
func (g *registry) expire(now time.Time) {
	slices.Reverse(g.past) // newest first
	number, total := 0, 0
	g.past = slices.DeleteFunc(g.past, func(o *outcome) bool {
		if !o.isOver() {
			return false
		}
		number, total = number+1, total+o.bytes
		old := !o.isGood() || number > maxPast || total > maxPastBytes || now.Sub(o.begun) > g.times.remember
		if old {
			for _, id := range o.ids {
				delete(g.calls, id)
			}
		}
		return old
	})
	slices.Reverse(g.past)
}

// close gives up all runs and refuses new ones. It returns those that are
// still open.
func (g *registry) close() []*run {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return slices.Clone(g.open)
}

// opened returns the open runs.
func (g *registry) opened() []*run {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.open)
}

func (g *registry) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
