//go:build e2e && unix

package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// claudeContext opens Claude Code in a terminal and asks for its context, which
// makes it count the tokens of all its parts at once.
func (s *suite) claudeContext(t *testing.T, srv *server) {
	home, _ := project(t)
	writeJSON(t, filepath.Join(home, ".claude.json"), object{
		"hasCompletedOnboarding": true, "theme": "dark",
		"projects": object{filepath.Join(home, "proj"): object{"hasTrustDialogAccepted": true}},
	})
	script, err := filepath.Abs(filepath.Join("testdata", "terminal", "context.py"))
	if err != nil {
		t.Fatal(err)
	}
	between := record(t, srv.url)
	claude := named(t, "claude")
	cmd := s.ask(t, claude, home, srv.through(between))
	cmd.argv = []string{"python3", script, cmd.argv[0]}
	cmd.env = append(cmd.env, "TERM=xterm-256color")
	got := cmd.run(t)
	if got.err != nil {
		t.Errorf("%v: %s", got.err, tail(got.stderr))
	}
	counts := 0
	for _, r := range between.requests() {
		if strings.HasSuffix(r.path, "/count_tokens") {
			counts++
		}
		// Those that still ran when the terminal was closed have no status.
		if r.status != http.StatusOK && r.status != 0 {
			t.Errorf("status %d for %s", r.status, r.path)
		}
	}
	if counts < 10 {
		t.Errorf("%d counts of tokens, want one for each part of the context", counts)
	}
	t.Logf("%d counts, took %v", counts, got.took)
}
