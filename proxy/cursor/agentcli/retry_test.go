package agentcli

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// TestRS6_OneRetryAtMost: a failure that passes is tried once more, and only when
// nothing was sent.
func TestRS6_OneRetryAtMost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script agentsim.Script
		kind   chat.Kind
		runs   int
	}{
		{"overloaded each time", agentsim.Script{Fail: "Error: [resource_exhausted] no capacity"}, chat.Overloaded, 2},
		{"network each time", agentsim.Script{Fail: "Error: [unavailable] connection stalled"}, chat.BadGateway, 2},
		{"quota", agentsim.Script{Fail: "Error: You've hit your usage limit"}, chat.QuotaSpent, 1},
		{"login", agentsim.Script{LoggedOut: true}, chat.LoginRequired, 1},
		{"a long wait is the client's", agentsim.Script{Fail: "Error: rate limit, try again in 60 seconds"}, chat.RateLimited, 1},
		{"after text", agentsim.Script{Mode: agentsim.Stream, Count: 1, Cut: true, Stderr: "Error: ECONNRESET\n", Exit: 1}, chat.BadGateway, 1},
		{"after thinking", agentsim.Script{Mode: agentsim.Stream, Thinking: 1, Cut: true, Stderr: "Error: ECONNRESET\n", Exit: 1}, chat.BadGateway, 1},
		{"after a tool of the CLI", agentsim.Script{Mode: agentsim.Stream, OpenTool: 1, Cut: true, Stderr: "Error: ECONNRESET\n", Exit: 1}, chat.BadGateway, 1},
		{"before anything", agentsim.Script{Mode: agentsim.Stream, Cut: true, Stderr: "Error: ECONNRESET\n", Exit: 1}, chat.BadGateway, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tt.script)
			if err := r.refused(t, hello()); err.Kind != tt.kind {
				t.Errorf("error %v", err)
			}
			if n := len(r.runs(t)); n != tt.runs {
				t.Errorf("%d runs, want %d", n, tt.runs)
			}
		})
	}
}

// TestEM1_LimitAndShortage: the same code means either; the words decide.
func TestEM1_LimitAndShortage(t *testing.T) {
	for text, kind := range map[string]chat.Kind{
		"Error: [resource_exhausted] You've hit your usage limit. Resets on June 1.": chat.QuotaSpent,
		"Error: [resource_exhausted] Error":                                          chat.Overloaded,
	} {
		r := newRig(t, agentsim.Script{Fail: text})
		err := r.refused(t, hello())
		if err.Kind != kind || kind == chat.QuotaSpent && !strings.Contains(err.Message, "June 1") || kind == chat.Overloaded && err.RetryAfter == 0 {
			t.Errorf("%s: %v, retry after %v", text, err, err.RetryAfter)
		}
	}
}

func TestEM3_EmptyAnswerIsAnError(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream})
	if err := r.refused(t, hello()); err.Kind != chat.BadGateway || err.Message == "" {
		t.Errorf("error %v", err)
	}
}

// TestParallelStartsLoseTheSettingsFile starts ten at once, each of which fails
// once over the settings file.
func TestParallelStartsLoseTheSettingsFile(t *testing.T) {
	for _, files := range []bool{false, true} { // with settings of their own, and with the user's
		r := newRig(t, agentsim.Script{RaceDir: t.TempDir(), FileLogin: files}, func(c *Config) { c.MaxRuns = 10 })
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, err := r.ask(t, hello()); err != nil {
					t.Errorf("a turn failed: %v", err)
				}
			})
		}
		all.Wait()
		if n := len(r.runs(t)); n != 20 {
			t.Errorf("%d runs, want 20", n)
		}
	}
}

// TestOldBuildWithoutTrust: the flag is dropped once, and for good.
func TestOldBuildWithoutTrust(t *testing.T) {
	r := newRig(t, agentsim.Script{OldBuild: true})
	r.answer(t, hello())
	r.answer(t, hello())
	// The refusing run records nothing: it does not get that far.
	for _, run := range r.runs(t) {
		if slices.Contains(run.Argv, "--trust") {
			t.Errorf("argv %v", run.Argv)
		}
	}
	if n := r.starts(t); n != 5 { // version, status, refused, two runs
		t.Errorf("%d processes, want 5", n)
	}
}

// TestTC5_OwnToolsStayInside: what the CLI ran itself is no call for the client.
func TestTC5_OwnToolsStayInside(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 2, OpenTool: 1})
	req := hello()
	req.Tools = []chat.Tool{{Name: "shell"}, {Name: "bash"}}
	got := r.answer(t, req)
	if len(got.Calls) != 0 || got.Finish.Reason != chat.Stop || got.Text == "" {
		t.Errorf("answer %+v", got)
	}
}

