//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cursortray/app/control"
	"cursortray/proxy/cursor/cursorsim/agentsim"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// withCursor puts a simulated Cursor on the machine's network. No rule of the
// wire may be broken.
func (m *machine) withCursor(options ...simserver.Options) *simserver.Sim {
	m.t.Helper()
	options = append(options, simserver.Options{})
	sim, err := simserver.Start(context.Background(), options[0])
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		for _, v := range sim.Violations() {
			m.t.Errorf("a rule of the wire is broken: %v", v)
		}
		if err := sim.Close(); err != nil {
			m.t.Error(err)
		}
	})
	m.env = append(m.env, sim.Env()...)
	m.env = append(m.env, "CURSORTRAY_LOG_LEVEL=debug")
	return sim
}

// loginMachine keeps its login in files, so that commands can follow each
// other.
func loginMachine(t *testing.T, env ...string) (*machine, *simserver.Sim) {
	m := newMachine(t, append(env, "CURSORTRAY_TOKEN_STORE=file", "CURSORTRAY_API_KEY="+testKey)...)
	return m, m.withCursor()
}

func change(t *testing.T, sim *simserver.Sim, edit func(*simserver.Settings)) {
	t.Helper()
	if err := sim.Change(edit); err != nil {
		t.Fatal(err)
	}
}

// withInput is run with text on standard input.
func (m *machine) withInput(input string, args ...string) result {
	m.t.Helper()
	cmd := m.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// account is what status tells, with or without an instance.
func (m *machine) account() control.Account {
	m.t.Helper()
	var status control.Status
	if err := json.Unmarshal([]byte(m.run("status", "--json").stdout), &status); err != nil {
		m.t.Fatal(err)
	}
	return status.Account
}

// anywhere runs a test without an instance and with one.
func anywhere(t *testing.T, test func(t *testing.T, m *machine, sim *simserver.Sim, instance *running)) {
	for _, name := range []string{"without an instance", "with an instance"} {
		t.Run(name, func(t *testing.T) {
			m, sim := loginMachine(t)
			var instance *running
			if name == "with an instance" {
				instance = m.serve("serve")
			}
			test(t, m, sim, instance)
			if instance != nil {
				instance.stop()
			}
		})
	}
}

func TestLoginWithTheBrowser(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, _ *running) {
		login := m.start("login", "--no-browser")
		url := login.line()
		if !strings.HasPrefix(url, "https://cursor.com/loginDeepControl?") {
			t.Fatalf("the first line is %q", url)
		}
		if err := sim.Confirm(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		if line := login.line(); line != "logged in to Cursor as ada@example.com" || login.wait() != 0 {
			t.Errorf("login says %q", line)
		}
		if a := m.account(); a != (control.Account{State: "in", Storage: "file", Email: "ada@example.com"}) {
			t.Errorf("status says %+v", a)
		}
		if text := m.must("usage"); !strings.Contains(text, "Cursor Pro · resets") || !strings.Contains(text, "28.6%") {
			t.Errorf("usage says %s", text)
		}
		var models []control.Model
		if err := json.Unmarshal([]byte(m.must("models", "--json")), &models); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, model := range models {
			if model.ID == "claude-opus-5-5" {
				found = model.Price != nil && model.Price.Input == "4" && model.Price.Output == "20" && model.ContextWindow == 300_000
			}
		}
		if !found {
			t.Errorf("no priced claude-opus-5-5 in %+v", models)
		}
		if text := m.must("logout"); text != "logged out of Cursor\n" {
			t.Errorf("logout says %q", text)
		}
		if a := m.account(); a.State != "out" || a.Problem != "" {
			t.Errorf("after the logout: %+v", a)
		}
		if r := m.run("usage"); r.code != 1 || !strings.Contains(r.stderr, "cursortray login") {
			t.Errorf("usage after the logout: %+v", r)
		}
		m.holdsNothingOf(sim, "")
	})
}

// holdsNothingOf looks for secrets in every file of the machine but those
// below a folder that may hold them, and in more text. (SE-2)
func (m *machine) holdsNothingOf(sim *simserver.Sim, except string, more ...string) {
	m.t.Helper()
	leaks := func(text string) bool {
		for _, secret := range append(sim.Secrets(), testKey) {
			// The first part of all access tokens is the same.
			if strings.Contains(text, secret[len(secret)/2:]) {
				return true
			}
		}
		return false
	}
	for _, text := range more {
		if leaks(text) {
			m.t.Errorf("a secret is in %.200q", text)
		}
	}
	err := filepath.WalkDir(m.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || except != "" && strings.HasPrefix(path, except) {
			return err
		}
		text, err := os.ReadFile(path)
		if leaks(string(text)) {
			m.t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		m.t.Error(err)
	}
}

func TestLoginAsJSON(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, _ *running) {
		change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
		out := json.NewDecoder(strings.NewReader(m.must("login", "--no-browser", "--json")))
		var first struct{ URL string }
		var account control.Account
		if err := errors.Join(out.Decode(&first), out.Decode(&account)); err != nil || first.URL == "" || account.State != "in" {
			t.Errorf("%v: %+v, %+v", err, first, account)
		}
		if err := json.Unmarshal([]byte(m.must("logout", "--json")), &account); err != nil || account.State != "out" {
			t.Errorf("logout: %v, %+v", err, account)
		}
	})
}

