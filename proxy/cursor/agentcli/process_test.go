package agentcli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// TestFixturesThroughAProcess plays every fixture as a real process, in writes of
// several sizes. The result must not depend on them.
func TestFixturesThroughAProcess(t *testing.T) {
	for _, file := range fixtureFiles(t) {
		f := readFixture(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".expected.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := expectedTurn(t, f)
			for _, size := range []int{1, 7, 4096, 0} {
				path, err := filepath.Abs(strings.Replace(file, ".expected.json", ".ndjson", 1))
				if err != nil {
					t.Fatal(err)
				}
				r := newRig(t, agentsim.Script{Mode: agentsim.Replay, Fixture: path, Chunk: size}, func(c *Config) {
					c.Environ = append(c.Environ, "CURSOR_API_KEY=key_0123456789abcdef") // spares the status runs
					if f.Process.Lingers && want.class == classTimeout {
						c.Timeouts.Idle = 300 * time.Millisecond
					}
				})
				r.found.Store(&program{command: command{path: self(t)}}) // spares the search
				got := observe(listen(t.Context(), r, hello(), nil))
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
					t.Errorf("writes of %d bytes (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

// seen is what a client can tell about a turn.
type seen struct {
	text, thinking string
	usage          chat.Usage
	class          string // of the failure, "" for success
	kind           chat.Kind
}

func observe(tr transcript) seen {
	var s seen
	s.text = tr.text()
	for _, event := range tr.events {
		switch e := event.(type) {
		case chat.ReasoningDelta:
			s.thinking += e.Text
		case chat.Finish:
			if e.Usage != nil {
				s.usage = *e.Usage
			}
		}
	}
	if tr.err != nil {
		s.kind, s.class = chat.AsError(tr.err).Kind, classOf(chat.AsError(tr.err))
	}
	return s
}

// classOf finds the class whose error this is.
func classOf(err *chat.Error) string {
	for _, class := range []string{
		classQuota, classDevices, classAuth, classModel, classTrust, classOutdated, classConfigRace, classRateLimit, classOverloaded, classPromptTooLong,
		classNetwork, classUpstream, classKilled, classNotFound, classIncomplete, classEmpty, classTimeout, classUnknown,
	} {
		about := info(class)
		if about.kind == err.Kind && about.code == err.Code {
			return class
		}
	}
	return "?"
}

// expectedTurn maps the canonical events of a fixture to what a client sees.
func expectedTurn(t *testing.T, f fixture) seen {
	t.Helper()
	var s seen
	number := func(e map[string]any, key string) int {
		n, _ := e[key].(float64)
		return int(n)
	}
	for _, e := range f.Events {
		text, _ := e["text"].(string)
		switch e["kind"] {
		case "text":
			s.text += text
		case "thinking":
			s.thinking += text
		case "usage":
			s.usage = chat.Usage{
				Input: number(e, "input"), Output: number(e, "output"), Reasoning: number(e, "reasoning"),
				CacheRead: number(e, "cache_read"), CacheWrite: number(e, "cache_write"),
			}
		case "error":
			s.class = e["class"].(string)
			s.kind = info(s.class).kind
			s.usage = chat.Usage{} // an answer that failed has no figures
		}
	}
	return s
}

// TestRS5_PromptGoesThroughStdin hands over prompts that no argument could hold,
// to a CLI that fills its output before it reads.
func TestRS5_PromptGoesThroughStdin(t *testing.T) {
	for _, size := range []int{1 << 20, 8 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 1, Babble: 1 << 20})
			r.answer(t, userSays(strings.Repeat("words of a long prompt ", size/23+1)))
			runs := r.runs(t)
			if len(runs) != 1 || runs[0].Stdin < size {
				t.Fatalf("%d runs, the prompt had %d bytes", len(runs), runs[0].Stdin)
			}
			for _, arg := range runs[0].Argv {
				if len(arg) > 4<<10 || strings.Contains(arg, "words of") {
					t.Errorf("argument of %d bytes", len(arg))
				}
			}
		})
	}
}

// TestPromptThatNobodyReads: the CLI may end before it has read the prompt; the
// reason is on stderr, not in the broken pipe.
func TestPromptThatNobodyReads(t *testing.T) {
	r := newRig(t, agentsim.Script{SkipPrompt: true, Fail: "Error: You've hit your usage limit"})
	err := r.refused(t, userSays(strings.Repeat("x", 1<<20)))
	if err.Kind != chat.QuotaSpent {
		t.Errorf("error %v", err)
	}
}

func TestArgumentsOfARun(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	r.answer(t, hello())
	run := r.runs(t)[0]
	want := []string{
		"--print", "--output-format", "stream-json", "--stream-partial-output", "--mode", "ask",
		"--workspace", run.Cwd, "--model", "auto", "--trust",
	}
	if diff := cmp.Diff(want, run.Argv); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
}

// TestAU5_HomeStays: the child finds the user's login only through the real home.
func TestAU5_HomeStays(t *testing.T) {
	home := t.TempDir()
	extra := []func(*Config){setEnv("HOME=" + home), setEnv("NODE_OPTIONS=--inspect"), setEnv("CURSORTRAY_API_KEY=local"), setEnv("CURSOR_API_KEY=your-api-key")}
	for _, tt := range []struct {
		name      string
		script    agentsim.Script
		moved     bool
		loggedOut bool
	}{
		{"login in the keychain", agentsim.Script{Home: home}, true, false},
		{"login in files", agentsim.Script{Home: home, FileLogin: true}, false, false},
		{"logged out", agentsim.Script{Home: home, LoggedOut: true}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.script, extra...)
			_, err := r.ask(t, hello())
			if tt.loggedOut != (err != nil) {
				t.Fatalf("error %v", err)
			}
			if tt.loggedOut && (chat.AsError(err).Kind != chat.LoginRequired || !strings.Contains(err.Error(), "login")) {
				t.Errorf("error %v does not say how to log in", err)
			}
			run := r.runs(t)[0]
			if run.Env["HOME"] != home || run.Env["NODE_OPTIONS"] != "" || run.Env["CURSOR_API_KEY"] != "" {
				t.Errorf("environment %v", run.Env)
			}
			if moved := run.Env["CURSOR_CONFIG_DIR"] != ""; moved != tt.moved {
				t.Errorf("CURSOR_CONFIG_DIR = %q", run.Env["CURSOR_CONFIG_DIR"])
			}
		})
	}
}

