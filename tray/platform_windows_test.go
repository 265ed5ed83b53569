package tray

import "testing"

func TestEscapeKeepsMarks(t *testing.T) {
	for title, want := range map[string]string{"R&D": "R&&D", "&&": "&&&&", "gpt_5": "gpt_5", "": ""} {
		if got := escape(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
