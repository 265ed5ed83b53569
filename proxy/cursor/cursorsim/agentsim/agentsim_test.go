package agentsim

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// result is what one run of the fake as a real process gave.
type result struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, script Script, stdin string, env []string, args ...string) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	// A race-detecting binary sleeps for a second before it exits.
	cmd.Env = append(append(os.Environ(), script.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // the code is looked at instead
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// printArgs are the flags of a normal streaming run.
func printArgs(more ...string) []string {
	return append([]string{"--print", "--output-format", "stream-json", "--stream-partial-output", "--model", "auto"}, more...)
}

func TestCommandsAndRefusals(t *testing.T) {
	trusted := slices.Clip(printArgs("--trust"))
	tests := []struct {
		name   string
		script Script
		env    []string
		args   []string
		stdout string
		stderr string
		code   int
	}{
		{name: "version", args: []string{"--version"}, stdout: "2026.07.20-8cc9c0b"},
		{name: "other version", script: Script{Version: "agent 1.0"}, args: []string{"-v"}, stdout: "agent 1.0"},
		{name: "status", args: []string{"status"}, stdout: "Logged in as dev@example.com"},
		{name: "logged out", script: Script{LoggedOut: true}, args: []string{"status"}, stdout: "Not logged in"},
		{name: "key instead of a login", script: Script{LoggedOut: true}, env: []string{"CURSOR_API_KEY=k"}, args: []string{"status"}, stdout: "Logged in as"},
		{name: "login in a moved folder", script: Script{FileLogin: true}, env: []string{"CURSOR_CONFIG_DIR=/nowhere"}, args: []string{"status"}, stdout: "Not logged in"},
		{name: "models", args: []string{"models"}, stdout: "auto - Auto (current, default)\r\n"},
		{name: "list models", args: []string{"--list-models"}, stdout: "composer-2 - Composer 2\r\n"},
		{name: "models logged out", script: Script{LoggedOut: true}, args: []string{"models"}, stdout: "No models available"},
		{name: "login", env: []string{"NO_OPEN_BROWSER=1"}, args: []string{"login"}, stdout: "https://cursor.com/loginDeepControl?"},
		{name: "no trust", args: printArgs(), stdout: "Workspace Trust Required"},
		{name: "unknown flag", args: printArgs("--wish"), stderr: "error: unknown option '--wish'", code: 1},
		{name: "old build", script: Script{OldBuild: true}, args: trusted, stderr: "error: unknown option '--trust'", code: 1},
		{name: "unknown model", args: append(trusted, "--model", "gpt-9"), stderr: "Cannot use this model: gpt-9. Available models: auto, composer-2", code: 1},
		{name: "other home", script: Script{Home: "/home/of/nobody"}, args: trusted, stderr: "Authentication required", code: 1},
		{name: "other home with a key", script: Script{Home: "/home/of/nobody"}, env: []string{"CURSOR_API_KEY=k"}, args: trusted, stdout: `"type":"result"`},
		{name: "lost chat", script: Script{LostChats: true}, args: append(trusted, "--resume", "c1"), stderr: "chat c1 not found", code: 1},
		{name: "failure", script: Script{Fail: "Error: You've hit your usage limit"}, args: trusted, stderr: "usage limit", code: 1},
		{name: "late exit code", script: Script{Exit: 3, Stderr: "bye\n"}, args: trusted, stdout: `"type":"result"`, stderr: "bye", code: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tt.script, "SYSTEM:\n\nUSER:\nhello", tt.env, tt.args...)
			if !strings.Contains(got.stdout, tt.stdout) || !strings.Contains(got.stderr, tt.stderr) || got.code != tt.code {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, %q", got.code, got.stdout, got.stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestReplayWritesTheFixtureAndItsEnd(t *testing.T) {
	dir := t.TempDir()
	fixture := filepath.Join(dir, "x.ndjson")
	bytes := "{\"type\":\"x\"}\r\n\xff half"
	write(t, fixture, bytes)
	write(t, filepath.Join(dir, "x.expected.json"), `{"process":{"exit_code":4,"signal":null,"stderr":"oops\n"}}`)
	for _, chunk := range []int{0, 1, 7} {
		got := run(t, Script{Mode: Replay, Fixture: fixture, Chunk: chunk}, "p", nil, printArgs("--trust")...)
		if want := (result{bytes, "oops\n", 4}); got != want {
			t.Errorf("chunk %d: got %+v, want %+v", chunk, got, want)
		}
	}
}

func TestStreamHasDeltasSnapshotAndResult(t *testing.T) {
	got := run(t, Script{Mode: Stream, Count: 3, Size: 5, Thinking: 1, OpenTool: 1}, "p", nil, printArgs("--trust")...)
	var forms []string
	for line := range strings.Lines(got.stdout) {
		forms = append(forms, form(line))
	}
	want := "init user think+ts think+ts started+ts completed+ts text+ts text+ts text+ts text result"
	if have := strings.Join(forms, " "); have != want {
		t.Errorf("events\n%s\nwant\n%s", have, want)
	}
	if !strings.Contains(got.stdout, `"result":"the qthe qthe q"`) {
		t.Errorf("result text is not the joined deltas: %s", got.stdout)
	}
}

// form names an event in one word.
func form(line string) string {
	name := "?"
	for _, pair := range [][2]string{
		{`"subtype":"init"`, "init"}, {`"type":"user"`, "user"}, {`"type":"thinking"`, "think"}, {`"subtype":"started"`, "started"},
		{`"subtype":"completed","call_id"`, "completed"}, {`"type":"assistant"`, "text"}, {`"type":"result"`, "result"},
	} {
		if strings.Contains(line, pair[0]) {
			name = pair[1]
		}
	}
	if strings.Contains(line, "timestamp_ms") {
		name += "+ts"
	}
	return name
}

func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs")
	env := []string{RecordEnv + "=" + file, "NODE_OPTIONS=--x", "CURSOR_API_KEY=secret"}
	run(t, Script{RecordPrompt: true}, "hello", env, printArgs("--trust")...)
	run(t, Script{}, "hello", env, printArgs()...)
	records, err := ReadRecords(file)
	if err != nil || len(records) != 2 {
		t.Fatalf("records %v, error %v", records, err)
	}
	r := records[0]
	if r.Stdin != 5 || r.Prompt != "hello" || r.Env["NODE_OPTIONS"] != "--x" || r.Env["CURSOR_API_KEY"] != "set" || r.Argv[0] != "--print" {
		t.Errorf("record %+v", r)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// answerText joins the text deltas of a stream.
func answerText(t *testing.T, stdout string) string {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(stdout) {
		var event struct {
			Type    string
			Message struct{ Content []struct{ Text string } }
			Stamp   int64 `json:"timestamp_ms"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if event.Type == "assistant" && event.Stamp > 0 {
			text.WriteString(event.Message.Content[0].Text)
		}
	}
	return text.String()
}

func TestModelPlaysAToolLoop(t *testing.T) {
	head := "SYSTEM:\nBe brief.\n\n" + `{"name":"read","description":"Reads a file","parameters":{"type":"object","properties":{"filePath":{"type":"string"}},"required":["filePath"]}}` +
		"\n\nUSER:\nRead the file /abs/a.txt and tell me its first line"
	got := run(t, Script{}, head, nil, printArgs("--trust")...)
	want := `<tool_call>{"name":"read","arguments":{"filePath":"/abs/a.txt"}}</tool_call>`
	if text := answerText(t, got.stdout); text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	round := "\n\nASSISTANT:\ntool_call(id: c1, name: read, args: {})\n\nTOOL_RESULT (name: read, call_id: c1):\n1: mark 17\n2: more\n\nThe calls were executed."
	got = run(t, Script{}, head+round, nil, printArgs("--trust")...)
	if text := answerText(t, got.stdout); !strings.HasPrefix(text, "The first line is: mark 17") {
		t.Errorf("text %q", text)
	}
}

func TestChatsBelongToTheirWorkspace(t *testing.T) {
	script := Script{Chats: t.TempDir()}
	args := printArgs("--trust", "--workspace", "/one", "--resume", "c1")
	if got := run(t, script, "USER:\nhi", nil, args...); got.code != 1 || !strings.Contains(got.stderr, "not found") {
		t.Errorf("unknown chat: %+v", got)
	}
	first := run(t, script, "USER:\nhi", nil, printArgs("--trust", "--workspace", "/one")...)
	_, rest, _ := strings.Cut(first.stdout, `"session_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if got := run(t, script, "USER:\nmore", nil, printArgs("--trust", "--workspace", "/one", "--resume", id)...); got.code != 0 {
		t.Errorf("known chat: %+v", got)
	}
	if got := run(t, script, "USER:\nmore", nil, printArgs("--trust", "--workspace", "/two", "--resume", id)...); got.code != 1 {
		t.Errorf("other workspace: %+v", got)
	}
}
