package app

import (
	"context"
	"time"
)

const (
	// wakeInterval is how often the clock is looked at, and slept how far it has
	// to have moved meanwhile for a sleep of the machine. No system's own event
	// is needed for that. Timers do not tell: on Linux they stand still in a sleep.
	wakeInterval = 15 * time.Second
	slept        = time.Minute
	// wakeLimit is for what is renewed after a sleep; networks take a while to
	// come back.
	wakeLimit = 30 * time.Second
)

// wall returns the time of the day, without the reading of the clock that
// stands still.
func (m *machine) wall() time.Time { return m.app.cfg.Now().Round(0) }

// lookAtClock finds out whether the machine has slept.
func (m *machine) lookAtClock() {
	now := m.wall()
	gone := now.Sub(m.lastLook)
	m.lastLook = now
	if gone > slept && !m.quitting {
		m.app.cfg.Logger.Info("the machine has slept", "about", gone.Round(time.Second))
		m.woke()
	}
}

// woke makes good what a sleep has spoilt: connections are dead, the login may
// have run out, figures are old, and timers come too late.
func (m *machine) woke() {
	m.showAges()
	wake := m.app.cfg.Wake
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		if wake != nil {
			ctx, cancel := context.WithTimeout(ctx, wakeLimit)
			defer cancel()
			wake(ctx)
		}
		return func(m *machine) {
			if m.quitting {
				return
			}
			m.check()
			if m.plan.watch != nil {
				m.plan.watch.Refresh()
			}
			m.loadModels(false)
			m.readAccount()
		}
	})
}
