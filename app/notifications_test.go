package app

import (
	"strings"
	"testing"

	"cursortray/app/config"
)

func TestNotificationsOffAndOn(t *testing.T) {
	all := strings.Join(config.NotificationKinds(), ",")
	for start, on := range map[string]string{"": all, "none": all, "login,port": "login,port"} {
		store := newSaver(9)
		r := newRig(t, func(c *Config) { c.SaveSetting, c.Notifications = store.save, start })
		r.Do(SetNotifications{On: false})
		r.until(t, "there are none", func(s Snapshot) bool { return !s.Notifies() })
		r.Do(SetNotifications{On: true})
		if s := r.until(t, "there are some", Snapshot.Notifies); s.Notifications != on {
			t.Errorf("%q, off and on again: %q", start, s.Notifications)
		}
		if notifies(start) {
			if got := <-store.kept; got != "notifications = none" {
				t.Errorf("%q: first %q was saved", start, got)
			}
		}
		if got := <-store.kept; got != "notifications = "+on {
			t.Errorf("%q: %q was saved", start, got)
		}
	}
}

// What was chosen holds at once, is saved, and comes back after off and on.
func TestNotificationsAreChosenByKind(t *testing.T) {
	store := newSaver(9)
	r := newRig(t, func(c *Config) { c.SaveSetting, c.Notifications = store.save, "login,plan" })
	for _, step := range []struct {
		do    Action
		shown string
	}{
		{ChooseNotifications{Kinds: "plan,nonsense,port"}, "port,plan"},
		{SetNotifications{}, "none"},
		{SetNotifications{On: true}, "port,plan"},
		{ChooseNotifications{}, "none"},
		{SetNotifications{On: true}, "port,plan"},
	} {
		r.Do(step.do)
		r.until(t, "they are "+step.shown, func(s Snapshot) bool { return s.Notifications == step.shown })
		if got := <-store.kept; got != "notifications = "+step.shown {
			t.Errorf("%#v: %q was saved", step.do, got)
		}
	}
}
