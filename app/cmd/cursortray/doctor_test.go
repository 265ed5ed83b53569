//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app/editors"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// Each trouble is found, and the remedy named.
func TestDoctorFindsWhatIsBroken(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey).withAgent(agentsim.Script{})
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	says := func(what string, code int, wants ...string) {
		t.Helper()
		r := m.run("doctor")
		for _, want := range wants {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("%s: %q is not in\n%s", what, want, r.stdout)
			}
		}
		if r.code != code {
			t.Errorf("%s: exit code %d", what, r.code)
		}
	}
	says("a fresh machine", 0, "ok    certificates", "ok    editors", "ok    autostart     off", "ok    log")

	pem := filepath.Join(m.home, "ca.pem")
	m.set("SSL_CERT_FILE", pem)
	says("no such certificates", 1, "fail  certificates  SSL_CERT_FILE cannot be read", "correct the variable")
	write(pem, "nonsense", 0o600)
	says("no certificate", 1, "holds no certificate", "Whose certificates of servers are trusted")
	m.set("SSL_CERT_FILE", "")

	m.must("autostart", "on")
	says("autostart", 0, "ok    autostart     on: ")
	entry := m.autostart().Entry
	write(entry, "[Desktop Entry]\nExec=/gone/cursortray --autostart\n", 0o600)
	if m.autostart().On { // on Linux, that is
		says("a program that is gone", 1, "fail  autostart", "/gone/cursortray, which is not there", "cursortray autostart on")
	}
	m.must("autostart", "off")

	// A program with the name of the CLI, which is something else.
	other := filepath.Join(m.home, "other")
	write(filepath.Join(other, "cursor-agent"), "#!/bin/sh\necho something else entirely\n", 0o700)
	m.set("PATH", other+":"+filepath.Join(m.home, "bin"))
	says("a foreign cursor-agent", 0, "ok    cursor-agent", "passed over: ", "/other/cursor-agent (")

	s := m.serve("serve", "--demo")
	s.stop()
	says("a log", 0, "KiB of at most 1024 in a file")
}

func TestEditorFindings(t *testing.T) {
	list := []editors.Info{
		{ID: "a", Name: "Aider", State: editors.SetUp}, {ID: "z", Name: "Zed", State: editors.SetUp},
		{ID: "c", Name: "Codex", State: editors.Changed}, {ID: "o", Name: "OpenCode", State: editors.Broken, Problem: errors.New("line 3 is no JSON")},
		{ID: "q", Name: "Qwen", State: editors.NotSetUp}, {ID: "x", Name: "Other", State: editors.ByHand},
	}
	found := editorFindings(list)
	if len(found) != 3 || found[0].State != good || found[0].Detail != "set up: Aider, Zed" {
		t.Fatalf("%+v", found)
	}
	if f := found[1]; f.State != doubt || !strings.Contains(f.Detail, "Codex") || !strings.Contains(f.Remedy, "cursortray setup c") {
		t.Errorf("%+v", f)
	}
	if f := found[2]; f.State != doubt || !strings.Contains(f.Detail, "line 3 is no JSON") || !strings.Contains(f.Remedy, "cursortray setup o --print") {
		t.Errorf("%+v", f)
	}
	if found = editorFindings(nil); len(found) != 1 || found[0].State != good {
		t.Errorf("%+v", found)
	}
}
