//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/app/control"
)

// write puts a file into the home folder.
func (m *machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// read returns a file of the home folder, "" if there is none.
func (m *machine) read(name string) string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.home, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return string(data)
}

// theirs returns everything in the home folder but what is cursortray's.
func (m *machine) theirs() map[string]string {
	m.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(m.home, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(m.home, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "cursortray" || slices.Contains([]string{"bin", "run", "state", "cache"}, name)):
			return filepath.SkipDir
		case entry.IsDir():
			files[name+"/"] = ""
		default:
			files[name] = m.read(name)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return files
}

// fails runs a command that has to fail with one line and the given words.
func (m *machine) fails(words string, args ...string) result {
	m.t.Helper()
	r := m.run(args...)
	if r.code != 1 || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "cursortray: ") || !strings.Contains(r.stderr, words) {
		m.t.Errorf("%v: exit code %d, stderr %q; want 1 and one line with %q", args, r.code, r.stderr, words)
	}
	return r
}

var editorKey = regexp.MustCompile(`cte-[A-Za-z0-9_-]{43}`)

const codexFile = ".codex/config.toml"

// The whole way of an editor, with the running instance.
func TestSetupCheckOffUndo(t *testing.T) {
	m := newMachine(t)
	m.write(codexFile, "# mine\nmodel = \"gpt-5\"\n")
	before := m.theirs()
	s := m.serve("serve", "--demo")

	text := m.must("setup", "codex")
	if !strings.Contains(text, "Codex is set up, with demo-large") || !strings.Contains(text, codexFile) || !strings.Contains(text, "backup: ") {
		t.Errorf("setup says %q", text)
	}
	backup := regexp.MustCompile(`backup: ([^)]+)`).FindStringSubmatch(text)
	if data, err := os.ReadFile(backup[1]); err != nil || string(data) != "# mine\nmodel = \"gpt-5\"\n" {
		t.Errorf("backup %q, %v", data, err)
	}
	written := m.read(codexFile)
	key := editorKey.FindString(written)
	if key == "" || key == strings.TrimSpace(m.must("key")) || !strings.Contains(written, s.url+"/v1") || !strings.Contains(written, "model_context_window = 200000") {
		t.Errorf("written:\n%s", written)
	}
	if again := m.must("setup", "codex"); !strings.Contains(again, "already; nothing was changed") || m.read(codexFile) != written {
		t.Errorf("a second run says %q and writes\n%s", again, m.read(codexFile))
	}

	if text := m.must("setup", "codex", "--check"); !strings.Contains(text, "Codex works: demo-large at "+s.url+"/v1/responses said") {
		t.Errorf("check says %q", text)
	}
	if status := m.must("status"); !regexp.MustCompile(`(?m)^editors +Codex \(requests: 1, last \d+s ago\)$`).MatchString(status) {
		t.Errorf("status says\n%s", status)
	}
	m.must("setup", "codex", "--off")
	m.fails("switched off for codex; switch it on in its menu, or run: cursortray setup codex --on", "setup", "codex", "--check")
	if status := m.must("status"); !strings.Contains(status, "(switched off)") {
		t.Errorf("status says\n%s", status)
	}
	m.must("setup", "codex", "--on")
	m.must("setup", "codex", "--check")

	// A choice to keep what the editor uses is remembered, too.
	m.must("setup", "codex", "--keep")
	if text := m.must("setup", "codex"); !strings.Contains(text, "nothing was changed") || !strings.Contains(m.read(codexFile), "model = \"gpt-5\"") {
		t.Errorf("after --keep: %s%s", text, m.read(codexFile))
	}
	m.must("setup", "codex", "--no-keep")
	if m.read(codexFile) != written {
		t.Errorf("after --no-keep:\n%s", m.read(codexFile))
	}

	// The main key is apart.
	m.must("key", "--new")
	m.must("setup", "codex", "--check")

	if text := m.must("setup", "codex", "--undo"); !strings.Contains(text, "Codex is as it was") {
		t.Errorf("undo says %q", text)
	}
	if diff := cmp.Diff(before, m.theirs()); diff != "" {
		t.Errorf("after undo (-want +got):\n%s", diff)
	}
	m.fails("nothing to undo", "setup", "codex", "--undo")
	m.fails("Codex is not set up; run: cursortray setup codex", "setup", "codex", "--check")
	// What was copied elsewhere is worth nothing any more.
	m.write(codexFile, written)
	m.must("setup", "codex")
	m.write(codexFile, written)
	m.fails("run: cursortray setup codex", "setup", "codex", "--check")
	s.stop()
	if strings.Contains(s.stderr.String(), "cte-") {
		t.Errorf("the log holds a key:\n%s", s.stderr)
	}
}

// Without an instance the store of secrets does; an instance that starts later
// knows the keys.
func TestSetupWithoutAnInstance(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=file", "CURSORTRAY_ADDR="+freeAddr(t))
	m.fails("log in", "setup", "claude")
	if text := m.must("setup", "claude", "--model", "demo-small"); !strings.Contains(text, "Claude Code is set up, with demo-small") {
		t.Errorf("setup says %q", text)
	}
	m.fails("start cursortray", "setup", "claude", "--check", "--model", "demo-small")
	s := m.serve("serve", "--demo")
	if text := m.must("setup", "claude", "--check"); !strings.Contains(text, "Claude Code works: demo-small at "+s.url+"/v1/messages") {
		t.Errorf("check says %q", text)
	}
	// The model of the last time stays, and is now known better.
	m.must("setup", "claude")
	if text := m.read(".claude/settings.json"); !strings.Contains(text, `"ANTHROPIC_MODEL": "demo-small"`) || !strings.Contains(text, `"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32000"`) {
		t.Errorf("settings:\n%s", text)
	}
	s.stop()
	m.must("setup", "claude", "--off")
	m.serve("serve", "--demo")
	m.fails("switched off for claude-code", "setup", "claude", "--check")
	m.must("setup", "claude", "--undo")
	if m.read(".claude/settings.json") != "" {
		t.Error("undo left a file")
	}
}

