//go:build unix

package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cursortray/app/config"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

func TestHelp(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"", "tray", "serve", "status", "start", "stop", "quit", "login", "logout", "key", "models", "open", "setup", "usage", "allow", "autostart", "logs", "record", "copy", "backend", "doctor", "version", "help"} {
		args, name := []string{command, "--help"}, command
		if command == "" {
			args, name = []string{"--help"}, "cursortray"
		}
		r := m.run(args...)
		if r.code != 0 || r.stderr != "" {
			t.Errorf("%v: exit code %d, stderr %q", args, r.code, r.stderr)
		}
		golden(t, "help/"+name+".txt", r.stdout)
		if command != "" && m.must("help", command) != r.stdout {
			t.Errorf("help %s and %s --help differ", command, command)
		}
	}
}

func TestHelpSettingsListsEverySetting(t *testing.T) {
	m := newMachine(t)
	text := m.must("help", "settings")
	golden(t, "help/settings.txt", strings.ReplaceAll(text, m.home, "HOME"))
	for _, row := range config.Table() {
		if !strings.Contains(text, "\n"+row.Key+"\n") || !strings.Contains(text, row.Env()) {
			t.Errorf("%s is missing", row.Key)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	m := newMachine(t)
	for _, args := range [][]string{
		{"nonsense"}, {"--nonsense"}, {"serve", "extra"}, {"serve", "--port", "1"}, {"serve", "--addr"}, {"serve", "--addr", "8765"},
		{"serve", "--addr", "127.0.0.1:99999"}, {"serve", "--addr", "0.0.0.0:0"}, {"serve", "--addr", ":0"}, {"serve", "--backend", "magic"},
		{"status", "--yaml"}, {"key", "--new", "x"}, {"help", "nonsense"}, {"--backend", "magic"},
	} {
		r := m.run(args...)
		if r.code != 2 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "cursortray: ") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2 and one line on stderr", args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	m := newMachine(t)
	text := m.must("version")
	if !regexp.MustCompile(`^cursortray \S+ \(go[0-9.]+.*\)\n$`).MatchString(text) {
		t.Errorf("version prints %q", text)
	}
	if flag := m.must("--version"); flag != text {
		t.Errorf("--version prints %q", flag)
	}
}

// Without an instance: commands that need one say so and fail.
func TestWithoutAnInstance(t *testing.T) {
	m := newMachine(t)
	if r := m.run("status"); r.code != 1 || r.stdout != "login  nobody is logged in; cursortray login does it\n" || r.stderr != "cursortray: no instance is running\n" {
		t.Errorf("status: %+v", r)
	}
	for _, command := range []string{"start", "stop", "quit"} {
		r := m.run(command)
		if r.code != 1 || r.stdout != "" || r.stderr != "cursortray: no instance is running\n" {
			t.Errorf("%s: %+v", command, r)
		}
	}
	r := m.run("status", "--json")
	if r.code != 1 || r.stderr != "" {
		t.Errorf("status --json: %+v", r)
	}
	golden(t, "status-none.json", strings.ReplaceAll(r.stdout, m.home, "HOME"))
}

func TestStatus(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	s := m.serve("serve", "--demo")
	clean := func(text string) string {
		text = strings.ReplaceAll(text, m.home, "HOME")
		text = strings.ReplaceAll(text, strings.TrimPrefix(s.url, "http://127.0.0.1:"), "PORT")
		return regexp.MustCompile(`("pid": |process )\d+`).ReplaceAllString(regexp.MustCompile(`("version": |cursortray +)[^,\n]+`).ReplaceAllString(text, "${1}VERSION"), "${1}PID")
	}
	golden(t, "status.json", clean(m.must("status", "--json")))
	golden(t, "status.txt", clean(m.must("status")))
}

func TestStartStopQuit(t *testing.T) {
	m := newMachine(t)
	s := m.serve("tray", "--demo") // without a desktop; serve would end with its port
	m.must("stop")
	if answers(s.url) {
		t.Error("the port is open after stop")
	}
	if !strings.Contains(m.must("status"), "stopped") {
		t.Error("status does not say stopped")
	}
	m.must("start")
	if !answers(s.url) {
		t.Error("the same port is not open after start")
	}
	m.must("stop")
	ln, err := net.Listen("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if r := m.run("start"); r.code != 1 || !strings.Contains(r.stderr, "is used by") {
		t.Errorf("start with the port taken: %+v", r)
	}
	ln.Close()
	m.must("quit")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestModels(t *testing.T) {
	m := newMachine(t)
	s := m.serve("serve", "--demo")
	golden(t, "models.json", m.must("models", "--json"))
	if text := m.must("models"); !strings.Contains(text, "demo-large") || !strings.Contains(text, "200k context, default") {
		t.Errorf("models prints %q", text)
	}
	s.stop()

	if r := m.run("models"); r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "cursortray login") {
		t.Errorf("without instance, login and CLI: %+v", r)
	}
	m.withAgent(agentsim.Script{})
	var models []struct{ ID, Name string }
	if err := json.Unmarshal([]byte(m.must("models", "--json")), &models); err != nil || len(models) == 0 || models[0].ID == "" {
		t.Errorf("without instance: %v, %v", models, err)
	}
}

func TestKeyIsMadeOnceAndReplacedAtOnce(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=file")
	key := m.must("key")
	if !regexp.MustCompile(`^ct-[A-Za-z0-9_-]{43}\n$`).MatchString(key) || m.must("key") != key {
		t.Fatalf("key %q, want a lasting one", key)
	}
	s := m.serve("serve", "--demo")
	if m.must("key") != key {
		t.Error("the running instance has another key")
	}
	status := func(key string) int {
		code, _ := s.ask("GET", "/v1/models", strings.TrimSpace(key), "")
		return code
	}
	if status(key) != 200 || status("") != 401 || status("wrong") != 401 {
		t.Error("the key is not what the proxy asks for")
	}
	fresh := m.must("key", "--new")
	if fresh == key || status(fresh) != 200 || status(key) != 401 {
		t.Error("the new key is not in force at once")
	}
	s.stop()
	if m.must("key") != fresh {
		t.Error("the new key was not kept")
	}
	if another := m.must("key", "--new"); another == fresh || m.must("key") != another {
		t.Error("a new key without an instance was not kept")
	}
}

func TestKeyWithoutAKeychain(t *testing.T) {
	for _, store := range []string{"keychain", "memory"} {
		t.Run(store, func(t *testing.T) {
			m := newMachine(t, "CURSORTRAY_TOKEN_STORE="+store)
			if r := m.run("key"); r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "CURSORTRAY_API_KEY") {
				t.Errorf("without an instance: %+v", r)
			}
			s := m.serve("serve", "--demo")
			key := strings.TrimSpace(m.must("key"))
			if code, _ := s.ask("GET", "/v1/models", key, ""); code != 200 {
				t.Errorf("status %d with the key of this run", code)
			}
			if text := s.stderr.String(); !strings.Contains(text, "CURSORTRAY_API_KEY") || !strings.Contains(text, "CURSORTRAY_TOKEN_STORE=file") || strings.Contains(text, key) {
				t.Errorf("the log should say how to keep the key, without it: %s", text)
			}
		})
	}
}

func TestKeyOfTheSettings(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	if key := m.must("key"); key != testKey+"\n" {
		t.Errorf("key prints %q", key)
	}
	if r := m.run("key", "--new"); r.code != 1 || !strings.Contains(r.stderr, "CURSORTRAY_API_KEY") {
		t.Errorf("key --new: %+v", r)
	}
}

func TestPrecedence(t *testing.T) {
	m := newMachine(t)
	choice := func(args ...string) string {
		t.Helper()
		s := m.serve(append([]string{"serve"}, args...)...)
		defer s.stop()
		var status struct{ Backend struct{ Choice string } }
		if err := json.Unmarshal([]byte(m.must("status", "--json")), &status); err != nil {
			t.Fatal(err)
		}
		return status.Backend.Choice
	}
	if got := choice(); got != "auto" {
		t.Errorf("default: %s", got)
	}
	m.writeConfig("backend = \"cli\"\n")
	if got := choice(); got != "cli" {
		t.Errorf("file: %s", got)
	}
	m.env = append(m.env, "CURSORTRAY_BACKEND=agent")
	if got := choice(); got != "agent" {
		t.Errorf("environment: %s", got)
	}
	if got := choice("--backend", "auto"); got != "auto" {
		t.Errorf("flag: %s", got)
	}
}

func TestBrokenSettingsFile(t *testing.T) {
	m := newMachine(t)
	const broken = "addr = 127.0.0.1:8765\n"
	m.writeConfig(broken)
	s := m.serve("serve", "--demo")
	aside := m.configFile() + ".broken-1"
	if kept, err := os.ReadFile(aside); err != nil || string(kept) != broken {
		t.Errorf("%s holds %q (%v)", aside, kept, err)
	}
	first, _, _ := strings.Cut(s.stderr.String(), "\n")
	if !strings.HasPrefix(first, "cursortray: warning: ") || !strings.Contains(first, aside) || !strings.Contains(first, "line 1") {
		t.Errorf("the warning is %q", first)
	}
}

func TestRS2_NonsenseIsToldAndNotUsed(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_CLI_IDLE_TIMEOUT=abc")
	m.writeConfig("cli_max_runs = \"many\"\ncolour = \"red\"\n")
	s := m.serve("serve", "--demo")
	for _, want := range []string{"CURSORTRAY_CLI_IDLE_TIMEOUT", "using 2m", "cli_max_runs", "using 3", "colour"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("no warning with %q in %s", want, s.stderr)
		}
	}
	if text, err := os.ReadFile(m.configFile()); err != nil || !strings.Contains(string(text), "many") {
		t.Errorf("the file was changed: %q, %v", text, err)
	}
}

