//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// codexErrors looks at what a person sees of an error: Codex hides the messages
// of some statuses and repeats others for minutes, which is why Responses
// answers with statuses of its own.
func (s *suite) codexErrors(t *testing.T) {
	codex := named(t, "codex")
	tests := []struct {
		name     string
		env      string
		script   agentsim.Script
		want     string // on its output
		status   int
		requests int
	}{
		{"wrong key", "CURSORTRAY_API_KEY=another-key", agentsim.Script{}, "copy it from the cursortray menu", 401, 2},
		{"not logged in", "", agentsim.Script{LoggedOut: true}, "cursor_login_required", 400, 1},
		{"plan used up", "", agentsim.Script{Fail: "You've hit your usage limit"}, "hit your usage limit", 429, 1},
		{"cut stream", "", agentsim.Script{Mode: agentsim.Stream, Count: 5, Cut: true}, "stopped before its answer was complete", 200, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, s.cursortray, []string{s.useAgent, tt.script.Environ(), tt.env}, "--backend", "cli")
			srv.models = [2]string{"composer-2", "auto"}
			home, _ := project(t)
			between := record(t, srv.url)
			got := s.ask(t, codex, home, srv.through(between), "Say hello").run(t)
			if got.err == nil || got.took > 20*time.Second || !strings.Contains(got.stdout+got.stderr, tt.want) {
				t.Errorf("after %v, %v: its output should hold %q:\n%s\n%s", got.took, got.err, tt.want, tail(got.stdout), tail(got.stderr))
			}
			seen := between.requests()
			if len(seen) != tt.requests || seen[0].status != tt.status {
				t.Errorf("requests %+v, want %d with status %d", seen, tt.requests, tt.status)
			}
			t.Logf("took %v", got.took.Round(100*time.Millisecond))
		})
	}
}
