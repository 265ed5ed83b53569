package control

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// limitedApp is one whose spend guard refuses until it is told not to.
type limitedApp struct{ *fakeApp }

func (l limitedApp) Do(action app.Action) {
	if allow, ok := action.(app.AllowSpending); ok {
		l.mu.Lock()
		l.snapshot.Notice.N++
		l.snapshot.Guard = app.GuardStatus{Reached: "1 run an hour", RunsHour: 1, SpentDay: "$1.39"}
		if allow.For > 0 {
			l.snapshot.Guard.Reached, l.snapshot.Guard.AllowedUntil = "", noon.Add(allow.For)
		}
		l.mu.Unlock()
	}
	l.fakeApp.Do(action)
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestAllowAnswersWhenTheLimitsAreLifted(t *testing.T) {
	dir := t.TempDir()
	limited := limitedApp{newFakeApp(app.Snapshot{Guard: app.GuardStatus{Reached: "1 run an hour", Until: noon, RunsHour: 1, SpentDay: "$1.39"}})}
	serve(t, dir, Config{Instance: limited})
	c := NewClient(dir)
	before, err := c.Status(t.Context())
	if g := before.Guard; err != nil || g.Reached != "1 run an hour" || g.Until == nil || !g.Until.Equal(noon) || g.AllowedUntil != nil || g.RunsHour != 1 || g.SpentDay != "1.39" {
		t.Errorf("before: %+v, %v", g, err)
	}
	for _, duration := range []time.Duration{time.Hour, 90 * time.Minute, 0} {
		s, err := c.Allow(t.Context(), duration)
		if err != nil {
			t.Fatal(err)
		}
		if until := s.Guard.AllowedUntil; (until != nil) != (duration > 0) || until != nil && !until.Equal(noon.Add(duration)) {
			t.Errorf("allowed for %v, it is lifted until %v", duration, until)
		}
		if (s.Guard.Reached == "") != (duration > 0) {
			t.Errorf("allowed for %v, reached is %q", duration, s.Guard.Reached)
		}
	}
	if got := limited.actions; len(got) != 3 || got[0] != (app.AllowSpending{For: time.Hour}) {
		t.Errorf("the App was asked for %+v", got)
	}
}

func TestAllowRefusesNonsense(t *testing.T) {
	dir := t.TempDir()
	fake := newFakeApp(app.Snapshot{})
	serve(t, dir, Config{Instance: fake})
	for _, duration := range []string{"", "soon", "-1h"} {
		_, err := call[Status](t.Context(), NewClient(dir), "POST", "/do/allow?for="+url.QueryEscape(duration))
		if e := (*chat.Error)(nil); !errors.As(err, &e) || e.Kind != chat.Invalid {
			t.Errorf("for=%q: %v", duration, err)
		}
	}
	if len(fake.actions) > 0 {
		t.Errorf("the App was asked for %+v", fake.actions)
	}
}
