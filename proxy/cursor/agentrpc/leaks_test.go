package agentrpc

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

// disturbed is what happens to the runs of TestRandomDisconnects.
func disturbed(s *session) error {
	if rand.N(3) == 0 {
		if err := s.call(1, "read", nil); err != nil {
			return err
		}
		if _, err := s.result(); err != nil {
			return err
		}
	}
	for range rand.N(20) {
		if err := s.say("some text "); err != nil {
			return err
		}
	}
	switch rand.N(4) {
	case 0:
		return failure(14)
	case 1:
		return s.hang()
	}
	if err := s.checkpoint(used(1, 2)); err != nil {
		return err
	}
	return s.end(nil)
}

// whim is a client that leaves when it likes.
func whim(ctx context.Context, b *bench) {
	ctx, cancel := context.WithTimeout(ctx, rand.N(80*time.Millisecond))
	defer cancel()
	req := toolRequest("read")
	var a answer
	stop := rand.N(30)
	for e := range b.Chat(ctx, req) {
		if c, ok := e.(chat.ToolCall); ok {
			a.calls = append(a.calls, c)
		}
		if stop--; stop == 0 {
			break
		}
	}
	if len(a.calls) == 0 || rand.N(2) == 0 {
		return
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), rand.N(80*time.Millisecond))
	defer cancel()
	for range b.Chat(ctx, with(req, a, results(a, "milk")...)) {
		if stop--; stop == 0 {
			break
		}
	}
}

// After many runs with clients that leave at any time and a service that fails
// at any time, everything is back to where it was.
func TestRS4_RandomDisconnectsLeaveNothingBehind(t *testing.T) {
	b := newBench(t, disturbed, func(cfg *Config, times *timing) {
		cfg.MaxRuns = 64
		times.tool = 200 * time.Millisecond
	})
	b.ask(t, words("warm up"))
	eventually(t, "quiet", func() bool { return b.service.live.Load() == 0 })
	before := runtime.NumGoroutine()
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 25 {
				whim(t.Context(), b)
			}
		})
	}
	clients.Wait()
	eventually(t, "the end of all runs", func() bool { return b.service.live.Load() == 0 && len(b.runs.opened()) == 0 })
	eventually(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before+2 })
	b.runs.mu.Lock()
	defer b.runs.mu.Unlock()
	for id, c := range b.runs.calls {
		if c.answer == nil {
			t.Errorf("the call %s of a run that is over is still known", id)
		}
	}
}