func TestDoctor(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey, "HTTPS_PROXY=http://user:password@127.0.0.1:1")
	type report struct {
		OK       bool
		Findings []finding
	}
	examine := func(code int) (report, map[string]finding) {
		t.Helper()
		r := m.run("doctor", "--json")
		var rep report
		if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil || r.code != code || rep.OK != (code == 0) {
			t.Fatalf("%v, want code %d: %+v", err, code, r)
		}
		if strings.Contains(r.stdout, testKey) || strings.Contains(r.stdout, "password") {
			t.Errorf("a secret is printed: %s", r.stdout)
		}
		byName := map[string]finding{}
		if n := strings.Count(r.stdout, `"meaning": `); n != len(rep.Findings) {
			t.Errorf("%d of %d findings say what they are about", n, len(rep.Findings))
		}
		for _, f := range rep.Findings {
			byName[f.Name] = f
		}
		return rep, byName
	}
	rep, found := examine(1)
	for name, state := range map[string]verdict{
		"settings": good, "instance": good, "port": good, "key": good, "cursor-agent": bad, "login": doubt, "network": doubt,
		"keychain": good, "account": doubt, "clock": doubt, "agent-host": doubt,
		"certificates": good, "editors": good, "autostart": good, "log": good,
	} {
		if f := found[name]; f.State != state || f.Detail == "" {
			t.Errorf("%s: %+v, want %s", name, f, state)
		}
	}
	// A Mac or a PC may have a tray even here.
	if f := found["desktop"]; f.State == bad || f.Detail == "" {
		t.Errorf("desktop: %+v", f)
	}
	if len(rep.Findings) != 16 {
		t.Errorf("%d findings", len(rep.Findings))
	}
	if r := m.run("doctor"); r.code != 1 || !strings.Contains(r.stdout, "To be mended: cursor-agent.") {
		t.Errorf("doctor for people: %+v", r)
	}

	m.withAgent(agentsim.Script{})
	_, found = examine(0)
	if f := found["cursor-agent"]; f.State != good || !strings.Contains(f.Detail, agentsim.Version) || found["login"].State != good {
		t.Errorf("with the CLI: %+v, %+v", f, found["login"])
	}

	s := m.serve("serve", "--demo")
	_, found = examine(0)
	if f := found["port"]; !strings.Contains(f.Detail, strings.TrimPrefix(s.url, "http://")) {
		t.Errorf("with an instance: %+v", f)
	}
	s.stop()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	m.env = append(m.env, "CURSORTRAY_ADDR="+ln.Addr().String())
	if _, found = examine(1); found["port"].State != bad || !strings.Contains(found["port"].Detail, filepath.Base(os.Args[0])) {
		t.Errorf("with the port taken: %+v", found["port"])
	}
}

func TestDoctorSaysLoggedOut(t *testing.T) {
	m := newMachine(t).withAgent(agentsim.Script{LoggedOut: true})
	r := m.run("doctor")
	if r.code != 1 || !regexp.MustCompile(`(?m)^fail  login .*login`).MatchString(r.stdout) || !strings.Contains(r.stdout, "ok    cursor-agent") {
		t.Errorf("%+v", r)
	}
}
