package agentcli

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// install links the fake as a program of that name.
func install(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self(t), filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
}

// searching makes a rig that looks for the CLI in a home of its own.
func searching(t *testing.T, script agentsim.Script, home string) *rig {
	return newRig(t, script, func(c *Config) {
		c.Binary = ""
		c.Environ = append(c.Environ, "HOME="+home, "PATH="+filepath.Join(home, "bin"),
			"CURSOR_AGENT_BIN=", "CURSOR_AGENT_EXECUTABLE=", "CURSOR_AGENT_PATH=")
	})
}

// TestPL2_MissingCLIIsAState: everything answers, and says what to do; after the
// installation it works without a restart.
func TestPL2_MissingCLIIsAState(t *testing.T) {
	home := t.TempDir()
	r := searching(t, agentsim.Script{}, home)
	_, askErr := r.ask(t, hello())
	_, modelsErr := r.Models(t.Context())
	for what, err := range map[string]error{"Check": r.Check(t.Context()), "Chat": askErr, "Models": modelsErr} {
		if got := chat.AsError(err); got == nil || got.Kind != chat.Unavailable || got.Code != "cursor_cli_not_found" || !strings.Contains(got.Message, "nstall") {
			t.Errorf("%s: %v", what, err)
		}
	}
	install(t, filepath.Join(home, ".local", "bin"), "cursor-agent")
	if err := r.Check(t.Context()); err != nil {
		t.Errorf("Check after the installation: %v", err)
	}
	r.answer(t, hello())
}

func TestPL2_LoggedOutIsAState(t *testing.T) {
	r := newRig(t, agentsim.Script{LoggedOut: true})
	_, askErr := r.ask(t, hello())
	_, modelsErr := r.Models(t.Context())
	for what, err := range map[string]error{"Check": r.Check(t.Context()), "Chat": askErr, "Models": modelsErr} {
		if got := chat.AsError(err); got == nil || got.Kind != chat.LoginRequired || !strings.Contains(got.Message, "login") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestStatusThatHangs: the login is not known then, but prompts are answered.
func TestStatusThatHangs(t *testing.T) {
	t.Parallel()
	r := newRig(t, agentsim.Script{MuteStatus: true})
	r.answer(t, hello())
	if r.runs(t)[0].Env["CURSOR_CONFIG_DIR"] != "" {
		t.Error("the settings folder was moved on no ground")
	}
	starts := r.starts(t)
	r.answer(t, hello())
	if n := r.starts(t) - starts; n != 1 {
		t.Errorf("%d more processes for the next request", n)
	}
}

// TestSilenceIsMetOnce: a CLI that answers prompts and nothing else holds up the
// first of them for one probe, not for several, also while Check waits.
func TestSilenceIsMetOnce(t *testing.T) {
	for name, script := range map[string]agentsim.Script{
		"status":             {MuteStatus: true},
		"version and status": {MuteStatus: true, MuteVersion: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, script)
			var check sync.WaitGroup
			check.Go(func() { r.Check(t.Context()) })
			eventually(t, 10*time.Second, "Check asks", func() bool { return r.live(t) > 0 })
			began := time.Now()
			r.answer(t, hello())
			if took := time.Since(began); took > probeLimit+3*time.Second {
				t.Errorf("the answer took %v", took)
			}
			check.Wait()
			starts := r.starts(t)
			old := *r.login.Load()
			old.at = old.at.Add(-2 * loginAge)
			r.login.Store(&old)
			r.answer(t, hello())
			if n := r.starts(t) - starts; n != 1 {
				t.Errorf("%d more processes for the next request", n)
			}
		})
	}
}

// TestForeignAgentIsNotUsed: agent is a common word.
func TestForeignAgentIsNotUsed(t *testing.T) {
	home := t.TempDir()
	install(t, filepath.Join(home, "bin"), "agent")
	r := searching(t, agentsim.Script{Version: "Agent of another kind 2.0"}, home)
	if err := r.Check(t.Context()); err == nil || chat.AsError(err).Code != "cursor_cli_not_found" {
		t.Errorf("Check: %v", err)
	}
	chosen := newRig(t, agentsim.Script{Version: "dev build"})
	if err := chosen.Check(t.Context()); err != nil {
		t.Errorf("Check of a chosen program: %v", err)
	}
}

// TestSearchAgainWhenTheCLIMoved: an update removes the version that was found.
func TestSearchAgainWhenTheCLIMoved(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	install(t, bin, "cursor-agent")
	r := searching(t, agentsim.Script{}, home)
	r.answer(t, hello())
	if err := os.Remove(filepath.Join(bin, "cursor-agent")); err != nil {
		t.Fatal(err)
	}
	install(t, filepath.Join(home, ".local", "bin"), "agent")
	r.answer(t, hello())
}

func TestPathsAreCached(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	for range 3 {
		r.answer(t, hello())
	}
	// --version, status, and three runs.
	if n := r.starts(t); n != 5 {
		t.Errorf("%d processes for three requests, want 5", n)
	}
}

