//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

// TD-3: after kill -9 nothing of the dead instance is in the way of the next.
func TestTD3_AStaleLockDoesNotHinder(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	for range 2 {
		s := m.serve("tray", "--demo")
		s.signal(syscall.SIGKILL)
		<-s.ended
		if r := m.run("stop"); r.code != 1 || r.stderr != "cursortray: no instance is running\n" {
			t.Errorf("after the crash: %+v", r)
		}
	}
	s := m.serve("tray", "--demo")
	if !strings.Contains(m.must("status"), "running") {
		t.Error("the next one is not reached")
	}
	s.stop()
}

// PL-1, TD-3: a server beside the tray that wants the same port fails with the
// other's name, and the tray goes on; with a port of its own both run, and the
// commands reach the tray.
func TestTD3_ServeAndTrayDoNotFight(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	tray := m.serve("tray", "--demo")
	port := strings.TrimPrefix(tray.url, "http://")
	r := m.run("serve", "--demo", "--addr", port)
	if r.code != 1 || !strings.Contains(r.stderr, "is used by cursortray") {
		t.Errorf("%+v", r)
	}
	if !answers(tray.url) {
		t.Error("the tray's port is closed")
	}
	beside := m.serve("serve", "--demo")
	if beside.url == tray.url || !strings.Contains(beside.stderr.String(), "another cursortray is running") {
		t.Errorf("%s beside %s: %s", beside.url, tray.url, beside.stderr)
	}
	if status := m.must("status"); !strings.Contains(status, port) {
		t.Errorf("commands reach the wrong one: %s", status)
	}
	beside.stop()
	m.must("quit")
	if code := tray.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
