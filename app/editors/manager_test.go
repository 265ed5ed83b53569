package editors

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const claudeFile = ".claude/settings.json"

func TestListHasWhatIsFoundFirst(t *testing.T) {
	d := newDesk(t, map[string]string{
		".vscode/extensions/saoudrizwan.claude-dev-3.1.0/package.json": "{}",
		claudeFile:            "{}",
		".config/zed/x":       "",
		".codex/config.toml":  "broken",
		".config/kilo/a.json": "",
	})
	d.lookPath = func(name string) (string, error) {
		if name == "aider" {
			return "/usr/bin/aider", nil
		}
		return "", errors.New("not here")
	}
	d.setUp(t, "claude-code", testSetup())
	d.setUp(t, "zed", testSetup())
	d.write(t, ".config/zed/settings.json", "{}")
	got := map[string]State{}
	foundEnded := false
	for _, info := range d.List() {
		if info.Found {
			got[info.ID] = info.State
		}
		if foundEnded && info.Found {
			t.Errorf("%s is found but not among the first", info.ID)
		}
		foundEnded = !info.Found
		if (info.State == Broken) != (info.Problem != nil) {
			t.Errorf("%s: %s, %v", info.ID, info.State, info.Problem)
		}
	}
	want := map[string]State{"claude-code": SetUp, "codex": Broken, "zed": Changed, "cline": ByHand, "aider": NotSetUp, "kilo-cli": NotSetUp}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDS1_UndoLeavesWhatTheUserChanged(t *testing.T) {
	d := newDesk(t, map[string]string{claudeFile: "{\n  \"env\": {\n    \"ANTHROPIC_MODEL\": \"opus\"\n  }\n}\n"})
	d.setUp(t, "claude-code", testSetup())
	text := strings.Replace(d.files(t)[claudeFile], `"sonnet-4.5"`, `"mine" /* now */`, 1)
	d.write(t, claudeFile, strings.Replace(text, "\n}\n", ",\n  \"model\": \"opus\" // new\n}\n", 1))
	if _, err := d.Undo("claude-code"); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"env\": {\n    \"ANTHROPIC_MODEL\": \"mine\" /* now */\n  },\n  \"model\": \"opus\" // new\n}\n"
	if got := d.files(t)[claudeFile]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Seen with Cline CLI 3.0.65: it notes the time of each use and adds a map.
func TestUndoAfterTheEditorHasWrittenItsFile(t *testing.T) {
	const file = ".cline/data/settings/providers.json"
	d := newDesk(t, map[string]string{file: "{\n  \"version\": 1\n}\n"})
	d.setUp(t, "cline-cli", testSetup())
	text := strings.Replace(d.files(t)[file], "2026-01-01T00:00:00.000Z", "2026-11-30T09:37:03.050Z", 1)
	d.write(t, file, strings.Replace(text, "\"version\": 1,", "\"version\": 1,\n  \"modes\": {},", 1))
	if state, err := d.stateOf(mustEditor(t, "cline-cli")); state != SetUp {
		t.Errorf("%s, %v", state, err)
	}
	if p := d.plan(t, "cline-cli", testSetup()); p.Changes() {
		t.Errorf("a second run changes it:\n%s", p.Files[0].New)
	}
	if _, err := d.Undo("cline-cli"); err != nil {
		t.Fatal(err)
	}
	if got := d.files(t)[file]; got != "{\n  \"version\": 1,\n  \"modes\": {}\n}\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestUndoTakesAnotherModelOfOursAlong(t *testing.T) {
	const file = ".config/opencode/opencode.json"
	d := newDesk(t, map[string]string{file: "{\n  \"model\": \"openai/gpt\"\n}\n"})
	d.setUp(t, "opencode", testSetup())
	d.write(t, file, strings.Replace(d.files(t)[file], "cursortray/sonnet-4.5", "cursortray/gpt-5-mini", 1))
	if _, err := d.Undo("opencode"); err != nil {
		t.Fatal(err)
	}
	if got := d.files(t)[file]; got != "{\n  \"model\": \"openai/gpt\"\n}\n" {
		t.Errorf("got\n%s", got)
	}
}

// A second run with a new port, key and models changes those and takes out the
// models that are gone; undo still goes back to the beginning.
func TestDS1_SecondRunUpdates(t *testing.T) {
	for _, id := range []string{"opencode", "codex", "claude-code", "continue", "zed", "vscode", "cline-cli", "kilo-cli", "aider", "goose", "pi", "qwen-code"} {
		t.Run(id, func(t *testing.T) {
			d := newDesk(t, nil)
			d.setUp(t, id, testSetup())
			s := testSetup()
			s.BaseURL, s.Key, s.Small = "http://127.0.0.1:8888/v1", "local-key-2", ""
			s.Models = s.Models[:1]
			d.setUp(t, id, s)
			updated := d.files(t)
			for name, text := range updated {
				if strings.Contains(text, "7777") || strings.Contains(text, "local-key-1") || strings.Contains(text, "gpt-5-mini") {
					t.Errorf("%s still has the old:\n%s", name, text)
				}
			}
			fresh := newDesk(t, nil)
			fresh.setUp(t, id, s)
			if diff := cmp.Diff(fresh.files(t), updated); diff != "" {
				t.Errorf("other than set up anew:\n%s", diff)
			}
			if _, err := d.Undo(id); err != nil {
				t.Fatal(err)
			}
			if left := d.files(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestKeepChoice(t *testing.T) {
	const file = ".codex/config.toml"
	d := newDesk(t, map[string]string{file: "model = \"gpt-5\"\n"})
	d.setUp(t, "codex", testSetup())
	s := testSetup()
	s.KeepChoice = true
	d.setUp(t, "codex", s)
	text := d.files(t)[file]
	if !strings.HasPrefix(text, "model = \"gpt-5\"\n\n[model_providers.cursortray]") || strings.Contains(text, "model_context_window") {
		t.Errorf("got\n%s", text)
	}
}

func TestOnlyOneOfTwoFilesIsNoSetUp(t *testing.T) {
	d := newDesk(t, map[string]string{".qwen/settings.json": "{}"})
	p := d.plan(t, "qwen-code", testSetup())
	// The folder in the place of the file makes the second write fail.
	p.Files[1].Path = d.path(".qwen")
	p.Files[1].Exists, p.Files[1].Old = false, nil
	if _, err := d.Apply(p); err == nil {
		t.Fatal("applied")
	}
	if diff := cmp.Diff(map[string]string{".qwen/settings.json": "{}"}, d.files(t)); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFailsAndEverythingIsAsBefore(t *testing.T) {
	d := newDesk(t, map[string]string{"a": "old a", "b/x": ""})
	files := []FileChange{
		{Path: d.path("a"), Exists: true, Old: []byte("old a"), New: []byte("new a")},
		{Path: d.path("c"), New: []byte("new c")},
		{Path: d.path("b"), New: []byte("new b")}, // a folder
	}
	if err := os.MkdirAll(d.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Manager.write("x", files); err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(map[string]string{"a": "old a", "b/x": ""}, d.files(t)); diff != "" {
		t.Error(diff)
	}
}

func TestApplyRefusesAFileThatChanged(t *testing.T) {
	d := newDesk(t, map[string]string{claudeFile: "{}"})
	p := d.plan(t, "claude-code", testSetup())
	d.write(t, claudeFile, "{ }")
	if _, err := d.Apply(p); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if got := d.files(t)[claudeFile]; got != "{ }" {
		t.Errorf("got %s", got)
	}
}

func TestBackupIsKept(t *testing.T) {
	const text = "{ \"mine\": 1 } // so\n"
	d := newDesk(t, map[string]string{claudeFile: text})
	backups, err := d.Apply(d.plan(t, "claude-code", testSetup()))
	if err != nil || len(backups) != 1 {
		t.Fatal(backups, err)
	}
	if data, err := os.ReadFile(backups[0]); string(data) != text {
		t.Errorf("backup %q, %v", data, err)
	}
	written := d.files(t)[claudeFile]
	if _, err := d.Undo("claude-code"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(backups[0]); string(data) != written {
		t.Errorf("backup before undo %q, %v", data, err)
	}
	if _, err := d.Undo("claude-code"); !errors.Is(err, ErrNotSetUp) {
		t.Errorf("second undo: %v", err)
	}
}

// Without its backup, undo still takes out what is ours.
func TestUndoWithoutBackup(t *testing.T) {
	d := newDesk(t, map[string]string{claudeFile: "{\n  \"mine\": 1\n}\n"})
	d.setUp(t, "claude-code", testSetup())
	for _, name := range glob(t, filepath.Join(d.state, "*.before")) {
		os.Remove(name)
	}
	if _, err := d.Undo("claude-code"); err != nil {
		t.Fatal(err)
	}
	if got := d.files(t)[claudeFile]; got != "{\n  \"mine\": 1\n}\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestUndoOfABrokenFileTouchesNothing(t *testing.T) {
	d := newDesk(t, nil)
	d.setUp(t, "qwen-code", testSetup())
	d.write(t, ".qwen/settings.json", "{")
	before := d.files(t)
	if _, err := d.Undo("qwen-code"); err == nil || !strings.Contains(err.Error(), "settings.json") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, d.files(t)); diff != "" {
		t.Error(diff)
	}
}

// A file that the editor has given up in favour of another name is cleaned, too.
func TestUndoFindsTheFileUnderItsOldName(t *testing.T) {
	d := newDesk(t, nil)
	d.setUp(t, "opencode", testSetup())
	d.write(t, ".config/opencode/opencode.jsonc", "{}")
	d.setUp(t, "opencode", testSetup())
	if _, err := d.Undo("opencode"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{".config/opencode/opencode.jsonc": "{}"}, d.files(t)); diff != "" {
		t.Error(diff)
	}
}

func TestSetUpAgainAfterTheFileIsGone(t *testing.T) {
	d := newDesk(t, nil)
	d.setUp(t, "claude-code", testSetup())
	os.RemoveAll(d.path(".claude"))
	if _, err := d.Undo("claude-code"); err != nil {
		t.Errorf("undo without the file: %v", err)
	}
	d.setUp(t, "claude-code", testSetup())
	os.RemoveAll(d.path(".claude"))
	d.setUp(t, "claude-code", testSetup())
	if d.files(t)[claudeFile] == "" {
		t.Error("not written again")
	}
}

// The record and its backups name nothing secret beyond what the file had.
func TestSE1_TheRecordDoesNotHoldTheKey(t *testing.T) {
	for _, e := range all() {
		if e.targets == nil {
			continue
		}
		d := newDesk(t, nil)
		d.setUp(t, e.id, testSetup())
		for _, name := range glob(t, filepath.Join(d.state, "*")) {
			data, err := os.ReadFile(name)
			if err != nil || strings.Contains(string(data), "local-key-1") {
				t.Errorf("%s: %v\n%s", name, err, data)
			}
		}
	}
}

func TestSetupIsChecked(t *testing.T) {
	d := newDesk(t, nil)
	for name, change := range map[string]func(*Setup){
		"no URL": func(s *Setup) { s.BaseURL = "" }, "no /v1": func(s *Setup) { s.BaseURL = "http://127.0.0.1:1" },
		"no key": func(s *Setup) { s.Key = "" }, "key of two lines": func(s *Setup) { s.Key = "a\nb" }, "no model": func(s *Setup) { s.Model = "" },
	} {
		s := testSetup()
		change(&s)
		if _, err := d.Plan("codex", s); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := d.Plan("emacs", testSetup()); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
}

func TestEveryEditorHasAWay(t *testing.T) {
	d := newDesk(t, nil)
	for _, e := range all() {
		text, steps, err := d.Snippet(e.id, testSetup())
		var shown strings.Builder
		for _, s := range text {
			shown.WriteString(s.For + s.File + s.Text)
		}
		shown.WriteString(strings.Join(steps, "\n"))
		for _, part := range []string{"127.0.0.1:7777", "local-key-1"} {
			if err != nil || !strings.Contains(shown.String(), part) {
				t.Errorf("%s: %s is not in what to do by hand (%v)", e.id, part, err)
			}
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names
}
