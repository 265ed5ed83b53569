package agentrpc

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// whimsical is a run of the service that does anything: it thinks, speaks, saves,
// calls, fails, hangs or breaks off.
func whimsical(r *simserver.Run) error {
	steps := []simserver.Step{simserver.Opening(), simserver.Thinking("hm")}
	for range rand.N(12) {
		steps = append(steps, simserver.Text("some text "), simserver.Pause(rand.N(2*time.Millisecond)))
	}
	if rand.N(2) == 0 {
		steps = append(steps, simserver.SetBlob(make([]byte, rand.N(32<<10))))
	}
	if rand.N(3) == 0 {
		steps = append(steps, simserver.Call("read", `{"path":"/a"}`), simserver.Text("I have read it."))
	}
	switch rand.N(8) {
	case 0:
		steps = append(steps, simserver.Fail(simserver.Failure("unavailable")))
	case 1:
		steps = append(steps, simserver.Hang())
	default:
		steps = append(steps, simserver.Text("Done."), simserver.Saved(1000, 200_000, `{"role":"user","content":"Do it."}`))
	}
	return simserver.Steps(steps...)(r)
}

// guest is a client that goes on with its conversation or leaves when it likes.
func guest(ctx context.Context, b *simulated, runs func() bool) {
	req := asked("Do it.")
	req.Tools = tools("read")
	for runs() {
		patience := rand.N([]time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second}[rand.N(3)])
		if rand.N(4) == 0 { // who waits as long as it takes, however busy the machine is
			patience = 3 * time.Second
		}
		turn, leave := context.WithTimeout(ctx, patience)
		a := answer{}
		events := rand.N(40)
		for e := range b.Chat(turn, req) {
			switch e := e.(type) {
			case chat.TextDelta:
				a.text += e.Text
			case chat.ToolCall:
				a.calls = append(a.calls, e)
			case chat.Finish:
				a.finish = &e
			}
			if events--; events == 0 {
				break
			}
		}
		leave()
		switch {
		case a.finish == nil || rand.N(3) == 0:
			return
		case len(a.calls) > 0:
			req = with(req, a, results(a, "milk")...)
		default:
			req = with(req, a, chat.Text{Text: "Go on."})
		}
	}
}

// visit lets guests come until the service has had that many runs.
func visit(t *testing.T, b *simulated, number int) {
	t.Helper()
	limit := b.sim.RunStats().Total + number
	more := func() bool { return b.sim.RunStats().Total < limit }
	var guests sync.WaitGroup
	for range 16 {
		guests.Go(func() {
			for more() {
				guest(t.Context(), b, more)
			}
		})
	}
	guests.Wait()
	eventually(t, "the end of all runs", func() bool { return b.sim.RunStats().Open == 0 && len(b.runs.opened()) == 0 })
	b.Forget()
	b.runs.mu.Lock()
	defer b.runs.mu.Unlock()
	for id, c := range b.runs.calls {
		if c.answer == nil {
			t.Errorf("the call %s of a run that is over is still known", id)
		}
	}
}

// heap is what is in use once all that can go has gone.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // pools give their things back in two steps
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// After a thousand runs with clients that leave at any time, goroutines, streams
// and memory are where they were, and the service has nothing to complain about.
func TestRS4_ThousandRunsLeaveNothingBehind(t *testing.T) {
	b := simulate(t, func(_ *Config, times *timing) { times.tool = 300 * time.Millisecond })
	// On a busy machine everything comes late; what has to come is checked all
	// the same.
	b.sim.ChangeRunRules(func(r *simserver.RunRules) {
		r.Closing, r.Slack, r.AnswerWithin = time.Minute, time.Minute, time.Minute
	})
	b.sim.ScriptAlways(whimsical)
	visit(t, b, 100)
	goroutines, memory := runtime.NumGoroutine(), heap()
	visit(t, b, 1000)
	eventually(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= goroutines })
	// The simulation remembers its runs. One that is left behind takes 40 KB.
	if grown := heap() - memory; grown > 4<<20 {
		t.Errorf("the heap has grown by %d KB", grown>>10)
	}
	stats := b.sim.RunStats()
	t.Logf("runs: %+v, heap %+d KB", stats, (heap()-memory)>>10)
	for _, outcome := range []simserver.Outcome{simserver.OutcomeEnded, simserver.OutcomeCanceled} {
		if stats.Ended[outcome] == 0 {
			t.Errorf("no run has %s", outcome)
		}
	}
}
