//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// runPrompt asks for nothing that a tool could do.
func (s *suite) runPrompt(t *testing.T, srv *server, c client) {
	home, _ := project(t)
	between := record(t, srv.url)
	got := s.ask(t, c, home, srv.through(between), "Say hello").run(t)
	c.check(t, got, between, "simulated")
	for _, r := range between.requests() {
		if r.results > 0 {
			t.Errorf("a tool ran for a greeting: %+v", r)
		}
	}
}

// runLoop asks for the first line of a file.
func (s *suite) runLoop(t *testing.T, srv *server, c client) {
	home, file := project(t)
	between := record(t, srv.url)
	got := s.ask(t, c, home, srv.through(between), "Read the file "+file+" and tell me its first line").run(t)
	c.check(t, got, between, mark)
	checkLoop(t, between, 1)
}

// runWork asks for a file to be read and changed, and for a command. What it
// prints stands nowhere before it has run.
func (s *suite) runWork(t *testing.T, srv *server, c client) {
	home, file := project(t)
	between := record(t, srv.url)
	got := s.ask(t, c, home, srv.through(between), "Read the file "+file+", replace `second` with `CHANGED` in it, "+
		"run the command `tail -n 1 "+file+" | tr A-Z a-z`, then tell me what it printed.").run(t)
	c.check(t, got, between, "The command printed: ")
	if seen := between.requests(); len(seen) == 0 || !strings.Contains(string(seen[len(seen)-1].body), "changed line") {
		t.Errorf("what the command printed is not in the last request: %+v", seen)
	}
	text, err := os.ReadFile(file)
	if want := mark + " first line here\nCHANGED line\n"; err != nil || string(text) != want {
		t.Errorf("the file is %q, want %q (%v)", text, want, err)
	}
	checkLoop(t, between, 3)
}

// checkLoop looks at the requests with tools: one that led to the first call,
// and one for each further result. A repeated one would mean that the client
// did not like an answer.
func checkLoop(t *testing.T, between *recorder, calls int) {
	t.Helper()
	var results, want []int
	for _, r := range between.requests() {
		if r.tools > 0 {
			results = append(results, r.results)
		}
	}
	for n := range calls + 1 {
		want = append(want, n)
	}
	if !slices.Equal(results, want) {
		t.Errorf("the requests had %d results, want %d: %+v", results, want, between.requests())
	}
}

func (c client) check(t *testing.T, got result, between *recorder, want string) {
	t.Helper()
	if got.err != nil || !strings.Contains(got.stdout, want) {
		t.Errorf("%s: %v; its output should hold %q:\n%s\n%s\nrequests: %v",
			c.name, got.err, want, tail(got.stdout), tail(got.stderr), between.requests())
	}
	for _, r := range between.requests() {
		if r.status != 200 {
			t.Errorf("%s got status %d for %s", c.name, r.status, r.path)
		}
	}
	t.Logf("%s took %v, %d requests", c.name, got.took.Round(100*time.Millisecond), len(between.requests()))
}