// TestCallThatDoesNotCome: a model cannot be forced; the answer stands, and the log
// says what was wanted.
func TestCallThatDoesNotCome(t *testing.T) {
	for _, mode := range []chat.ToolChoice{{Mode: chat.ToolAny}, {Mode: chat.ToolNamed, Name: "bash"}, {}} {
		var log lockedBuffer
		r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 2}, func(c *Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		req := hello()
		req.Tools, req.Choice = []chat.Tool{{Name: "bash"}}, mode
		if got := r.answer(t, req); got.Text == "" || got.Finish.Reason != chat.Stop {
			t.Errorf("answer %+v", got)
		}
		if told := strings.Contains(log.String(), "wanted a call"); told != (mode.Mode != 0) {
			t.Errorf("choice %v, log:\n%s", mode, log.String())
		}
	}
}

// TestTC6_ToolLoop plays a whole tool loop.
func TestTC6_ToolLoop(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	req := userSays("Read the file /abs/a.txt and tell me its first line")
	req.Tools = []chat.Tool{{Name: "read", Description: "Reads a file", Schema: []byte(`{"type":"object","properties":{"filePath":{"type":"string"}},"required":["filePath"]}`)}}
	first := r.answer(t, req)
	if len(first.Calls) != 1 || first.Calls[0].Name != "read" || string(first.Calls[0].Arguments) != `{"filePath":"/abs/a.txt"}` || first.Finish.Reason != chat.ToolCalls {
		t.Fatalf("first answer %+v", first)
	}
	if first.Finish.Usage == nil || first.Finish.Usage.Output == 0 {
		t.Errorf("usage %+v", first.Finish.Usage)
	}
	req.Messages = append(req.Messages,
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.ToolUse{ID: first.Calls[0].ID, Name: "read", Arguments: string(first.Calls[0].Arguments)}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: first.Calls[0].ID, Content: []chat.Part{chat.Text{Text: "1: mark 17\n2: x"}}}}})
	if second := r.answer(t, req); !strings.HasPrefix(second.Text, "The first line is: mark 17") || second.Finish.Reason != chat.Stop {
		t.Errorf("second answer %+v", second)
	}
}

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, func() {})
		if err := q.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var order []int
		var all sync.WaitGroup
		for i := range maxWaiting {
			ctx := ctx
			if i != 0 {
				ctx = t.Context()
			}
			all.Go(func() {
				if err := q.enter(ctx); err != nil {
					if err.Kind != chat.Canceled || i != 0 {
						t.Errorf("request %d: %v", i, err)
					}
					return
				}
				order = append(order, i)
				q.leave()
			})
			synctest.Wait()
		}
		if err := q.enter(t.Context()); err == nil || err.Kind != chat.Overloaded || err.RetryAfter != 5*time.Second {
			t.Errorf("one more: %v", err)
		}
		cancel() // the first in line
		synctest.Wait()
		if len(q.waiting) != maxWaiting-1 {
			t.Errorf("%d wait after one left", len(q.waiting))
		}
		q.leave()
		all.Wait()
		if len(order) != maxWaiting-1 || !slices.IsSorted(order) || q.free != 1 {
			t.Errorf("order %v, %d free", order, q.free)
		}
		q.close()
		if err := q.enter(t.Context()); err == nil || err.Kind != chat.ShuttingDown {
			t.Errorf("after close: %v", err)
		}
	})
}

// TestLimitOfRuns: never more processes than the setting says.
func TestLimitOfRuns(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 10, Interval: 5 * time.Millisecond}, func(c *Config) { c.MaxRuns = 2 })
	r.answer(t, hello()) // the probes are over
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			listen(t.Context(), r, hello(), func(chat.Event) {
				if n := r.live(t); n > 2 {
					t.Errorf("%d processes at once", n)
				}
			})
		})
	}
	all.Wait()
	if n := len(r.runs(t)); n != 9 {
		t.Errorf("%d runs", n)
	}
}

// TestGate: children that share the user's settings start one after the other,
// but no start holds up the next for long.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newLock()
		first, err := passGate(t.Context(), gate)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		second, err := passGate(t.Context(), gate)
		if err != nil || time.Since(began) != gateTime {
			t.Errorf("waited %v, %v", time.Since(began), err)
		}
		first() // late, and without effect on the one inside
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := passGate(ctx, gate); err == nil {
			t.Error("two are inside")
		}
		second()
		third, err := passGate(t.Context(), gate)
		if err != nil {
			t.Fatal(err)
		}
		third()
	})
}

// TestStartsThatShareSettings: with the user's settings in place a child waits for
// the one that is starting; with its own it need not.
func TestStartsThatShareSettings(t *testing.T) {
	for _, share := range []bool{true, false} {
		r := newRig(t, agentsim.Script{FileLogin: share})
		r.answer(t, hello())
		starts := r.starts(t)
		if err := r.gate.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if share {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		_, err := chat.Collect(r.Chat(ctx, hello()))
		cancel()
		if started := r.starts(t) > starts; share == started || share != (err != nil) {
			t.Errorf("settings shared: %v, started: %v, error %v", share, started, err)
		}
		r.gate.release()
		r.answer(t, hello())
	}
}
