package cursor

import (
	"context"
	"sync"
	"time"
)

const (
	menuFresh   = 30 * time.Second // figures that a menu shows when it opens
	menuRecent  = time.Hour        // after it opened, figures are kept fresh
	runQuiet    = 15 * time.Second // after a run, perhaps the next one begins
	runPatience = 90 * time.Second // however many runs there are
	planPause   = 5 * time.Second  // between calls that nobody wants
)

// planSource is where a PlanWatch has the figures from.
type planSource interface {
	Plan(ctx context.Context, maxAge time.Duration) (Plan, error)
	nextPlanTry() time.Time
}

// PlanWatch decides when to ask for the plan's figures: at once when the user
// wants it or opens the menu, a while after runs, and regularly as long as the
// menu was open of late. After failures it asks less and less often.
type PlanWatch struct {
	source planSource
	show   func(Plan, error)
	wake   chan struct{} // holds one

	mu       sync.Mutex
	fetched  time.Time // of the figures that are shown
	tried    time.Time // end of the last call
	wanted   bool      // by the user
	opened   time.Time // the menu, last
	stale    bool      // the menu was opened with old figures, and they were not asked for since
	firstRun time.Time // that ended since the figures were asked for; zero: none
	lastRun  time.Time
}

// WatchPlan returns a PlanWatch that hands the figures, or the last ones and
// the error of newer ones, to show. It does nothing until Run.
func (a *Account) WatchPlan(show func(Plan, error)) *PlanWatch { return newPlanWatch(a, show) }

func newPlanWatch(source planSource, show func(Plan, error)) *PlanWatch {
	return &PlanWatch{source: source, show: show, wake: make(chan struct{}, 1), wanted: true}
}

// Run asks for the figures whenever it is time, until ctx ends. It calls show
// from its own goroutine.
func (w *PlanWatch) Run(ctx context.Context) {
	for ctx.Err() == nil {
		at, forced, ok := w.next()
		if !ok {
			select {
			case <-w.wake:
			case <-ctx.Done():
			}
			continue
		}
		if wait := time.Until(at); wait > 0 {
			w.sleep(ctx, wait)
			continue
		}
		maxAge := time.Nanosecond
		if forced {
			maxAge = 0
		}
		w.begin()
		plan, err := w.source.Plan(ctx, maxAge)
		if ctx.Err() != nil {
			return
		}
		w.end(plan)
		w.show(plan, err)
	}
}

// sleep waits, or until something happens.
func (w *PlanWatch) sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.wake:
	case <-ctx.Done():
	}
}

// Refresh asks at once: the user wants it, or has logged in.
func (w *PlanWatch) Refresh() { w.note(func() { w.wanted = true }) }

// MenuOpened asks at once if the figures are not from just now.
func (w *PlanWatch) MenuOpened() {
	w.note(func() {
		w.opened = time.Now()
		w.stale = w.stale || w.opened.Sub(w.fetched) > menuFresh
	})
}

// RunEnded asks a while later: the figures have changed.
func (w *PlanWatch) RunEnded() {
	w.note(func() {
		w.lastRun = time.Now()
		if w.firstRun.IsZero() {
			w.firstRun = w.lastRun
		}
	})
}

func (w *PlanWatch) note(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns when to ask; false if nothing calls for it.
func (w *PlanWatch) next() (at time.Time, forced, ok bool) {
	retry := w.source.nextPlanTry()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wanted {
		return time.Time{}, true, true
	}
	soon := later(w.tried.Add(planPause), retry)
	consider := func(t time.Time) {
		t = later(t, soon)
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if w.stale {
		consider(w.opened)
	}
	if !w.firstRun.IsZero() {
		quiet, patience := w.lastRun.Add(runQuiet), w.firstRun.Add(runPatience)
		if patience.Before(quiet) {
			quiet = patience
		}
		consider(quiet)
	}
	if regular := later(w.fetched.Add(planInterval), soon); !w.opened.IsZero() && regular.Before(w.opened.Add(menuRecent)) {
		consider(regular)
	}
	return at, false, ok
}

// begin notes that what was asked for is being done.
func (w *PlanWatch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted, w.stale, w.firstRun = false, false, time.Time{}
}

func (w *PlanWatch) end(plan Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fetched, w.tried = plan.Fetched, time.Now()
}

func later(t, u time.Time) time.Time {
	if t.Before(u) {
		return u
	}
	return t
}
