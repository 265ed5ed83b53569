package agentrpc

import (
	"context"
	"math/rand/v2"
	"time"
)

// maxRuns is how many runs one request of a client may cost, whatever they are
// for: nothing multiplies.
const maxRuns = 3

// budget counts the runs of one request.
type budget struct {
	times timing
	runs  int
	tried [rebuild + 1]int // how often each remedy was used
}

// allows says whether a remedy is left, and notes its use. What did not help
// once does not help twice, except time and, for a history in blobs that the
// service cannot read, one in words.
func (b *budget) allows(r remedy) bool {
	limit := 1
	if r == waitAndTry || r == rebuild {
		limit = maxRuns
	}
	if r == giveUp || b.runs >= maxRuns || b.tried[r] >= limit {
		return false
	}
	b.tried[r]++
	return true
}

// wait waits before the next run. asked is what the service wants, 0 if it
// named no time. It returns false if the service wants too long, or if ctx ends.
func (b *budget) wait(ctx context.Context, asked time.Duration) bool {
	pause := asked
	if asked == 0 {
		// All of it is random, so that many clients do not come back at once.
		pause = rand.N(min(b.times.pause<<max(b.runs-1, 0), b.times.maxPause)) + 1
	}
	if pause > b.times.maxWait {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