func TestSetupWithoutAStoreOfSecrets(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_ADDR="+freeAddr(t)) // no keychain either
	m.fails("no store that could keep a key", "setup", "codex", "--model", "auto")
	if m.read(codexFile) != "" {
		t.Error("a file was written")
	}
	s := m.serve("serve", "--demo")
	if r := m.run("setup", "codex"); r.code != 0 || !strings.Contains(r.stderr, "warning: there is no store that could keep the editor's key") {
		t.Errorf("%+v", r)
	}
	m.must("setup", "codex", "--check")
	s.stop()

	// A key of the user's lasts, and editors get that.
	m = newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	m.serve("serve", "--demo")
	if r := m.run("setup", "codex"); r.code != 0 || r.stderr != "" || !strings.Contains(m.read(codexFile), testKey) {
		t.Errorf("%+v, written\n%s", r, m.read(codexFile))
	}
	m.must("setup", "codex", "--check")
	m.fails("none can be switched off", "setup", "codex", "--off")
	m.must("setup", "codex", "--undo")
}

func TestSetupLeavesABrokenFileAlone(t *testing.T) {
	m := newMachine(t)
	s := m.serve("serve", "--demo")
	const broken = "model = \"gpt-5\"\n[model_providers\n"
	m.write(codexFile, broken)
	r := m.fails(codexFile, "setup", "codex")
	if !strings.Contains(r.stdout, "[model_providers.cursortray]") || !strings.Contains(r.stdout, s.url) || m.read(codexFile) != broken {
		t.Errorf("shown %q, file %q", r.stdout, m.read(codexFile))
	}
	if strings.Contains(r.stderr, "cte-") {
		t.Errorf("the error holds the key: %s", r.stderr)
	}
}

func TestSetupPrint(t *testing.T) {
	m := newMachine(t, "SHELL=/usr/bin/fish")
	m.serve("serve", "--demo")
	before := m.theirs()
	for args, want := range map[string]string{
		"copilot-cli":                    "set -gx COPILOT_MODEL 'demo-large'",
		"copilot-cli --shell bash":       "export COPILOT_MODEL='demo-large'",
		"copilot-cli --shell zsh":        "In ~/.zshrc (zsh):",
		"copilot-cli --shell powershell": "$env:COPILOT_MODEL = 'demo-large'",
		"other":                          "OpenAI-compatible base URL: http://127.0.0.1:",
		"jetbrains":                      "OpenAI-compatible",
		"codex":                          "experimental_bearer_token = \"cte-",
		"opencode --model demo-small":    `"model": "cursortray/demo-small"`,
		"goose":                          "set -gx CURSORTRAY_GOOSE_KEY 'cte-",
	} {
		r := m.run(append([]string{"setup", "--print"}, strings.Fields(args)...)...)
		if r.code != 0 || !strings.Contains(r.stdout, want) || !editorKey.MatchString(r.stdout) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
		if strings.Count(r.stdout, "COPILOT_MODEL") > 1 {
			t.Errorf("%s: several shells:\n%s", args, r.stdout)
		}
	}
	if diff := cmp.Diff(before, m.theirs()); diff != "" {
		t.Errorf("something was written (-want +got):\n%s", diff)
	}
}

func TestSetupList(t *testing.T) {
	m := newMachine(t)
	m.write(".config-of-codex/x", "")
	m.write(codexFile, "")
	m.write(".claude/settings.json", "{")
	m.serve("serve", "--demo")
	m.must("setup", "codex")
	m.must("setup", "cline")
	m.must("setup", "codex", "--check")
	var list []control.Editor
	if err := json.Unmarshal([]byte(m.must("setup", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]control.Editor{}
	for _, e := range list {
		got[e.ID] = e
	}
	if e := got["codex"]; e.State != "set up" || !e.Found || !e.Keyed || e.Off || e.Requests != 1 || e.LastUsed == nil || len(e.Files) != 1 {
		t.Errorf("codex: %+v", e)
	}
	if e := got["claude-code"]; e.State != "broken" || !e.Found || e.Problem == "" || e.Keyed {
		t.Errorf("claude-code: %+v", e)
	}
	if e := got["cline"]; e.State != "by hand" || !e.Keyed || e.Requests != 0 {
		t.Errorf("cline: %+v", e)
	}
	text := m.must("setup", "--list")
	if text != m.must("setup") || !regexp.MustCompile(`(?m)^codex +Codex +set up, requests: 1 +/`).MatchString(text) {
		t.Errorf("the list:\n%s", text)
	}
	if first, _, _ := strings.Cut(text, " "); first != "codex" && first != "claude-code" {
		t.Errorf("the first is %s, which was not found", first)
	}
}

func TestSetupUsedWrongly(t *testing.T) {
	m := newMachine(t)
	for _, args := range []string{
		"--undo", "--print", "--check", "--model x", "codex --list", "codex --json", "codex --undo --check", "codex --shell cmd", "codex zed",
	} {
		if r := m.run(append([]string{"setup"}, strings.Fields(args)...)...); r.code != 2 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", args, r)
		}
	}
	m.fails("no such editor; cursortray setup --list", "setup", "nano")
}

// freeAddr is an address whose port nobody holds now.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
