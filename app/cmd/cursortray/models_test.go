//go:build unix

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"cursortray/app/control"
	"cursortray/assets"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// defaultModel is the id with the mark in models --json.
func (m *machine) defaultModel() string {
	m.t.Helper()
	var models []control.Model
	if err := json.Unmarshal([]byte(m.must("models", "--json")), &models); err != nil {
		m.t.Fatal(err)
	}
	var ids []string
	for _, model := range models {
		if model.Default {
			ids = append(ids, model.ID)
		}
	}
	return strings.Join(ids, " ")
}

// modelOf asks for a model and returns the one that Cursor was asked for.
func (r *running) modelOf(sim *simserver.Sim, name string) string {
	r.t.Helper()
	before := len(sim.Runs())
	if status, body := r.ask("POST", "/v1/chat/completions", testKey, question(name, "hello", false)); status != 200 {
		r.t.Fatalf("status %d: %s", status, body)
	}
	until(r.t, "the run has ended", func() bool { return len(sim.Runs()) > before })
	return sim.Runs()[before].Model
}

func TestDefaultModel(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, instance *running) {
		change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
		m.must("login", "--no-browser")
		before := m.defaultModel()
		if r := m.run("models", "--default", "no-such-model"); r.code != 1 || !strings.Contains(r.stderr, "no-such-model") || m.defaultModel() != before {
			t.Errorf("an unknown model: %+v", r)
		}
		if text := m.must("models", "--default", "claude-opus-5-5"); !strings.Contains(text, "$4 / $20, default\n") {
			t.Errorf("no mark in\n%s", text)
		}
		if got := m.defaultModel(); got != "claude-opus-5-5" {
			t.Errorf("the default is %q", got)
		}
		text, err := os.ReadFile(m.configFile())
		if err != nil || !strings.Contains(string(text), `default_model = "claude-opus-5-5"`) {
			t.Errorf("the settings hold %q (%v)", text, err)
		}
		if instance == nil {
			instance = m.serve("serve") // the next start
			defer instance.stop()
		}
		for _, name := range []string{"auto", "default"} {
			if got := instance.modelOf(sim, name); !strings.HasPrefix(got, "claude-opus-5-5") {
				t.Errorf("%s ran with %s", name, got)
			}
		}
		m.must("models", "--default", "auto")
		if got := m.defaultModel(); got != before {
			t.Errorf("back at Cursor's choice the default is %q, not %q", got, before)
		}
		if got := instance.modelOf(sim, "auto"); got != "default" {
			t.Errorf("Cursor's own choice ran with %s", got)
		}
	})
}

// The list says first which back-end has the models and why it is that one, in
// the words of status. Programs get the list alone.
func TestModelsTellTheBackEnd(t *testing.T) {
	anywhere(t, func(t *testing.T, m *machine, sim *simserver.Sim, instance *running) {
		change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
		m.must("login", "--no-browser")
		first := func(want string) {
			t.Helper()
			if line, list, _ := strings.Cut(m.must("models"), "\n"); line != want || !strings.Contains(list, "claude-opus-5-5") {
				t.Errorf("the list begins with %q, want %q, and goes on with\n%s", line, want, list)
			}
		}
		first("back-end: Cursor protocol (auto: logged in to Cursor)")
		prices, err := cursor.ParsePrices(assets.Prices())
		if err != nil {
			t.Fatal(err)
		}
		list := m.must("models")
		if last := "\nprices are as of " + prices.AsOf() + "\n"; !strings.HasSuffix(list, last) || !strings.Contains(list, "  1M context") || strings.Contains(list, "1000k") {
			t.Errorf("the list does not end with %q, or has no large window:\n%s", last, list)
		}
		if instance != nil {
			m.must("backend", "agent")
			first("back-end: Cursor protocol (agent: set by the user)")
		}
		m.defaultModel() // reads a plain list
	})
}

// Without an instance nothing renews the list behind the command, so it asks. The
// stored one helps out while Cursor does not answer, and tells its date.
func TestMU1_ModelsWithoutAnInstanceAreNew(t *testing.T) {
	m, sim := loginMachine(t)
	change(t, sim, func(s *simserver.Settings) { s.AutoConfirm = true })
	m.must("login", "--no-browser")
	m.must("models")
	const list = "/aiserver.v1.AiService/AvailableModels"
	before := sim.Calls(list)
	if r := m.run("models"); r.code != 0 || r.stderr != "" || sim.Calls(list) == before {
		t.Errorf("Cursor was asked %d times before and %d times after: %+v", before, sim.Calls(list), r)
	}
	if err := sim.Inject(simserver.Fault{Kind: simserver.FaultStatus, Route: list, Status: 503}); err != nil {
		t.Fatal(err)
	}
	r := m.run("models")
	if r.code != 0 || !strings.Contains(r.stdout, "claude-opus-5-5") || !strings.Contains(r.stderr, "the list of models is of "+time.Now().Format("2006-")) {
		t.Errorf("with a stored list: %+v", r)
	}
}
