package agentcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixture is a recorded run in the CLI's shapes with what it must become.
type fixture struct {
	stdout  []byte
	Process struct {
		ExitCode *int   `json:"exit_code"`
		Signal   string `json:"signal"`
		Stderr   string `json:"stderr"`
		Lingers  bool   `json:"lingers"`
	} `json:"process"`
	Events []map[string]any `json:"events"`
	Text   string           `json:"text"`
}

func readFixture(t *testing.T, expected string) fixture {
	t.Helper()
	var f fixture
	b, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if f.stdout, err = os.ReadFile(strings.Replace(expected, ".expected.json", ".ndjson", 1)); err != nil {
		t.Fatal(err)
	}
	return f
}

// exit is how the process of a fixture ended. One that stays alive is ended by
// the time limit.
func (f fixture) exit() exit {
	x := exit{code: -1, signal: f.Process.Signal, stderr: []byte(f.Process.Stderr), timeout: f.Process.Lingers}
	if f.Process.ExitCode != nil {
		x.code = *f.Process.ExitCode
	}
	return x
}

func fixtureFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cli/*.expected.json")
	if err != nil || len(files) != 40 {
		t.Fatalf("%d fixtures, %v; want 40", len(files), err)
	}
	return files
}

// TestFixtures feeds every fixture in reads of several sizes: where a read
// ends must not matter.
func TestFixtures(t *testing.T) {
	for _, file := range fixtureFiles(t) {
		f := readFixture(t, file)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".expected.json"), func(t *testing.T) {
			want := joined(f.Events)
			for _, size := range []int{1, 7, 4096, len(f.stdout) + 1} {
				events := replay(t, &chunkReader{b: f.stdout, size: size}, f.exit())
				if diff := cmp.Diff(want, joined(canonical(events))); diff != "" {
					t.Errorf("reads of %d bytes (-want +got):\n%s", size, diff)
				}
				if got := textOf(events); got != f.Text {
					t.Errorf("reads of %d bytes: text %q, want %q", size, got, f.Text)
				}
			}
		})
	}
}

// replay parses a whole run.
func replay(t *testing.T, stdout io.Reader, x exit) []event {
	t.Helper()
	var events []event
	emit := func(e event) bool { events = append(events, e); return true }
	p := newParser(redaction{})
	lines := newLineReader(stdout)
	lines.filter = p.filter
	for {
		line, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		if !p.line(line, emit) {
			break
		}
	}
	p.end(x, emit)
	return events
}

// run parses lines of a process that then exits with 0.
func run(t *testing.T, lines ...string) []event {
	t.Helper()
	return replay(t, strings.NewReader(strings.Join(lines, "\n")), exit{})
}

func textOf(events []event) string {
	var b strings.Builder
	for _, e := range events {
		if e.kind == evText {
			b.WriteString(e.text)
		}
	}
	return b.String()
}

// texts lists the separate pieces of text.
func texts(events []event) []string {
	var list []string
	for _, e := range events {
		if e.kind == evText {
			list = append(list, e.text)
		}
	}
	return list
}

func last(events []event) event { return events[len(events)-1] }

// chunkReader returns at most size bytes per read.
type chunkReader struct {
	b    []byte
	size int
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(r.size, len(r.b))])
	r.b = r.b[n:]
	return n, nil
}

// canonical writes events in the form of the fixtures.
func canonical(events []event) []map[string]any {
	var list []map[string]any
	for _, e := range events {
		list = append(list, canonicalEvent(e))
	}
	return list
}

func canonicalEvent(e event) map[string]any {
	m := map[string]any{}
	switch e.kind {
	case evSession:
		m["kind"], m["id"] = "session", e.id
		if e.name != "" {
			m["model"] = e.name
		}
	case evText:
		m["kind"], m["text"] = "text", e.text
	case evThinking:
		m["kind"], m["text"] = "thinking", e.text
	case evToolStarted:
		m["kind"], m["phase"], m["id"], m["name"] = "tool_call", "started", e.id, e.name
		var args any
		if err := json.Unmarshal(e.args, &args); err != nil {
			args = "broken: " + string(e.args)
		}
		m["args"] = args
	case evToolCompleted:
		m["kind"], m["phase"], m["id"], m["name"], m["status"] = "tool_call", "completed", e.id, e.name, string(e.status)
	case evUsage:
		m["kind"] = "usage"
		m["input"], m["output"] = float64(e.usage.Input), float64(e.usage.Output)
		m["cache_read"], m["cache_write"] = float64(e.usage.CacheRead), float64(e.usage.CacheWrite)
		if e.usage.Reasoning > 0 {
			m["reasoning"] = float64(e.usage.Reasoning)
		}
	case evDone:
		m["kind"], m["reason"] = "done", "stop"
	case evError:
		m["kind"], m["class"], m["status"], m["retryable"] = "error", e.fail.class, float64(e.fail.status), e.fail.retryable
	}
	return m
}

// joined merges neighbouring texts and neighbouring thoughts.
func joined(events []map[string]any) []map[string]any {
	var list []map[string]any
	for _, e := range events {
		if n := len(list); n > 0 && e["kind"] == list[n-1]["kind"] && (e["kind"] == "text" || e["kind"] == "thinking") {
			list[n-1] = map[string]any{"kind": e["kind"], "text": list[n-1]["text"].(string) + e["text"].(string)}
			continue
		}
		list = append(list, e)
	}
	return list
}

// TestFixturesFastAndSlow takes every line of the fixtures through full
// decoding alone: the key scan must not be needed for a right answer.
func TestFixturesFastAndSlow(t *testing.T) {
	for _, file := range fixtureFiles(t) {
		f := readFixture(t, file)
		var slow []event
		emit := func(e event) bool { slow = append(slow, e); return true }
		p := newParser(redaction{})
		for line := range bytes.Lines(f.stdout) {
			if !p.over {
				p.decode(bytes.TrimSuffix(line, []byte("\n")), emit)
			}
		}
		p.end(f.exit(), emit)
		if diff := cmp.Diff(joined(f.Events), joined(canonical(slow))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
