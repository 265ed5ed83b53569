//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRecordTheNextRequest(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	if r := m.run("record"); r.code != 1 || !strings.Contains(r.stderr, "no instance is running") {
		t.Errorf("without an instance: %+v", r)
	}
	s := m.serve("tray", "--demo")
	waits := func() bool { return strings.Contains(m.must("status", "--json"), `"waiting": true`) }

	cancelled := m.start("record")
	until(t, "it waits", waits)
	m.must("record", "--cancel")
	if code := cancelled.wait(); code != 1 || !strings.Contains(cancelled.stderr.String(), "cancelled") {
		t.Errorf("exit code %d: %s", code, cancelled.stderr)
	}
	if r := m.run("record", "--cancel"); r.code != 1 {
		t.Errorf("of none: %+v", r)
	}
	left := m.start("record")
	until(t, "it waits", waits)
	left.signal(syscall.SIGINT)
	if code := left.wait(); code != 1 {
		t.Errorf("exit code %d after Ctrl-C", code)
	}
	until(t, "Ctrl-C takes it back", func() bool { return !waits() })

	record := m.start("record")
	until(t, "it waits", waits)
	s.ask("GET", "/v1/models", testKey, "") // is none for a model
	var answers []string
	for range 2 {
		status, answer := s.ask("POST", "/v1/messages", testKey, question("demo-small", privateQuestion, true))
		if status != 200 {
			t.Fatalf("status %d: %s", status, answer)
		}
		answers = append(answers, answer)
	}
	path := record.line()
	if code := record.wait(); code != 0 || filepath.Dir(path) != filepath.Join(m.dirs().State, "recordings") {
		t.Errorf("exit code %d, %q", code, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"path": "/v1/messages"`, `"event": "message_start"`, `"event": "message_stop"`, `"event": "finish"`, `"model": "demo-small"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in the recording", want)
		}
	}
	for _, secret := range []string{testKey, "otter", "sing at noon"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in the recording", secret)
		}
	}
	// No word of the answer, of some length, is in it.
	for word := range strings.FieldsSeq(answers[0]) {
		if strings.HasPrefix(word, `{"type"`) || len(word) < 4 || !strings.Contains(word, `"text_delta"`) {
			continue
		}
		_, said, _ := strings.Cut(word, `"text":"`)
		if said, _, _ = strings.Cut(said, `"`); len(said) > 5 && strings.Contains(string(text), said) {
			t.Errorf("%q of the answer is in the recording", said)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d recordings, %v; want one", len(files), err)
	}
	if !strings.Contains(m.must("status", "--json"), path) {
		t.Error("status does not name the recording")
	}
	s.stop()
}
