package agentcli

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// endless is a script that streams until it is ended.
func endless() agentsim.Script {
	return agentsim.Script{Mode: agentsim.Stream, Count: 1 << 20, Interval: 5 * time.Millisecond}
}

// TestRS4_ClientLeaves ends turns at every stage and expects the child, and what
// it started, to be gone soon.
func TestRS4_ClientLeaves(t *testing.T) {
	silent := agentsim.Script{Mode: agentsim.Hold}
	tool := agentsim.Script{Mode: agentsim.Stream, OpenTool: time.Minute}
	family := endless()
	family.Grandchild = true
	stubborn := endless()
	stubborn.IgnoreTerm, stubborn.Grandchild = true, true
	for _, tt := range []struct {
		name   string
		script agentsim.Script
		leave  func(r *rig, t *testing.T) bool // when to leave; nil is at the first event
		limit  time.Duration
	}{
		{"before the first byte", silent, func(r *rig, t *testing.T) bool { return r.live(t) > 0 }, time.Second},
		{"in a tool", tool, func(r *rig, t *testing.T) bool { return len(r.runs(t)) > 0 }, time.Second},
		{"in mid-text", endless(), nil, time.Second},
		{"with a grandchild", family, nil, time.Second},
		{"when signals are ignored", stubborn, nil, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.script, func(c *Config) { c.Environ = append(c.Environ, "CURSOR_API_KEY=key_0123456789abcdef") })
			r.found.Store(&program{command: command{path: self(t)}}) // a holding fake does not tell its version
			ctx, cancel := context.WithCancel(t.Context())
			var left time.Time
			leave := sync.OnceFunc(func() { left = time.Now(); cancel() })
			var watcher sync.WaitGroup
			if tt.leave != nil {
				watcher.Go(func() {
					eventually(t, 10*time.Second, "time to leave", func() bool { return tt.leave(r, t) })
					leave()
				})
			}
			tr := listen(ctx, r, hello(), func(chat.Event) { leave() })
			watcher.Wait()
			if tr.err == nil || chat.AsError(tr.err).Kind != chat.Canceled {
				t.Errorf("the turn ended with %v", tr.err)
			}
			eventually(t, tt.limit, "the processes are gone", func() bool { return r.live(t) == 0 })
			t.Logf("gone after %v", time.Since(left))
		})
	}
}

// TestRS4_LoopIsLeft breaks out of the loop instead of ending the context.
func TestRS4_LoopIsLeft(t *testing.T) {
	r := newRig(t, endless())
	for event, err := range r.Chat(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := event.(chat.TextDelta); ok {
			break
		}
	}
	eventually(t, time.Second, "the process is gone", func() bool { return r.live(t) == 0 })
}

// TestRS4_PanicInTheLoop must not leave a process behind either.
func TestRS4_PanicInTheLoop(t *testing.T) {
	r := newRig(t, endless())
	func() {
		defer func() { _ = recover() }()
		for range r.Chat(t.Context(), hello()) {
			panic("the client's handler failed")
		}
	}()
	eventually(t, time.Second, "the process is gone", func() bool { return r.live(t) == 0 })
}

// TestRS4_QuitWithLiveRuns closes the back-end under three runs.
func TestRS4_QuitWithLiveRuns(t *testing.T) {
	script := endless()
	script.Grandchild = true
	r := newRig(t, script)
	started := make(chan struct{}, 3)
	results := make(chan error, 3)
	for range 3 {
		go func() {
			once := sync.OnceFunc(func() { started <- struct{}{} })
			results <- listen(t.Context(), r, hello(), func(chat.Event) { once() }).err
		}()
	}
	for range 3 {
		<-started
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := r.live(t); n != 0 {
		t.Errorf("%d processes after Close", n)
	}
	for range 3 {
		if err := <-results; err == nil || chat.AsError(err).Kind != chat.ShuttingDown {
			t.Errorf("a turn ended with %v", err)
		}
	}
}

// TestLingeringChild: the answer ends with the result, however long the process
// and its family stay. The turn is over while they still live.
func TestLingeringChild(t *testing.T) {
	for _, family := range []bool{false, true} {
		t.Run("grandchild="+strconv.FormatBool(family), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 3, Linger: true, Grandchild: family, IgnoreTerm: true})
			tr := listen(t.Context(), r, hello(), nil)
			if !tr.finished() || tr.err != nil {
				t.Fatalf("the turn ended with %v", tr.err)
			}
			if r.live(t) == 0 {
				t.Fatal("the process did not linger, so the test shows nothing")
			}
			eventually(t, lingerGrace+killDelay+2*time.Second, "the lingering process is gone", func() bool { return r.live(t) == 0 })
		})
	}
}

// TestLingeringChildMakesRoom: while others wait, a process that is done does not
// hold its place for the whole grace.
func TestLingeringChildMakesRoom(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 1, Linger: true}, func(c *Config) { c.MaxRuns = 1 })
	r.answer(t, hello())
	start := time.Now()
	r.answer(t, hello())
	if took := time.Since(start); took > lingerGrace {
		t.Errorf("the second request waited %v", took)
	}
}