func TestLoginOpensTheBrowser(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, _ *running) {
		change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
		opened := filepath.Join(m.home, "opened")
		script := "#!/bin/sh\necho noise; echo noise >&2; echo \"$1\" > '" + opened + "'\n"
		if err := os.WriteFile(filepath.Join(m.home, "bin", "xdg-open"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		r := m.run("login")
		if r.code != 0 || strings.Contains(r.stdout+r.stderr, "noise") {
			t.Errorf("%+v", r)
		}
		text, err := os.ReadFile(opened)
		if err != nil || !strings.HasPrefix(string(text), "https://cursor.com/loginDeepControl?") {
			t.Errorf("the browser was given %q (%v)", text, err)
		}
	})
}

func TestAU4_LoginWithAKey(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, instance *running) {
		var said []string
		for _, wrong := range []string{"", "  \n", "sk-not-cursors", "crsr_unknown0unknown0unknown\n"} {
			r := m.withInput(wrong, "login", "--api-key", "-")
			if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("the key %q: %+v", wrong, r)
			}
			said = append(said, r.stderr)
		}
		if r := m.withInput(simserver.DefaultKey+strings.Repeat(" ", 17<<10), "login", "--api-key", "-"); r.code != 1 || !strings.Contains(r.stderr, "too long") {
			t.Errorf("a key that is too long: %+v", r)
		}
		r := m.withInput("\ufeff"+simserver.DefaultKey+"\n", "login", "--api-key", "-")
		if r.code != 0 || r.stdout != "logged in to Cursor as ada@example.com\n" {
			t.Errorf("%+v", r)
		}
		m.must("usage")
		if instance != nil {
			said = append(said, instance.stderr.String())
		}
		m.holdsNothingOf(sim, filepath.Join(m.dirs().State, "secrets"), append(said, r.stdout, r.stderr)...)
	})
	m := newMachine(t)
	if r := m.run("login", "--api-key", simserver.DefaultKey); r.code != 2 || strings.Contains(r.stderr, simserver.DefaultKey) {
		t.Errorf("a key on the command line: %+v", r)
	}
}