func TestParseModels(t *testing.T) {
	text := "\x1b[2K\x1b[GAvailable models\r\n\r\n" +
		"auto - Auto (current)\r\n" +
		"composer-2[fast=true] - Composer 2 (Fast)\n" +
		"sonnet-4.5 - Sonnet 4.5 (thinking) (default)\n" +
		"auto - Auto again\n" +
		"openai/gpt-5:high - GPT - 5 (current, default)\n" +
		"\nTip: use --model <id> - or set a default\n"
	want := []chat.Model{
		{ID: "auto", Name: "Auto"},
		{ID: "composer-2[fast=true]", Name: "Composer 2 (Fast)"},
		{ID: "sonnet-4.5", Name: "Sonnet 4.5 (thinking)", Default: true},
		{ID: "openai/gpt-5:high", Name: "GPT - 5"},
	}
	if diff := cmp.Diff(want, parseModels(text)); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if got := parseModels("Available models\nauto - Auto (current)\nx - X\n"); !got[0].Default {
		t.Errorf("the current model is the default when none is marked: %+v", got)
	}
	if got := parseModels("No models available for this account.\n"); len(got) != 0 {
		t.Errorf("models %+v", got)
	}
}

func FuzzParseModels(f *testing.F) {
	f.Add("a - A (current)\r\nb - B - (x) (default)")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, m := range parseModels(text) {
			if m.ID == "" || m.Name == "" || seen[m.ID] {
				t.Errorf("model %+v", m)
			}
			seen[m.ID] = true
		}
	})
}

func TestModelsAreCachedAndRefreshedBehind(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	first, err := r.Models(t.Context())
	if err != nil || len(first) != 4 || !first[0].Default {
		t.Fatalf("models %+v, %v", first, err)
	}
	first[0].ID = "scribble" // callers own the slice
	starts := r.starts(t)
	second, err := r.Models(t.Context())
	if err != nil || second[0].ID != "auto" || r.starts(t) != starts {
		t.Errorf("second list %+v, %v, %d more processes", second, err, r.starts(t)-starts)
	}
	old := *r.models.Load()
	old.at = old.at.Add(-2 * modelsAge)
	r.models.Store(&old)
	if _, err := r.Models(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, 10*time.Second, "the list was fetched again", func() bool { return r.models.Load() != &old })
}

// TestNoListOfModels: the error says what is the matter and what to do; requests
// work all the same.
func TestNoListOfModels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script agentsim.Script
		code   string
		want   string
	}{
		{"another form", agentsim.Script{ModelsText: "{\"models\":[]}\n"}, "cursor_cli_incompatible", "cursor-agent update"},
		{"only a heading", agentsim.Script{ModelsText: "Available models\n\n"}, "cursor_cli_incompatible", "cursor-agent update"},
		{"nothing", agentsim.Script{ModelsText: "\n"}, "cursor_cli_incompatible", "cursor-agent update"},
		{"an account without any", agentsim.Script{ModelsText: "\x1b[2KNo models available for this account.\n"}, "cursor_no_models", "plan"},
		{"a failure without words", agentsim.Script{ModelsExit: 3}, "cursor_unknown", "terminal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.script)
			_, err := r.Models(t.Context())
			if got := chat.AsError(err); got == nil || got.Code != tt.code || !strings.Contains(got.Message, tt.want) {
				t.Errorf("error %v", err)
			}
			r.answer(t, hello())
		})
	}
}

// TestModelsOfANamedProgramComeFirst: they wait for no other sub-command.
func TestModelsOfANamedProgramComeFirst(t *testing.T) {
	r := newRig(t, agentsim.Script{MuteVersion: true})
	if models, err := r.Models(t.Context()); err != nil || len(models) != 4 {
		t.Errorf("models %+v, %v", models, err)
	}
	if n := r.starts(t); n != 1 {
		t.Errorf("%d processes for a list, want 1", n)
	}
}

// TestEM3_UnknownModelIsNamed: an error that names the model and usable ones, and
// a second source of the list.
func TestEM3_UnknownModelIsNamed(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	req := hello()
	req.Model = "gpt-9"
	err := r.refused(t, req)
	if err.Kind != chat.NotFound || !strings.Contains(err.Message, "gpt-9") || !strings.Contains(err.Message, "composer-2") {
		t.Errorf("error %v", err)
	}
	if list := r.models.Load(); list == nil || len(list.models) != 4 {
		t.Errorf("learned %+v", list)
	}
	for _, bad := range []string{"--force", "a b", "x\ny", strings.Repeat("m", 300)} {
		req.Model = bad
		if err := r.refused(t, req); err.Kind != chat.NotFound {
			t.Errorf("model %.20q: %v", bad, err)
		}
	}
	if n := len(r.runs(t)); n != 1 {
		t.Errorf("%d runs; a name that could be a flag must not reach the command line", n)
	}
}

func TestPlaceholderKeys(t *testing.T) {
	for key, placeholder := range map[string]bool{
		"": true, "your-api-key": true, "YOUR_KEY_HERE": true, "<key>": true, "$CURSOR_KEY": true, "xxxx": true, "changeme": true, "my-key here": true,
		"key_8f3a": false, "crsr_0123456789": false, "k": false,
	} {
		e := newEnvironment([]string{"CURSOR_API_KEY=" + key})
		if e.hasKey == placeholder || (e.lookup("CURSOR_API_KEY") == key && key != "") == placeholder {
			t.Errorf("key %q: kept %v", key, e.hasKey)
		}
	}
}