func TestKeyNeedsNoStatus(t *testing.T) {
	r := newRig(t, agentsim.Script{LoggedOut: true}, setEnv("CURSOR_API_KEY=key_0123456789abcdef0123"))
	r.answer(t, hello())
	run := r.runs(t)[0]
	if run.Env["CURSOR_API_KEY"] != "set" || run.Env["CURSOR_CONFIG_DIR"] == "" {
		t.Errorf("environment %v", run.Env)
	}
	if n := r.starts(t); n != 2 {
		t.Errorf("%d processes, want the version and the run", n)
	}
}

// TestRS1_WorkspaceBelongsToTheRequest runs two requests in two folders at the
// same time, and one without.
func TestRS1_WorkspaceBelongsToTheRequest(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 5, Interval: 20 * time.Millisecond})
	folders := []string{realPath(t, t.TempDir()), realPath(t, t.TempDir()), ""}
	done := make(chan error)
	for _, folder := range folders {
		go func() {
			req := hello()
			req.Workspace = folder
			_, err := chat.Collect(r.Chat(t.Context(), req))
			done <- err
		}()
	}
	for range folders {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	seen := map[string]bool{}
	for _, run := range r.runs(t) {
		seen[run.Cwd] = true
		private := run.Cwd != folders[0] && run.Cwd != folders[1]
		if moved := run.Env["CURSOR_CONFIG_DIR"] != ""; moved != private {
			t.Errorf("folder %s: settings moved: %v", run.Cwd, moved)
		}
		if i := argAfter(run.Argv, "--workspace"); i != run.Cwd || run.Env["PWD"] != run.Cwd {
			t.Errorf("--workspace %s, PWD %s in %s", i, run.Env["PWD"], run.Cwd)
		}
	}
	if len(seen) != 3 || !seen[folders[0]] || !seen[folders[1]] {
		t.Errorf("runs worked in %v", seen)
	}
	for _, folder := range folders[:2] {
		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("the user's folder holds %v, %v", left, err)
		}
	}
	for _, bad := range []string{"/", "relative", filepath.Join(folders[0], "missing")} {
		req := hello()
		req.Workspace = bad
		if err := r.refused(t, req); err.Kind != chat.Invalid {
			t.Errorf("workspace %q: %v", bad, err)
		}
	}
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func argAfter(argv []string, flag string) string {
	for i, arg := range argv[:len(argv)-1] {
		if arg == flag {
			return argv[i+1]
		}
	}
	return ""
}

// TestRS1_PrivateFolder looks at the folder from the inside of a run, and sees
// that it is gone after it.
func TestRS1_PrivateFolder(t *testing.T) {
	r := newRig(t, agentsim.Script{Mode: agentsim.Stream, Count: 1, Linger: true, IgnoreTerm: false})
	var dir string
	tr := listen(t.Context(), r, hello(), func(e chat.Event) {
		if _, ok := e.(chat.TextDelta); !ok {
			return
		}
		dir = r.runs(t)[0].Cwd
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("folder %v, %v", info.Mode(), err)
		}
		var settings struct {
			Permissions struct{ Allow, Deny []string }
		}
		text, err := os.ReadFile(filepath.Join(dir, ".cursor", "cli-config.json"))
		if err != nil || json.Unmarshal(text, &settings) != nil || len(settings.Permissions.Allow) != 0 {
			t.Errorf("settings %s, %v", text, err)
		}
	})
	if tr.err != nil || dir == "" {
		t.Fatalf("turn: %v", tr.err)
	}
	eventually(t, 5*time.Second, "the private folder is gone", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
}
