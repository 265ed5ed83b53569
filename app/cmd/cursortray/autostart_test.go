//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (m *machine) autostart(args ...string) autostartReport {
	m.t.Helper()
	var r autostartReport
	text := m.must(append(append([]string{"autostart"}, args...), "--json")...)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		m.t.Fatal(err, text)
	}
	return r
}

// Switched on, off and on again there is exactly one entry, and nothing was
// started.
func TestTD3_AutostartStartsNothing(t *testing.T) {
	m := newMachine(t)
	program := filepath.Join(m.home, "bin", "cursortray") // a link, which stays one
	if r := m.autostart(); r.On || r.Program != "" {
		t.Errorf("at first: %+v", r)
	}
	for _, step := range []string{"on", "off", "on", "on"} {
		if r := m.autostart(step); r.On != (step == "on") || r.On && r.Program != program {
			t.Errorf("after %s: %+v", step, r)
		}
	}
	r := m.autostart("status")
	entries, err := os.ReadDir(filepath.Dir(r.Entry))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v; want one", len(entries), err)
	}
	text, err := os.ReadFile(r.Entry)
	if err != nil || !strings.Contains(string(text), program) || !strings.Contains(string(text), "--autostart") {
		t.Errorf("%s%v", text, err)
	}
	if r := m.run("status"); r.code != 1 || r.stderr != "cursortray: no instance is running\n" {
		t.Errorf("something was started: %+v", r)
	}
	if text := m.must("autostart"); text != "on: "+program+" starts when you log in\n" {
		t.Errorf("in words: %q", text)
	}
	if r := m.run("autostart", "maybe"); r.code != 2 {
		t.Errorf("a wrong word: %+v", r)
	}
}

// A moved binary: the entry follows at its next start, which can be one at
// login.
func TestAutostartFollowsAMovedProgram(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=memory")
	m.autostart("on")
	m.bin = filepath.Join(m.home, "else where", "cursortray")
	if err := os.Mkdir(filepath.Dir(m.bin), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(m.home, "bin", "cursortray"), m.bin); err != nil {
		t.Fatal(err)
	}
	s := m.serve("--autostart")
	if r := m.autostart(); !r.On || r.Program != m.bin {
		t.Errorf("%+v; want %s", r, m.bin)
	}
	s.stop()
}

// What the command changes, the running instance knows.
func TestAutostartIsKnownToTheInstance(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=memory")
	s := m.serve("tray")
	known := func(on bool) {
		t.Helper()
		deadline := time.Now().Add(patient)
		for {
			var status struct{ Autostart bool }
			if err := json.Unmarshal([]byte(m.must("status", "--json")), &status); err != nil {
				t.Fatal(err)
			}
			if status.Autostart == on {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the instance says autostart %v", status.Autostart)
			}
		}
	}
	known(false)
	m.autostart("on")
	known(true)
	m.autostart("off")
	known(false)
	s.stop()
}
