//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// claudeErrors looks at what a person sees of an error. By itself Claude Code
// repeats 401, 429 and 5xx for minutes without a word; a problem that lasts
// must be shown at once.
func (s *suite) claudeErrors(t *testing.T) {
	claude := named(t, "claude")
	tests := []struct {
		name    string
		env     string // of the server
		script  agentsim.Script
		retries string // setting of the client; what passes may take a while
		want    string // on its output
		status  []int  // of its requests
	}{
		{"wrong key", "CURSORTRAY_API_KEY=another-key", agentsim.Script{}, "", "copy it from the cursortray menu", []int{401}},
		{"not logged in", "", agentsim.Script{LoggedOut: true}, "", "cursor-agent login", []int{403}},
		{"plan used up", "", agentsim.Script{Fail: "You've hit your usage limit"}, "", "hit your usage limit", []int{402}},
		{"throttled", "", agentsim.Script{Fail: "Rate limit exceeded"}, "1", "ate limit", []int{429, 429}},
		// After a cut stream it asks for an answer in one piece.
		{"cut stream", "", agentsim.Script{Mode: agentsim.Stream, Count: 5, Cut: true}, "1", "stopped before its answer was complete", []int{200, 502}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, s.cursortray, []string{s.useAgent, tt.script.Environ(), tt.env}, "--backend", "cli")
			srv.models = [2]string{"composer-2", "auto"}
			home, _ := project(t)
			between := record(t, srv.url)
			cmd := s.ask(t, claude, home, srv.through(between), "Say hello")
			if tt.retries != "" {
				cmd.env = append(cmd.env, "CLAUDE_CODE_MAX_RETRIES="+tt.retries)
			}
			got := cmd.run(t)
			if got.err == nil || got.took > 20*time.Second || !strings.Contains(got.stdout+got.stderr, tt.want) {
				t.Errorf("after %v, %v: its output should hold %q:\n%s\n%s", got.took, got.err, tt.want, tail(got.stdout), tail(got.stderr))
			}
			var statuses []int
			for _, r := range between.requests() {
				statuses = append(statuses, r.status)
			}
			if !slices.Equal(statuses, tt.status) {
				t.Errorf("the requests had the statuses %d, want %d", statuses, tt.status)
			}
			t.Logf("took %v", got.took.Round(100*time.Millisecond))
		})
	}
}
