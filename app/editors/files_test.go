//go:build unix

package editors

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPermissions(t *testing.T) {
	d := newDesk(t, map[string]string{claudeFile: "{}", ".codex/config.toml": ""})
	if err := os.Chmod(d.path(".codex/config.toml"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"claude-code", "codex", "pi"} {
		d.setUp(t, id, testSetup())
	}
	for path, want := range map[string]os.FileMode{
		d.path(claudeFile): 0o644, d.path(".codex/config.toml"): 0o640, // as they were
		d.path(".pi/agent/models.json"): 0o600, d.path(".pi/agent"): 0o700, // a key is in it
		d.state: 0o700, filepath.Join(d.state, "pi.json"): 0o600,
	} {
		if got := mode(t, path); got != want {
			t.Errorf("%s: %o, want %o", path, got, want)
		}
	}
	for _, backup := range glob(t, filepath.Join(d.state, "claude-code*")) {
		if got := mode(t, backup); got != 0o600 {
			t.Errorf("%s: %o", backup, got)
		}
	}
}

func TestDS1_LinksStayLinks(t *testing.T) {
	const text = "{\n  \"mine\": 1\n}\n"
	d := newDesk(t, map[string]string{"dotfiles/claude/settings.json": text, "dotfiles/x/y": ""})
	link := func(to, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../dotfiles/claude/link.json", claudeFile)
	link("settings.json", "dotfiles/claude/link.json")
	link("dotfiles/x", ".codex")
	link("missing.toml", "dotfiles/x/config.toml")
	for _, id := range []string{"claude-code", "codex"} {
		d.setUp(t, id, testSetup())
	}
	isLink := func(name, to string) {
		t.Helper()
		if got, err := os.Readlink(d.path(name)); got != to {
			t.Errorf("%s is no link to %s any more: %q, %v", name, to, got, err)
		}
	}
	check := func() {
		isLink(claudeFile, "../dotfiles/claude/link.json")
		isLink("dotfiles/claude/link.json", "settings.json")
		isLink("dotfiles/x/config.toml", "missing.toml")
	}
	check()
	if data, err := os.ReadFile(d.path("dotfiles/claude/settings.json")); err != nil || string(data) == text {
		t.Errorf("the file behind the links: %v\n%s", err, data)
	}
	if _, err := os.Stat(d.path("dotfiles/x/missing.toml")); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"claude-code", "codex"} {
		if _, err := d.Undo(id); err != nil {
			t.Fatal(err)
		}
	}
	check()
	if data, _ := os.ReadFile(d.path("dotfiles/claude/settings.json")); string(data) != text {
		t.Errorf("after undo:\n%s", data)
	}
	if _, err := os.Stat(d.path("dotfiles/x/missing.toml")); !os.IsNotExist(err) {
		t.Errorf("after undo: %v", err)
	}
}

func TestLinksInACircle(t *testing.T) {
	d := newDesk(t, map[string]string{".claude/x": ""})
	if err := os.Symlink("settings.json", d.path(claudeFile)); err != nil {
		t.Fatal(err)
	}
	if p := d.plan(t, "claude-code", testSetup()); p.Problem() == nil {
		t.Error("no problem")
	}
}

// To open a pipe would wait for its other end for ever.
func TestAPipeInThePlaceOfTheFile(t *testing.T) {
	d := newDesk(t, map[string]string{".claude/x": ""})
	if err := syscall.Mkfifo(d.path(claudeFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := d.plan(t, "claude-code", testSetup()); p.Problem() == nil || len(p.Text) == 0 {
		t.Errorf("%v, %v", p.Problem(), p.Text)
	}
	if info, err := d.Find("claude-code"); err != nil || info.State != Broken {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestAFileInThePlaceOfTheFolder(t *testing.T) {
	d := newDesk(t, map[string]string{".claude": "mine"})
	p := d.plan(t, "claude-code", testSetup())
	if _, err := d.Apply(p); err == nil || len(p.Text) == 0 {
		t.Fatalf("%v, %v", err, p.Text)
	}
	if state, _ := d.stateOf(mustEditor(t, "claude-code")); state == SetUp || d.files(t)[".claude"] != "mine" {
		t.Errorf("%s", state)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
