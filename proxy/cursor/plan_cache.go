package cursor

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	// The time without calls after ones that failed, doubled with each.
	planRetryFirst = time.Minute
	planRetryLast  = 30 * time.Minute
)

// planCache keeps the figures of the last answer. It starts no goroutine: of
// the callers that need new figures one asks, and the others wait.
type planCache struct {
	fetch func(ctx context.Context) (Plan, error)

	mu       sync.Mutex
	last     Plan        // Fetched is zero if there is none
	problem  *chat.Error // of the newest try
	failures int         // in a row
	retryAt  time.Time   // no calls before, except for a user who wants one
	asked    time.Time   // until then Cursor wants no calls at all
	lookup   *planLookup // the running one
}

type planLookup struct {
	done chan struct{}
	plan Plan  // valid after done
	err  error // valid after done
}

// get returns figures that are not older than maxAge. With an error it returns
// the last ones there are, however old. 0 stands for a user who does not want
// to wait until enough time has passed since a failure.
func (c *planCache) get(ctx context.Context, maxAge time.Duration) (Plan, error) {
	for {
		c.mu.Lock()
		if age := time.Since(c.last.Fetched); maxAge > 0 && c.problem == nil && age <= maxAge && age >= 0 {
			defer c.mu.Unlock()
			return c.last, nil
		}
		if c.problem != nil && c.lookup == nil && c.waits(maxAge) {
			defer c.mu.Unlock()
			return c.last, c.problem
		}
		l, mine := c.lookup, false
		if l == nil {
			l, mine = &planLookup{done: make(chan struct{})}, true
			c.lookup = l
		}
		c.mu.Unlock()
		if mine {
			c.ask(ctx, l)
			return l.plan, l.err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return c.current(), chat.AsError(ctx.Err())
		}
		if l.err == nil || chat.AsError(l.err).Kind != chat.Canceled {
			return l.plan, l.err
		}
		// The one who asked has left before the answer.
	}
}

// waits says whether it is too early after a failure. It needs c.mu.
func (c *planCache) waits(maxAge time.Duration) bool {
	now := time.Now()
	return now.Before(c.asked) || maxAge > 0 && now.Before(c.retryAt)
}

func (c *planCache) ask(ctx context.Context, l *planLookup) {
	defer close(l.done)
	l.plan, l.err = c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lookup != l { // another account
		l.plan, l.err = Plan{}, &chat.Error{Kind: chat.Canceled, Message: "the login has changed"}
		return
	}
	c.lookup = nil
	if l.err == nil {
		c.last, c.problem, c.failures, c.retryAt, c.asked = l.plan, nil, 0, time.Time{}, time.Time{}
		return
	}
	l.plan = c.last
	problem := chat.AsError(l.err)
	if problem.Kind == chat.Canceled {
		return
	}
	c.problem = problem
	c.failures++
	now := time.Now()
	c.asked = now.Add(min(problem.RetryAfter, planRetryLast))
	c.retryAt = later(c.asked, now.Add(min(planRetryFirst<<min(c.failures-1, 10), planRetryLast)))
}

// current returns the last figures.
func (c *planCache) current() Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// nextTry returns when calls make sense again; zero is now.
func (c *planCache) nextTry() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.retryAt
}

// forget drops what is known, and the answer of a call that is under way.
func (c *planCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.problem, c.failures, c.retryAt, c.asked, c.lookup = Plan{}, nil, 0, time.Time{}, time.Time{}, nil
}
