//go:build e2e

package e2e

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settled is a client that "cursortray setup" sets up, in a home with settings
// of the user's own.
type settled struct {
	editor  string // as cursortray calls it
	install string
	argv    []string // after the program, before the prompt
	env     []string
	file    string // of the user's settings, in the home
	text    string // "" is none; else with what the client adds by itself
	shell   bool   // it is set up by its environment
	hides   bool   // of a refusal it shows the status only
}

func settledClients() []settled {
	return []settled{
		{
			editor: "opencode", install: "opencode", argv: []string{"run", "--auto"}, env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
			file: ".config/opencode/opencode.json", text: "{\n\t// mine\n\t\"$schema\": \"https://opencode.ai/config.json\",\n\t\"autoupdate\": false, \"share\": \"disabled\",\n\t\"provider\": {\n\t\t\"local\": {\"npm\": \"@ai-sdk/openai-compatible\", \"models\": {},},\n\t},\n}\n",
		},
		{
			editor: "codex", install: "codex", argv: []string{"exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox"},
			file: ".codex/config.toml", text: "# mine\nmodel = \"gpt-5\" # for now\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[feedback]\nenabled = false\n",
		},
		{
			editor: "claude-code", install: "claude", argv: []string{"--allowedTools=Read", "-p"}, env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
			file: ".claude/settings.json", text: "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": \"sk-of-mine\"\n  },\n  \"includeCoAuthoredBy\": false\n}\n",
		},
		{editor: "continue", install: "continue", argv: []string{"--auto", "-p"}, env: []string{"CONTINUE_TELEMETRY_ENABLED=0"}},
		{editor: "pi", install: "pi", argv: []string{"--provider", "cursortray", "--model", "demo-large", "-p"}, env: []string{"PI_OFFLINE=1"}},
		{
			editor: "qwen-code", install: "qwen", argv: []string{"-y", "-p"}, file: ".qwen/settings.json",
			text: "{\n  \"memory\": {\n    \"enableManagedAutoMemory\": false,\n    \"enableManagedAutoDream\": false\n  },\n  \"general\": {\n    \"disableAutoUpdate\": true\n  },\n  \"privacy\": {\n    \"usageStatisticsEnabled\": false\n  },\n  \"$version\": 4\n}\n",
		},
		{editor: "copilot-cli", install: "copilot", argv: []string{"--allow-all-tools", "-p"}, env: []string{"COPILOT_AUTO_UPDATE=false"}, shell: true, hides: true},
	}
}

// TestSetUpClients: a client that cursortray has set up works at the first try
// with its own key, is refused when it is switched off, and has its settings
// back after an undo.
func TestSetUpClients(t *testing.T) {
	cursortray, _ := buildPrograms(t)
	s := &suite{turns: make(chan struct{}, 2)}
	srv := serve(t, cursortray, []string{"CURSORTRAY_TOKEN_STORE=file"}, "--demo")
	t.Run("clients", func(t *testing.T) {
		for _, c := range settledClients() {
			dir := installNPM(t, c.install)
			s.parallel(t, c.editor, func(t *testing.T) { c.run(t, srv, cursortray, dir) })
		}
	})
	if log := srv.log.String(); strings.Contains(log, "cte-") {
		t.Error("the log of serve holds an editor's key")
	}
}

func (c settled) run(t *testing.T, srv *server, cursortray, dir string) {
	home, file := project(t)
	if c.text != "" {
		path := filepath.Join(home, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, c.text)
	}
	setup := func(args ...string) string {
		t.Helper()
		got := command{
			argv: append([]string{cursortray, "setup", c.editor}, args...), dir: home, limit: time.Minute,
			// The instance's own runtime folder, in the client's home.
			env: cleanEnv(home, "XDG_RUNTIME_DIR="+runtimeDir(srv.home()), "SHELL=/bin/bash"),
		}.run(t)
		if got.err != nil {
			t.Fatalf("cursortray setup %s %v: %v\n%s", c.editor, args, got.err, got.stderr)
		}
		return got.stdout
	}
	ask := func(prompt string) result {
		argv := append(append([]string{binary(dir, strings.TrimSuffix(c.install, "-code"))}, c.argv...), prompt)
		if c.install == "continue" {
			argv[0] = binary(dir, "cn")
		}
		if c.shell {
			_, snippet, _ := strings.Cut(setup("--print"), "\n\n")
			script := filepath.Join(home, "env.sh")
			writeFile(t, script, snippet)
			argv = append([]string{"bash", "-c", `. "$0" && exec "$@"`, script}, argv...)
		}
		return command{argv: argv, dir: filepath.Join(home, "proj"), env: cleanEnv(home, c.env...), limit: 2 * time.Minute}.run(t)
	}

	before := c.files(t, home)
	setup()
	setup("--undo")
	if after := c.files(t, home); !maps.Equal(before, after) {
		t.Errorf("set up and undone, the home is\n%v\nand was\n%v", after, before)
	}

	setup()
	if out := setup(); !strings.Contains(out, "nothing was changed") && !c.shell {
		t.Errorf("the second time: %s", out)
	}
	got := ask("Read the file " + file + " and tell me its first line")
	if got.err != nil || !strings.Contains(got.stdout, mark) {
		t.Errorf("%v:\n%s\n%s", got.err, tail(got.stdout), tail(got.stderr))
	}
	if n := c.requests(t, srv, cursortray); n < 2 {
		t.Errorf("%d requests came with its own key", n)
	}

	setup("--off")
	got = ask("Say hello")
	want := "switched off for " + c.editor
	if c.hides {
		want = "403"
	}
	if text := got.stdout + got.stderr; !strings.Contains(text, want) || got.took > 40*time.Second {
		t.Errorf("switched off, after %v it says\n%s", got.took, tail(text))
	}
	setup("--on")

	setup("--undo")
	if c.text != "" {
		if text, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(c.file))); err != nil || string(text) != c.text {
			t.Errorf("after undo the settings are %q, %v; want %q", text, err, c.text)
		}
	}
}

// files returns what is in the home, but for what cursortray keeps for itself.
func (c settled) files(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(home, path)
		switch {
		case err != nil:
			return err
		case name == ".local" || name == filepath.Join(".config", "cursortray"):
			return filepath.SkipDir
		case entry.IsDir():
			files[name] = "folder"
			return nil
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// requests is how many the running instance has counted for this client.
func (c settled) requests(t *testing.T, srv *server, cursortray string) int {
	t.Helper()
	got := command{argv: []string{cursortray, "status", "--json"}, dir: srv.home(), env: serverEnv(srv.home()), limit: time.Minute}.run(t)
	var status struct {
		Editors []struct {
			ID       string `json:"id"`
			Requests int    `json:"requests"`
		} `json:"editors"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &status); err != nil {
		t.Fatalf("%v: %s", err, got.stderr)
	}
	for _, e := range status.Editors {
		if e.ID == c.editor {
			return e.Requests
		}
	}
	return 0
}

// home is where the server lives.
func (s *server) home() string { return filepath.Dir(s.records) }
