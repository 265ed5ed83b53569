//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// A login that Cursor ends before the command does is no success.
func TestLoginThatEndsAtOnce(t *testing.T) {
	for _, flag := range []string{"", "--json"} {
		anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, _ *running) {
			change(t, sim, func(s *simserver.Settings) {
				s.AutoConfirm, s.ShouldLogout, s.AccessLifetime = true, true, time.Minute
			})
			args := []string{"login", "--no-browser"}
			if flag != "" {
				args = append(args, flag)
			}
			r := m.run(args...)
			if r.code != 1 || !strings.Contains(r.stderr, "Cursor has ended the login") || strings.Contains(r.stdout, "logged in") {
				t.Errorf("%+v", r)
			}
			if flag != "" && !strings.Contains(r.stdout, `"expired"`) {
				t.Errorf("--json says %s", r.stdout)
			}
		})
	}
}

// A login that was made with another token_store does not survive a logout.
func TestLogoutClearsOtherStores(t *testing.T) {
	m, sim := loginMachine(t)
	if r := m.withInput(simserver.DefaultKey, "login", "--api-key", "-"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	m.env = append(m.env, "CURSORTRAY_TOKEN_STORE=memory")
	m.must("logout")
	m.env = append(m.env, "CURSORTRAY_TOKEN_STORE=file")
	if a := m.account(); a.State != "out" {
		t.Errorf("the file still has a login: %+v", a)
	}
	m.holdsNothingOf(sim, "")
}

// Without a store for it no login is begun.
func TestLoginWithoutAStore(t *testing.T) {
	m, sim := loginMachine(t)
	change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
	secrets := filepath.Join(m.dirs().State, "secrets")
	if err := os.MkdirAll(secrets, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(secrets, 0o755); err != nil { // others can read it
		t.Fatal(err)
	}
	for _, r := range []result{m.run("login", "--no-browser"), m.withInput(simserver.DefaultKey, "login", "--api-key", "-")} {
		if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "could not be saved") {
			t.Errorf("%+v", r)
		}
	}
}

// What the environment does to calls is told by the variable's name.
func TestVariableThatIsWrong(t *testing.T) {
	for _, v := range []struct{ set, want string }{
		{"SSL_CERT_FILE=/nowhere/ca.pem", "SSL_CERT_FILE"},
		{"HTTPS_PROXY=http://ada:pass-secret@127.0.0.1:1", "HTTPS_PROXY"},
		{"HTTPS_PROXY=http://ada:pass-secret@bad host", "HTTPS_PROXY"},
	} {
		m, _ := loginMachine(t)
		m.env = append(m.env, v.set, "NO_PROXY=")
		r := m.withInput(simserver.DefaultKey+"\n", "login", "--api-key", "-")
		if r.code != 1 || !strings.Contains(r.stderr, v.want) || strings.Contains(r.stderr, "pass-secret") {
			t.Errorf("%s: %+v", v.set, r)
		}
	}
}

// What went wrong with a login is told apart.
func TestLoginFailuresAreToldApart(t *testing.T) {
	fault := func(f simserver.Fault) func(*testing.T, *machine, *simserver.Sim, string) {
		return func(t *testing.T, _ *machine, sim *simserver.Sim, _ string) {
			f.Route = simserver.PathPoll
			if err := sim.Inject(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, m *machine, sim *simserver.Sim, url string)
		want string
	}{
		{"denied", func(t *testing.T, _ *machine, sim *simserver.Sim, url string) {
			if err := sim.Deny(t.Context(), url); err != nil {
				t.Error(err)
			}
		}, "refused"},
		{"expired", func(t *testing.T, _ *machine, sim *simserver.Sim, url string) {
			if err := errors.Join(sim.Visit(t.Context(), url), sim.Expire(url)); err != nil {
				t.Error(err)
			}
		}, "not confirmed in the browser in time"},
		{"server error", fault(simserver.Fault{Kind: "status", Status: 500}), "HTTP status 500"},
		{"offline", fault(simserver.Fault{Kind: "reset"}), "cannot be reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait for polls
			anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, _ *running) {
				login := m.start("login", "--no-browser")
				c.do(t, m, sim, login.line())
				if code := login.wait(); code != 1 || !strings.Contains(login.stderr.String(), c.want) {
					t.Errorf("exit code %d, %q, want %q", code, login.stderr, c.want)
				}
				if a := m.account(); a.State != "out" {
					t.Errorf("status says %+v", a)
				}
			})
		})
	}
}

// A saved login that cannot be read is a problem where requests need it, and
// then it is told once.
func TestLoginThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		withCLI  bool
		health   string
		problems int
	}{
		{"the CLI answers", true, `"status":"ok"`, 0},
		{"nobody answers", false, `"status":"problem"`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := loginMachine(t)
			if c.withCLI {
				m.withAgent(agentsim.Script{})
			}
			secrets := filepath.Join(m.dirs().State, "secrets")
			if err := errors.Join(os.MkdirAll(secrets, 0o700), os.WriteFile(filepath.Join(secrets, "secret.cursor-login"), []byte("damaged"), 0o600)); err != nil {
				t.Fatal(err)
			}
			s := m.serve("serve")
			until(t, "the back-end was checked", func() bool {
				_, body := s.ask("GET", "/health", testKey, "")
				return strings.Contains(strings.ReplaceAll(body, " ", ""), c.health)
			})
			text := m.must("status")
			if n := strings.Count(text, "the file was changed or cut"); n != 1 && c.problems > 0 || n > 1 {
				t.Errorf("the problem is told %d times:\n%s", n, text)
			}
			if n := strings.Count(text, "\nproblem "); n != c.problems {
				t.Errorf("%d problems:\n%s", n, text)
			}
			s.stop()
		})
	}
}
