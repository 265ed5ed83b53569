//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

// A clock that is years off shows in the certificates, which are not valid on
// the day that the computer takes for the present one.
func TestClockThatIsYearsOff(t *testing.T) {
	const want = "check the date and time of this computer"
	for name, at := range map[string]time.Time{
		"behind": time.Now().AddDate(20, 0, 0),
		"ahead":  time.Now().AddDate(-20, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for polls
			m := newMachine(t, "CURSORTRAY_TOKEN_STORE=file", "CURSORTRAY_API_KEY="+testKey)
			m.withCursor(simserver.Options{Certified: at})
			for _, r := range []result{
				m.withInput(simserver.DefaultKey, "login", "--api-key", "-"),
				m.run("login", "--no-browser"),
			} {
				if r.code != 1 || !strings.Contains(r.stderr, want) {
					t.Errorf("%+v", r)
				}
			}
			if text := m.run("doctor").stdout; !strings.Contains(text, want) || !strings.Contains(text, "set the clock") {
				t.Errorf("doctor says\n%s", text)
			}
			s := m.serve("serve")
			client := m.start("login", "--no-browser")
			client.line()
			if code := client.wait(); code != 1 || !strings.Contains(client.stderr.String(), want) {
				t.Errorf("with an instance: exit code %d, %s", code, client.stderr)
			}
			s.stop()
		})
	}
}

// A clock that is an hour off does not keep anybody from logging in, and doctor
// finds it.
func TestClockThatIsAnHourOff(t *testing.T) {
	for want, skew := range map[string]time.Duration{"clock is 1h0m0s behind Cursor's": time.Hour, "clock is 1h0m0s ahead of Cursor's": -time.Hour} {
		m, sim := loginMachine(t)
		change(t, sim, func(s *simserver.Settings) { s.Skew, s.AccessLifetime = skew, 20*time.Minute })
		m.loginWithKey(simserver.DefaultKey, "ada@example.com")
		sim.Forget()
		m.must("usage")
		if a := m.account(); a.State != "in" {
			t.Errorf("status says %+v", a)
		}
		if text := m.run("doctor").stdout; !strings.Contains(text, want) {
			t.Errorf("doctor does not say %q:\n%s", want, text)
		}
	}
}

// Who is logged in learns of a clock that has gone wrong since from status.
func TestStatusTellsOfAWrongClock(t *testing.T) {
	m, _ := loginMachine(t)
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	m.withCursor(simserver.Options{Certified: time.Now().AddDate(20, 0, 0)})
	s := m.serve("serve")
	until(t, "status tells of the clock", func() bool {
		return strings.Contains(m.must("status"), "check the date and time of this computer")
	})
	s.stop()
}
