//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// faultLimit is the longest that a person waits from a client's first request
// until it tells what is wrong, or has gone on by itself.
const faultLimit = 20 * time.Second

// fault is something that goes wrong in a client's request for an answer, and
// what the client must make of it.
type fault struct {
	name string
	// cause makes it happen, and may change what the client is told of the port.
	cause    func(*testing.T, *simulated, *port)
	settings []string // of cursortray
	// shows is on the client's output, which then ends with an error. Where
	// outlives lists the client, it goes on instead until it has the whole
	// answer; where silent does, it shows words of its own.
	shows    string
	outlives []string
	silent   map[string]string
	statuses []int // that its requests may have besides 200; the first must occur
}

// Texts of ours that a person needs to see.
const (
	wrongKeyText  = "copy it from the cursortray menu"
	quotaText     = "the allowance of the Cursor plan is used up"
	brokenText    = "broke off before the end of the answer"
	limitText     = "your limit in cursortray of"
	throttledText = "Cursor asks to try again later"
	wholeText     = "Without --demo, cursortray passes your prompt on to Cursor" // the end of what the scripted model says
)

func faults() []fault {
	return []fault{
		{
			name:  "wrong key",
			cause: func(_ *testing.T, _ *simulated, at *port) { at.key = "another-key" },
			shows: wrongKeyText, statuses: []int{http.StatusUnauthorized},
			// It hides what the server says of a 401.
			silent: map[string]string{"copilot": "Check your COPILOT_PROVIDER_API_KEY"},
		},
		{
			name: "plan used up",
			cause: func(_ *testing.T, u *simulated, _ *port) {
				u.answering(simserver.Opening(), simserver.Fail(simserver.Failure("usage limit")))
			},
			shows: quotaText, statuses: []int{http.StatusPaymentRequired, http.StatusTooManyRequests},
			silent: map[string]string{"codex": "hit your usage limit. Try again later"},
		},
		{
			name:  "throttled for a moment",
			cause: throttle,
			shows: throttledText, statuses: []int{http.StatusTooManyRequests},
			outlives: []string{
				"opencode", "opencode over Responses", "opencode over Messages", "pi", "pi over Responses", "pi over Messages",
				"codex", "claude", "continue", "qwen", "copilot",
			},
		},
		{
			name:     "limit of the user",
			settings: []string{"CURSORTRAY_SPEND_RUNS_HOUR=1"},
			cause:    useUp, shows: limitText, statuses: []int{http.StatusTooManyRequests, http.StatusPaymentRequired},
			silent: map[string]string{"codex": "hit your usage limit"},
		},
		{
			name:  "cut stream",
			cause: cutOnce,
			shows: brokenText, statuses: []int{http.StatusOK},
			outlives: []string{"opencode", "opencode over Responses", "pi over Responses", "codex", "claude", "continue", "qwen", "copilot"},
		},
	}
}

// throttle refuses one request, as Cursor does when too many come at once.
func throttle(t *testing.T, u *simulated, _ *port) {
	err := u.sim.Inject(simserver.Fault{
		Kind: simserver.FaultStatus, Route: simserver.RunPath, Status: http.StatusTooManyRequests, RetryAfter: "1", Times: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// useUp is the one request that the user's limit lets through.
func useUp(t *testing.T, u *simulated, _ *port) {
	body := `{"model":"` + u.models[0] + `","messages":[{"role":"user","content":"Say hello"}]}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+u.key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the request that the limit lets through: %s, %v", answer.Status, err)
	}
}

// cutOnce breaks the first answer off in the middle of its text.
func cutOnce(_ *testing.T, u *simulated, _ *port) {
	var answers atomic.Int32
	half, whole := simserver.Steps(simserver.Opening(), simserver.Text("Only half of"), simserver.Pause(300*time.Millisecond), simserver.Close()), simserver.Demo()
	u.answering(func(r *simserver.Run) error {
		if answers.Add(1) == 1 {
			return half(r)
		}
		return whole(r)
	})
}

// runFault asks for an answer that goes wrong.
func (s *suite) runFault(t *testing.T, c client, f fault) {
	u := s.simulate(t, f.settings...)
	home, _ := project(t)
	between := record(t, u.url)
	at := u.through(between)
	f.cause(t, u, &at)
	got := s.ask(t, c, home, at, "Say hello").run(t)
	took := between.since() // without the client's start
	outlives := slices.Contains(f.outlives, c.name)
	want := f.shows
	switch own, silent := f.silent[c.name]; {
	case outlives:
		want = wholeText
	case silent:
		want = own
	}
	if (got.err == nil) != outlives || took > faultLimit || !strings.Contains(got.stdout+got.stderr, want) {
		t.Errorf("after %v, %v: its output should hold %q:\n%s\n%s", took, got.err, want, tail(got.stdout), tail(got.stderr))
	}
	statuses := map[int]bool{}
	for _, r := range between.requests() {
		statuses[r.status] = true
		if r.status != http.StatusOK && !slices.Contains(f.statuses, r.status) {
			t.Errorf("a request had the status %d: %v", r.status, between.requests())
		}
	}
	if !slices.ContainsFunc(f.statuses, func(status int) bool { return statuses[status] }) {
		t.Errorf("no request met the fault: %v", between.requests())
	}
	u.rests(t, 3*time.Second)
	t.Logf("%s, %s: took %v", c.name, f.name, took.Round(100*time.Millisecond))
}