func TestOneLoginAtATime(t *testing.T) {
	m, sim := loginMachine(t)
	instance := m.serve("serve")
	first := m.start("login", "--no-browser")
	url := first.line()
	second := m.start("login", "--no-browser")
	if another := second.line(); another != url {
		t.Errorf("the second login has a page of its own: %s", another)
	}
	if a := m.account(); a.State != "pending" {
		t.Errorf("status says %+v", a)
	}
	// Who has only joined leaves the attempt alone.
	second.signal(os.Interrupt)
	if code := second.wait(); code != 1 || !strings.Contains(second.stderr.String(), "cancelled") {
		t.Errorf("exit code %d: %s", code, second.stderr)
	}
	if a := m.account(); a.State != "pending" {
		t.Errorf("after the second one was interrupted: %+v", a)
	}
	first.signal(os.Interrupt)
	if code := first.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	until(t, "the attempt is over", func() bool { return m.account().State == "out" })
	if err := sim.Confirm(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	third := m.start("login", "--no-browser")
	if third.line() == url {
		t.Error("a cancelled login was taken up again")
	}
	instance.stop()
	if code := third.wait(); code != 1 {
		t.Errorf("exit code %d after the instance has ended", code)
	}
}

// A login by one process is renewed once, however many find it run out.
func TestAU1_ProcessesRenewOnce(t *testing.T) {
	m, sim := loginMachine(t)
	change(t, sim, func(s *simserver.Settings) { s.AutoConfirm, s.AccessLifetime = true, time.Second })
	m.must("login", "--no-browser")
	sim.Forget()
	change(t, sim, func(s *simserver.Settings) { s.AccessLifetime = time.Hour })
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if r := m.run("usage"); r.code != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	if n := renewals(sim); n != 1 {
		t.Errorf("%d renewals, want one", n)
	}
}

// killed runs a command, with text on its standard input, and kills it after
// a while.
func (m *machine) killed(after time.Duration, input string, args ...string) {
	m.t.Helper()
	cmd := m.command(args...)
	cmd.Stdin = strings.NewReader(input)
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	_ = cmd.Wait()
	timer.Stop()
}

// Whenever a process is killed, what is left is the state before or after.
func TestKilledAtAnyMoment(t *testing.T) {
	m, sim := loginMachine(t)
	change(t, sim, func(s *simserver.Settings) { s.KeepRefresh = true })
	login := func() {
		t.Helper()
		if r := m.withInput(simserver.DefaultKey, "login", "--api-key", "-"); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	began := time.Now()
	login()
	whole := time.Since(began)
	seen := map[string]int{}
	for i := range 12 {
		after := whole * time.Duration(i) / 11
		m.must("logout")
		m.killed(after, simserver.DefaultKey, "login", "--api-key", "-")
		a := m.account()
		if seen["login "+a.State]++; a.State != "in" && a.State != "out" || a.Problem != "" {
			t.Errorf("a login killed after %v left %+v", after, a)
		}
		login()
		sim.RevokeAccess(simserver.DefaultUser)
		m.killed(after, "", "usage")
		if r := m.run("usage"); r.code != 0 {
			t.Errorf("a renewal killed after %v left %+v", after, r)
		}
		m.killed(after, "", "logout")
		a = m.account()
		if seen["logout "+a.State]++; a.State != "in" && a.State != "out" || a.Problem != "" {
			t.Errorf("a logout killed after %v left %+v", after, a)
		}
	}
	t.Logf("one login takes %v; %v", whole, seen)
	m.must("logout")
	m.holdsNothingOf(sim, "")
}

// In the whole life of a login, nothing secret is written. (SE-2)
func TestSE2_NothingSecretIsWritten(t *testing.T) {
	t.Parallel() // it waits
	m, sim := loginMachine(t)
	instance := m.serve("serve")
	change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
	var said []string
	note := func(r result) { said = append(said, r.stdout, r.stderr) }
	note(m.run("login", "--no-browser"))
	sim.RevokeAccess(simserver.DefaultUser)
	note(m.run("usage", "--refresh"))
	if err := sim.Inject(simserver.Fault{Kind: "html", Route: "/aiserver.v1.DashboardService/GetCurrentPeriodUsage"}); err != nil {
		t.Fatal(err)
	}
	note(m.run("usage", "--refresh"))
	sim.ClearFaults()
	_, body := instance.ask("POST", "/v1/chat/completions", testKey, question("auto", "my private question", false))
	said = append(said, body)
	note(m.run("doctor"))
	sim.EndSessions(simserver.DefaultUser)
	// A login that was renewed a moment ago is not given up at once.
	until(t, "the login has ended", func() bool {
		note(m.run("usage", "--refresh"))
		return m.account().State == "expired"
	})
	note(m.run("status"))
	note(m.run("logout"))
	instance.stop()
	m.holdsNothingOf(sim, "", append(said, instance.stderr.String())...)
	if log := instance.stderr.String(); strings.Contains(log, "private question") || strings.Contains(log, "loginDeepControl") {
		t.Errorf("the log holds a question or a login link:\n%s", log)
	}
}

func TestCursorHostsHaveToBeHTTPS(t *testing.T) {
	for _, setting := range []string{"CURSOR_API_BASE_URL=http://127.0.0.1:1", "CURSOR_WEBSITE_URL=http://cursor.com"} {
		m := newMachine(t, setting)
		name, _, _ := strings.Cut(setting, "=")
		for _, args := range [][]string{{"login", "--no-browser"}, {"serve"}, {"tray"}} {
			if r := m.run(args...); r.code != 1 || !strings.Contains(r.stderr, name) || !strings.Contains(r.stderr, "https://") {
				t.Errorf("%s: %v: %+v", setting, args, r)
			}
		}
	}
}

func TestPricesOfTheUser(t *testing.T) {
	m, sim := loginMachine(t)
	change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
	m.must("login", "--no-browser")
	own := filepath.Join(m.dirs().Config, "prices.json")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(own), 0o700), os.WriteFile(own, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"format": 1, "as_of": "2031-01-01", "team_fee": "0.25", "legacy_max_mode_factor": "1.2",
		"models": [{"id": "default", "pool": "cursor", "rates": [{"input": "77", "output": "78"}]}]}`)
	if text := m.must("models"); !strings.Contains(text, "$77 / $78") {
		t.Errorf("the user's prices are not used:\n%s", text)
	}
	write("{")
	if r := m.run("models"); r.code != 0 || !strings.Contains(r.stdout, "$1.25 / $6") || !strings.Contains(r.stderr, "prices.json") {
		t.Errorf("a broken price table: %+v", r)
	}
}

// The CLI's list has ids alone; clients of the proxy get prices and windows.
func TestPricesOfTheCLIsModels(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey, "CURSORTRAY_BACKEND=cli").withAgent(agentsim.Script{Models: []string{"auto", "gpt-5.3-codex-high", "made-up"}})
	s := m.serve("serve")
	var list struct {
		Data []struct {
			ID            string
			ContextLength int `json:"context_length"`
			Pricing       *struct{ Prompt, Completion string }
		}
	}
	_, body := s.ask("GET", "/v1/models", testKey, "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Data) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	seen := map[string]string{}
	for _, m := range list.Data {
		seen[m.ID] = "unknown"
		if m.Pricing != nil {
			seen[m.ID] = fmt.Sprint(m.Pricing.Prompt, " ", m.Pricing.Completion, " ", m.ContextLength)
		}
	}
	for id, want := range map[string]string{
		"auto": "0.00000125 0.000006 200000", "gpt-5.3-codex-high": "0.00000175 0.000014 272000", "made-up": "unknown",
	} {
		if seen[id] != want {
			t.Errorf("%s: %q, want %q", id, seen[id], want)
		}
	}
}
