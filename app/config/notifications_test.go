package config

import (
	"slices"
	"testing"
)

func TestNotifications(t *testing.T) {
	for text, want := range map[string][]string{
		"all": NotificationKinds(), "none": {"none"}, "None": {"none"}, " ": {"none"}, "Plan, tray": {"plan", "tray"},
	} {
		if got, err := notifications(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"everything", "login,none", "plan tray"} {
		if got, err := notifications(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
