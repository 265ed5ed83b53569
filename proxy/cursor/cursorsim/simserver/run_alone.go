package simserver

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// checkAlone watches the beginning of a run. One that replaces another run of
// its conversation, or the oldest of too many, may meet it for a moment: the
// client ends the old one and opens the new one at the same time.
func (a *runs) checkAlone(life context.Context, r *Run, rivals []*Run) {
	grace := time.NewTimer(r.rules.Closing)
	defer grace.Stop()
	for {
		a.mu.Lock()
		changed, open := a.changed, slices.Clone(a.open)
		a.mu.Unlock()
		living := 0
		for _, o := range open {
			if o.living() {
				living++
			}
		}
		twice := slices.ContainsFunc(rivals, (*Run).living)
		if !twice && living <= r.rules.MaxOpen {
			return
		}
		select {
		case <-changed:
			continue
		case <-grace.C:
		case <-life.Done():
			if r.ctx.Err() != nil { // the new one was given up
				return
			}
		}
		if twice {
			r.violate("conversation-twice", "two runs of one conversation at once")
		}
		if living > r.rules.MaxOpen {
			r.violate("open-runs", fmt.Sprintf("%d runs at once, the limit is %d", living, r.rules.MaxOpen))
		}
		return
	}
}

// living tells whether a run's turn goes on.
func (r *Run) living() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && r.ctx.Err() == nil
}
