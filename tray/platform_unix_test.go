//go:build !windows && !darwin

package tray

import "testing"

func TestEscapeKeepsMarks(t *testing.T) {
	for title, want := range map[string]string{"gpt_5": "gpt__5", "__": "____", "R&D": "R&D", "": ""} {
		if got := escape(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
