//go:build unix && !darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that need the running instance say so without one.
func TestCopyAndBackendWithoutAnInstance(t *testing.T) {
	m := newMachine(t)
	for _, args := range [][]string{{"copy", "url"}, {"copy", "key"}, {"copy", "env"}, {"backend", "cli"}, {"record"}, {"record", "--cancel"}} {
		if r := m.run(args...); r.code != 1 || !strings.HasSuffix(r.stderr, "cursortray: no instance is running\n") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	for _, args := range [][]string{{"copy"}, {"copy", "everything"}, {"backend"}, {"backend", "magic"}} {
		if r := m.run(args...); r.code != 2 {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// What is copied goes to the clipboard of the running instance, and nowhere
// else.
func TestCopy(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	board := filepath.Join(m.home, "clipboard")
	script := "#!/bin/sh\nwhile IFS= read -r line || [ -n \"$line\" ]; do printf '%s\\n' \"$line\"; done >'" + board + "'\n"
	if err := os.WriteFile(filepath.Join(m.home, "bin", "xsel"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := m.serve("tray", "--demo")
	for what, want := range map[string]string{
		"url": s.url + "/v1", "anthropic-url": s.url, "key": testKey, "env": "export ANTHROPIC_AUTH_TOKEN=" + testKey,
	} {
		out := m.must("copy", what)
		if !strings.Contains(out, "copied") || strings.Contains(out, testKey) {
			t.Errorf("copy %s says %q", what, out)
		}
		text, err := os.ReadFile(board)
		if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || lines[len(lines)-1] != want {
			t.Errorf("copy %s: %q, %v; want %q", what, text, err, want)
		}
	}
	s.stop()
}

func TestCopyWithoutAClipboard(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	s := m.serve("tray", "--demo")
	if r := m.run("copy", "url"); r.code != 1 || !strings.Contains(r.stderr, "not copied: no clipboard program found") {
		t.Errorf("%+v", r)
	}
	s.stop()
}

func TestBackend(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=memory")
	s := m.serve("tray")
	if out := m.must("backend", "cli"); !strings.HasPrefix(out, "new conversations: cli") {
		t.Errorf("%q", out)
	}
	if out := m.must("status", "--json"); !strings.Contains(out, `"choice": "cli"`) {
		t.Error(out)
	}
	until(t, "it is saved", func() bool {
		text, _ := os.ReadFile(m.configFile())
		return strings.Contains(string(text), `backend = "cli"`)
	})
	// Nobody is logged in, so this is not known to be the protocol.
	if out := m.must("backend", "auto"); !strings.HasPrefix(out, "new conversations: auto") || strings.Contains(out, "protocol") {
		t.Errorf("%q", out)
	}
	s.stop()
	demo := m.serve("tray", "--demo")
	if r := m.run("backend", "agent"); r.code != 1 || !strings.Contains(r.stderr, "one back-end only") {
		t.Errorf("%+v", r)
	}
	demo.stop()
}
