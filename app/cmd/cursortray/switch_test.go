//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app/control"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

const (
	bobsKey  = "crsr_bobs0key"
	bobsUser = "auth0|user_02EXAMPLE"
	// callsATool makes the simulated model call a tool, whose result it waits for.
	callsATool = `{"model": "auto", "messages": [{"role": "user", "content": "Read the file /tmp/a.txt and tell me its first line"}],
		"tools": [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object",
			"properties": {"path": {"type": "string"}}, "required": ["path"]}}}]}`
)

// kept lists what is on disk of the account's conversations and models.
func (m *machine) kept() (conversations, models []string) {
	m.t.Helper()
	conversations, err := filepath.Glob(filepath.Join(m.dirs().Cache, "conversations", "*"))
	models, err2 := filepath.Glob(filepath.Join(m.dirs().Cache, "account", "*.json"))
	if err := errors.Join(err, err2); err != nil {
		m.t.Fatal(err)
	}
	return conversations, models
}

func (m *machine) loginWithKey(key, email string) {
	m.t.Helper()
	if r := m.withInput(key, "login", "--api-key", "-"); r.code != 0 || !strings.Contains(r.stdout, email) {
		m.t.Fatalf("%+v", r)
	}
}

// withTwoPeople is a machine on which Ada is logged in, and has asked
// something; Bob has a key.
func withTwoPeople(t *testing.T) (*machine, *simserver.Sim, *running) {
	t.Helper()
	m, sim := loginMachine(t)
	if err := errors.Join(sim.AddAccount(simserver.Account{User: bobsUser, Email: "bob@example.com", Plan: "ultra"}), sim.AddKey(bobsKey, bobsUser)); err != nil {
		t.Fatal(err)
	}
	instance := m.serve("serve")
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	if status, body := instance.ask("POST", "/v1/chat/completions", testKey, question("auto", "hello", false)); status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	until(t, "the conversation and the list of models are on disk", func() bool {
		conversations, models := m.kept()
		return len(conversations) > 0 && len(models) == 1
	})
	return m, sim, instance
}

// Who logs in while somebody else is gets nothing of that person's.
func TestLoginAsSomebodyElse(t *testing.T) {
	m, sim, instance := withTwoPeople(t)
	_, body := instance.ask("POST", "/v1/chat/completions", testKey, callsATool)
	if !strings.Contains(body, `"tool_calls"`) || sim.RunStats().Open != 1 {
		t.Fatalf("no run waits for a tool: %+v, %s", sim.RunStats(), body)
	}
	m.loginWithKey(bobsKey, "bob@example.com")
	until(t, "the run of the first account is given up", func() bool { return sim.RunStats().Open == 0 })
	if text := m.must("usage"); !strings.Contains(text, "Cursor Ultra") {
		t.Errorf("usage says %s", text)
	}
	m.must("models")
	until(t, "only the list of the second account is left", func() bool {
		conversations, models := m.kept()
		return len(conversations) == 0 && len(models) == 1
	})
	var status control.Status
	if err := json.Unmarshal([]byte(m.must("status", "--json")), &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Conversations) > 0 || status.Account.Email != "bob@example.com" {
		t.Errorf("status says %+v", status)
	}
	if code, body := instance.ask("POST", "/v1/chat/completions", testKey, question("auto", "hello", false)); code != 200 {
		t.Errorf("status %d: %s", code, body)
	}
	instance.stop()
}

// The same goes for what lies on disk while nothing runs.
func TestEndOfALoginWithoutAnInstance(t *testing.T) {
	for name, end := range map[string]func(m *machine){
		"somebody else": func(m *machine) { m.loginWithKey(bobsKey, "bob@example.com") },
		"logout":        func(m *machine) { m.must("logout") },
	} {
		t.Run(name, func(t *testing.T) {
			m, _, instance := withTwoPeople(t)
			instance.stop()
			_, before := m.kept()
			end(m)
			conversations, models := m.kept()
			if len(conversations) > 0 || len(models) > 0 && models[0] == before[0] {
				t.Errorf("left are %v and %v", conversations, models)
			}
			if _, err := os.Stat(m.dirs().Cache); err != nil {
				t.Error(err)
			}
		})
	}
}

// A logout gives up the runs that wait for a tool; the port stays open and says
// plainly what is missing. (AU-3)
func TestAU3_RequestsAfterALogout(t *testing.T) {
	m, sim, instance := withTwoPeople(t)
	if _, body := instance.ask("POST", "/v1/chat/completions", testKey, callsATool); !strings.Contains(body, `"tool_calls"`) {
		t.Fatalf("no run waits for a tool: %s", body)
	}
	m.must("logout")
	until(t, "the run is given up", func() bool { return sim.RunStats().Open == 0 })
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/chat/completions", question("auto", "hello", false), 403, "cursor_login_required"},
		{"/v1/responses", `{"model": "auto", "input": "hello"}`, 400, "cursor_login_required"},
		{"/v1/messages", `{"model": "auto", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}`, 403, "permission_error"},
	} {
		status, body := instance.ask("POST", c.path, testKey, c.body)
		if status != c.status || !strings.Contains(body, c.want) || !strings.Contains(body, "log in from the tray") {
			t.Errorf("%s: status %d, %s", c.path, status, body)
		}
	}
	instance.stop()
}
