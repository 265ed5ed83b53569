//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app/control"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// withoutKeychain is a machine that has no place for secrets but memory.
func withoutKeychain(t *testing.T) (*machine, *simserver.Sim) {
	m := newMachine(t)
	return m, m.withCursor()
}

func (m *machine) secretFiles() []string {
	m.t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dirs().State, "secrets", "secret.*"))
	if err != nil {
		m.t.Fatal(err)
	}
	return files
}

func (m *machine) holdsSetting(line string) {
	m.t.Helper()
	text, err := os.ReadFile(m.configFile())
	if err != nil || !strings.Contains(string(text), line) {
		m.t.Errorf("the settings are %q (%v), want %s", text, err, line)
	}
}

// Where there is no keychain the user may agree to a file, at any time. (KC-2)
func TestKC2_SecretsMoveToAFile(t *testing.T) {
	m, _ := withoutKeychain(t)
	instance := m.serve("serve")
	key := m.must("key")
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	if a := m.account(); a.State != "in" || a.Storage != "keychain" || a.Warning == "" {
		t.Errorf("before: %+v", a)
	}
	if files := m.secretFiles(); len(files) > 0 {
		t.Errorf("without consent there is %v", files)
	}
	if err := control.NewClient(m.dirs().Runtime).KeepInFile(t.Context()); err != nil { // the menu's click
		t.Fatal(err)
	}
	until(t, "the login is kept", func() bool {
		a := m.account()
		return a.State == "in" && a.Storage == "file" && a.Warning == ""
	})
	if got := m.must("key"); got != key {
		t.Error("the local key is another one")
	}
	m.holdsSetting(`token_store = "file"`)
	for _, file := range m.secretFiles() {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	instance.stop()

	instance = m.serve("serve") // the next start
	if a := m.account(); a.State != "in" || a.Storage != "file" {
		t.Errorf("after a restart: %+v", a)
	}
	if got := m.must("key"); got != key {
		t.Error("after a restart the local key is another one")
	}
	m.must("logout")
	instance.stop()
	if files := m.secretFiles(); len(files) != 1 { // the local key
		t.Errorf("after the logout there is %v", files)
	}
}

func TestLoginWithInsecureStorage(t *testing.T) {
	for _, name := range []string{"without an instance", "with an instance"} {
		t.Run(name, func(t *testing.T) {
			m, _ := withoutKeychain(t)
			var instance *running
			if name == "with an instance" {
				instance = m.serve("serve")
			}
			if r := m.withInput(simserver.DefaultKey, "login", "--api-key", "-", "--insecure-storage"); r.code != 0 || r.stdout != "logged in to Cursor as ada@example.com\n" {
				t.Fatalf("%+v", r)
			}
			m.holdsSetting(`token_store = "file"`)
			if instance != nil {
				instance.stop()
			}
			if a := m.account(); a.State != "in" || a.Storage != "file" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// A folder that cannot be written to leaves everything as it was.
func TestMoveToAFileThatFails(t *testing.T) {
	m, _ := withoutKeychain(t)
	secrets := filepath.Join(m.dirs().State, "secrets")
	if err := os.MkdirAll(m.dirs().State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secrets, nil, 0o600); err != nil { // no folder
		t.Fatal(err)
	}
	instance := m.serve("serve")
	m.loginWithKey(simserver.DefaultKey, "ada@example.com")
	if err := control.NewClient(m.dirs().Runtime).KeepInFile(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be kept in a file") {
		t.Errorf("%v", err)
	}
	if a := m.account(); a.State != "in" || a.Storage != "keychain" || a.Warning == "" {
		t.Errorf("%+v", a)
	}
	if text, _ := os.ReadFile(m.configFile()); strings.Contains(string(text), "token_store") {
		t.Errorf("the settings are %q", text)
	}
	instance.stop()
}
