//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	privateQuestion = "What did the otter sing at noon?"
	wrongKey        = "ct-this-is-no-key-of-anybody"
)

// SE-2: at the finest level, with one question, one failure and a wrong key,
// neither keys nor what was said are in the log, which only its user can read.
func TestSE2_TheLogFileTellsNothingPrivate(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey, "CURSORTRAY_LOG_LEVEL=debug")
	s := m.serve("tray", "--demo")
	status, answer := s.ask("POST", "/v1/chat/completions", testKey, question("demo-small", privateQuestion, false))
	if status != 200 {
		t.Fatalf("status %d: %s", status, answer)
	}
	s.ask("POST", "/v1/chat/completions", testKey, question("no-such-model", privateQuestion, false))
	s.ask("POST", "/v1/messages", wrongKey, question("demo-small", privateQuestion, false))
	s.stop()

	path := filepath.Join(m.dirs().State, "cursortray.log")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	text := m.must("logs", "-n", "100000")
	for _, want := range []string{"the proxy runs", "/v1/chat/completions", "level=DEBUG"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the log:\n%s", want, text)
		}
	}
	for _, secret := range []string{testKey, wrongKey, "otter", "sing at noon", "role"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the log:\n%s", secret, text)
		}
	}
	if file, err := os.ReadFile(path); err != nil || string(file) != text {
		t.Errorf("logs prints something else than the file: %v", err)
	}
	if text := m.must("logs", "-n", "1"); strings.Count(text, "\n") != 1 {
		t.Errorf("-n 1 prints %q", text)
	}
}

func TestLogsWithoutALog(t *testing.T) {
	m := newMachine(t)
	if r := m.run("logs"); r.code != 1 || !strings.Contains(r.stderr, "there is no log yet") {
		t.Errorf("%+v", r)
	}
	if r := m.run("logs", "-n", "-1"); r.code != 2 {
		t.Errorf("%+v", r)
	}
}

// A start at login writes to the file alone, and somebody who follows it sees
// what comes.
func TestLogsFollow(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	follow := m.start("logs", "-f")
	s := m.serve("--autostart", "--demo")
	if _, body := s.ask("GET", "/v1/models", testKey, ""); !strings.Contains(body, "demo") {
		t.Error(body)
	}
	for !strings.Contains(follow.line(), "the proxy runs") {
	}
	for !strings.Contains(follow.line(), "/v1/models") {
	}
	follow.signal(os.Interrupt)
	if code := follow.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.stop()
	if text := s.stderr.String(); strings.Contains(text, "level=") {
		t.Errorf("standard error has the log, too:\n%s", text)
	}
}
