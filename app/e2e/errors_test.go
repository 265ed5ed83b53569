//go:build e2e

package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// wireError is a row of the table of errors: what is wrong, and how the three
// dialects say it.
type wireError struct {
	name  string
	cause func(*simulated, *port)
	text  string
	// statuses are those of chat completions, Responses and Messages.
	statuses [3]int
	// silent are the clients that show words of their own instead.
	silent map[string]string
}

// speakers speak one dialect each, in the order of wireError.statuses.
var speakers = [3]string{"pi", "codex", "claude"}

func failing(err error) func(*simulated, *port) {
	return func(u *simulated, _ *port) { u.answering(simserver.Opening(), simserver.Fail(err)) }
}

func wireErrors() []wireError {
	failed := func(name string) func(*simulated, *port) { return failing(simserver.Failure(name)) }
	return []wireError{
		{"not logged in", failed("not logged in"), "log in again from the tray", [3]int{403, 400, 403}, nil},
		{"plan lacks the model", failed("plan lacks model"), "the Cursor plan does not have this model", [3]int{402, 402, 402}, nil},
		{"unknown model", func(_ *simulated, at *port) { at.models[0] = "no-such-model" }, "no-such-model", [3]int{404, 404, 404}, nil},
		{"bad request", failed("parse binary"), "Cursor refuses the request", [3]int{400, 400, 400}, nil},
		{"too long", failing(&simserver.RunError{Code: "invalid_argument", Message: "Error", Reason: "ERROR_CONVERSATION_TOO_LONG"}),
			"does not fit the model's window", [3]int{400, 400, 400},
			// They know what to do about it, and say that.
			map[string]string{"codex": "context window", "claude": "Prompt is too long"}},
		{"broken", failed("outdated client"), "Cursor wants a newer client", [3]int{502, 502, 502}, map[string]string{"codex": "502 Bad Gateway"}},
		{"overloaded", failing(&simserver.RunError{Code: "resource_exhausted", Message: "Error", Reason: "ERROR_RESOURCE_EXHAUSTED", RetryAfter: time.Second}),
			"Cursor is busy", [3]int{503, 503, 529}, map[string]string{"codex": "at capacity"}},
	}
}

// runError asks for an answer that Cursor refuses. Retries are set down, since
// what is looked at is what the client says in the end.
func (s *suite) runError(t *testing.T, e wireError, dialect int) {
	c := named(t, speakers[dialect])
	u := s.simulate(t)
	home, _ := project(t)
	between := record(t, u.url)
	at := u.through(between)
	e.cause(u, &at)
	cmd := s.ask(t, c, home, at, "Say hello")
	cmd.env = append(cmd.env, "CLAUDE_CODE_MAX_RETRIES=1")
	writeJSON(t, filepath.Join(home, ".pi", "agent", "settings.json"), object{"retry": object{"enabled": false}})
	got := cmd.run(t)
	took := between.since()
	want := e.text
	if own, silent := e.silent[c.name]; silent {
		want = own
	}
	if got.err == nil || took > faultLimit || !strings.Contains(got.stdout+got.stderr, want) {
		t.Errorf("after %v, %v: its output should hold %q:\n%s\n%s", took, got.err, want, tail(got.stdout), tail(got.stderr))
	}
	seen := between.requests()
	for _, r := range seen {
		if r.status != e.statuses[dialect] && r.status != http.StatusOK {
			t.Errorf("a request had the status %d, want %d: %v", r.status, e.statuses[dialect], seen)
		}
	}
	if len(seen) == 0 || seen[0].status != e.statuses[dialect] {
		t.Errorf("the requests are %v, want the status %d", seen, e.statuses[dialect])
	}
	t.Logf("%s, %s: took %v, %d requests", c.name, e.name, took, len(seen))
}