// TestPipeHeldFromOutside: a process that left the group cannot be ended, but it
// must not hold up the answer that broke off.
func TestPipeHeldFromOutside(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 3, Cut: true, Grandchild: true, Detach: true})
	tr := listen(t.Context(), r, hello(), nil)
	if tr.text() == "" || tr.err == nil || chat.AsError(tr.err).Code != info(classIncomplete).code {
		t.Errorf("text %q, error %v", tr.text(), tr.err)
	}
	endStrays(t, r.pids)
}

// TestST10_EndOfTheProcessIsNoSuccess: the end of the process is not the end of an
// answer.
func TestST10_EndOfTheProcessIsNoSuccess(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script agentsim.Script
		class  string
		text   bool
	}{
		{"exit 0", agentsim.Script{Mode: agentsim.Stream, Count: 2, Cut: true}, classIncomplete, true},
		{"exit 1", agentsim.Script{Mode: agentsim.Stream, Count: 2, Cut: true, Exit: 1}, classUnknown, true},
		{"killed", agentsim.Script{Mode: agentsim.Stream, Count: 2, Cut: true, Signal: "SIGKILL"}, classKilled, true},
		{"killed before anything", agentsim.Script{Mode: agentsim.Stream, Cut: true, Signal: "SIGKILL"}, classKilled, false},
		{"silent", agentsim.Script{Mode: agentsim.Stream, Count: 2, Cut: true, Linger: true}, classTimeout, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.script, func(c *Config) { c.Timeouts.Idle = 300 * time.Millisecond })
			tr := listen(t.Context(), r, hello(), nil)
			if tr.finished() || tr.err == nil || classOf(chat.AsError(tr.err)) != tt.class || (tr.text() != "") != tt.text {
				t.Errorf("text %q, finished %v, error %v", tr.text(), tr.finished(), tr.err)
			}
		})
	}
}

// TestRS2_TwoBudgetsOfSilence: a tool of the CLI may be silent for longer than
// the run.
func TestRS2_TwoBudgetsOfSilence(t *testing.T) {
	limits := Timeouts{Idle: 150 * time.Millisecond, Tool: 20 * time.Second}
	tool := agentsim.Script{Mode: agentsim.Stream, Count: 1, OpenTool: 600 * time.Millisecond}
	r := newRig(t, tool, func(c *Config) { c.Timeouts = limits })
	if got := r.answer(t, hello()); got.Text == "" {
		t.Error("no answer after the tool")
	}
	limits.Tool = 150 * time.Millisecond
	r = newRig(t, tool, func(c *Config) { c.Timeouts = limits })
	if err := r.refused(t, hello()); err.Kind != chat.Timeout {
		t.Errorf("error %v", err)
	}
	tool.ToolArgs = `{"command":"make","timeout":5000}` // plus some slack
	r = newRig(t, tool, func(c *Config) { c.Timeouts = limits })
	if got := r.answer(t, hello()); got.Text == "" {
		t.Error("no answer after a tool with a time of its own")
	}
}

// TestRS2_WholeRunIsLimited: also a run that never falls silent ends.
func TestRS2_WholeRunIsLimited(t *testing.T) {
	r := newRig(t, endless(), func(c *Config) { c.Timeouts.Run = 2 * time.Second })
	tr := listen(t.Context(), r, hello(), nil)
	if tr.text() == "" || tr.finished() || tr.err == nil || chat.AsError(tr.err).Kind != chat.Timeout {
		t.Errorf("text of %d bytes, error %v", len(tr.text()), tr.err)
	}
}

// TestRS2_SlowClientIsNoSilence: while the client takes its time, the CLI is not
// to blame.
func TestRS2_SlowClientIsNoSilence(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 200, Size: 1000, Interval: time.Millisecond}, func(c *Config) {
		c.Timeouts.Idle = 200 * time.Millisecond
	})
	first := true
	tr := listen(t.Context(), r, hello(), func(chat.Event) {
		if first {
			first = false
			pause := time.NewTimer(500 * time.Millisecond)
			<-pause.C
		}
	})
	if !tr.finished() {
		t.Errorf("the turn ended with %v", tr.err)
	}
}

// TestContract runs the suite that every back-end has to pass.
func TestContract(t *testing.T) {
	chattest.Suite(t, chattest.Harness{
		Model: "auto",
		New: func(t *testing.T, script chattest.Script) chattest.Instance {
			r := newRig(t, agentsim.Script{Mode: agentsim.Moves, Answer: moves(script.Answer), After: moves(script.After)})
			return chattest.Instance{Backend: r, Live: func() int { return r.live(t) }}
		},
	})
}

// moves says a script of the suite in the fake's words.
func moves(list []chattest.Move) []agentsim.Move {
	var out []agentsim.Move
	for _, move := range list {
		switch m := move.(type) {
		case chattest.Say:
			out = append(out, agentsim.Move{Say: m.Text})
		case chattest.Think:
			out = append(out, agentsim.Move{Think: m.Text})
		case chattest.Use:
			out = append(out, agentsim.Move{Use: &agentsim.Use{Name: m.Name, Arguments: []byte(m.Arguments)}})
		case chattest.Report:
			u := agentsim.Figures(m.Usage)
			out = append(out, agentsim.Move{Usage: &u})
		case chattest.Die:
			out = append(out, agentsim.Move{Die: true})
		case chattest.Hang:
			out = append(out, agentsim.Move{Hang: true})
		}
	}
	return out
}
