package agentcli

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// rig is a back-end whose CLI is a fake in real processes.
type rig struct {
	*Backend
	pids    string // marks of all processes
	records string
	folders string
}

// newRig makes a back-end over a CLI that follows the script. It is closed, and
// found without processes, at the end of the test.
func newRig(t *testing.T, script agentsim.Script, changes ...func(*Config)) *rig {
	t.Helper()
	r := &rig{pids: t.TempDir(), records: filepath.Join(t.TempDir(), "runs"), folders: t.TempDir()}
	config := Config{
		Binary: self(t), Workspaces: r.folders,
		Environ: append(os.Environ(), script.Environ(),
			agentsim.PidsEnv+"="+r.pids, agentsim.RecordEnv+"="+r.records,
			"GORACE=atexit_sleep_ms=0"), // a race-detecting binary sleeps before it exits
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, change := range changes {
		change(&config)
	}
	r.Backend = New(config)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if n := r.live(t); n != 0 {
			t.Errorf("%d processes outlive Close", n)
		}
		if left, _ := os.ReadDir(r.folders); len(left) != 0 {
			t.Errorf("folders outlive Close: %v", left)
		}
	})
	return r
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// setEnv adds a variable to what children get.
func setEnv(element string) func(*Config) {
	return func(c *Config) { c.Environ = append(c.Environ, element) }
}

func (r *rig) live(t *testing.T) int {
	t.Helper()
	n, err := agentsim.LiveProcesses(r.pids)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// starts counts the processes so far, probes included.
func (r *rig) starts(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(r.pids)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// runs returns what the runs in print mode were given.
func (r *rig) runs(t *testing.T) []agentsim.Record {
	t.Helper()
	records, err := agentsim.ReadRecords(r.records)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// ask runs a turn to its end.
func (r *rig) ask(t *testing.T, req *chat.Request) (*chat.Response, error) {
	t.Helper()
	return chat.Collect(r.Chat(t.Context(), req))
}

// answer is ask for a turn that must succeed.
func (r *rig) answer(t *testing.T, req *chat.Request) *chat.Response {
	t.Helper()
	resp, err := r.ask(t, req)
	if err != nil {
		t.Fatalf("the turn failed: %v", err)
	}
	return resp
}

// refused is ask for a turn that must fail.
func (r *rig) refused(t *testing.T, req *chat.Request) *chat.Error {
	t.Helper()
	resp, err := r.ask(t, req)
	if err == nil {
		t.Fatalf("the turn succeeded: %+v", resp)
	}
	return chat.AsError(err)
}

// hello is a request without anything special.
func hello() *chat.Request {
	return userSays("Say hello.")
}

func userSays(text string) *chat.Request {
	return &chat.Request{
		Model:    "auto",
		Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: text}}}},
	}
}

// eventually polls for what a process does, which tells nobody.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("after %v still not: %s", limit, what)
		}
	}
}

// transcript is everything that a turn yielded.
type transcript struct {
	events []chat.Event
	err    error
}

// listen ranges over a turn; each is called for every event.
func listen(ctx context.Context, b chat.Backend, req *chat.Request, each func(chat.Event)) transcript {
	var tr transcript
	for event, err := range b.Chat(ctx, req) {
		if err != nil {
			tr.err = err
			continue
		}
		tr.events = append(tr.events, event)
		if each != nil {
			each(event)
		}
	}
	return tr
}

func (tr transcript) text() string {
	text := ""
	for _, event := range tr.events {
		if delta, ok := event.(chat.TextDelta); ok {
			text += delta.Text
		}
	}
	return text
}

func (tr transcript) finished() bool {
	return slices.ContainsFunc(tr.events, func(e chat.Event) bool { _, ok := e.(chat.Finish); return ok })
}

// lockedBuffer is a log that is read while it may be written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
