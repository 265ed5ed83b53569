package config

import (
	"strings"
	"testing"
)

// What is offered as a choice is taken, and nothing else is.
func TestChoicesAreWhatASettingTakes(t *testing.T) {
	found := map[string]string{}
	for _, row := range Table() {
		choices := row.Choices()
		found[row.Key] = strings.Join(choices, " ")
		var s Settings
		for _, choice := range choices {
			if err := row.apply(&s, choice); err != nil {
				t.Errorf("%s does not take %q: %v", row.Key, choice, err)
			}
		}
		if len(choices) > 0 && row.apply(&s, "quite something else") == nil {
			t.Errorf("%s takes more than %q", row.Key, choices)
		}
	}
	for key, want := range map[string]string{"backend": "auto agent cli", "telemetry": "true false", "addr": "", "cli_idle_timeout": "", "agent_max_runs": ""} {
		if found[key] != want {
			t.Errorf("%s has the choices %q", key, found[key])
		}
	}
}
