package cursorsim

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// properties makes the schema of an object with required texts.
func properties(names ...string) string {
	fields := map[string]any{}
	for _, name := range names {
		fields[name] = map[string]any{"type": "string"}
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": fields, "required": names})
	if err != nil {
		panic(err)
	}
	return string(text)
}

const wholeTask = "Read the file /p/a.txt, replace `second line` with `third line` in it, write `done` to /p/b.txt, run the command `cat /p/a.txt`, then tell me what it printed"

// doTask plays a whole task: each call gets a result, until there is an answer.
func doTask(t *testing.T, prompt string, tools []Tool, results ...string) (calls []string, answer string) {
	t.Helper()
	var got []string
	for range 10 {
		steps := Play(Turn{Prompt: prompt, Tools: tools, Results: got, Calls: len(got)})
		made := 0
		for _, step := range steps {
			if call, ok := step.(Call); ok {
				calls = append(calls, call.Name+" "+string(call.Arguments))
				made++
			}
		}
		if made == 0 {
			return calls, said(steps)
		}
		got = slices.Clone(results[:min(len(results), len(calls))])
		for len(got) < len(calls) {
			got = append(got, "ok")
		}
	}
	t.Fatal("the task does not end")
	return nil, ""
}

// The schemas have the shapes that agents of 2026 send: OpenCode, Kilo and pi,
// Claude Code and Qwen Code, Gemini's forks, Codex, Copilot, Cline, Continue.
func TestPlayDoesATaskWithTheToolsOfEachClient(t *testing.T) {
	read := tool("read", properties("filePath"))
	for name, tc := range map[string]struct {
		tools []Tool
		want  []string // of edit, write and run
	}{
		"camel case": {[]Tool{read, tool("write", properties("content", "filePath")), tool("edit", properties("filePath", "newString", "oldString")), tool("bash", properties("command", "description"))}, []string{
			`edit {"filePath":"/p/a.txt","newString":"third line","oldString":"second line"}`,
			`write {"content":"done\n","filePath":"/p/b.txt"}`,
			`bash {"command":"cat /p/a.txt","description":"Run the command of the task"}`,
		}},
		"snake case": {[]Tool{read, tool("NotebookEdit", properties("notebook_path", "new_source")), tool("TodoWrite", properties("content", "path")),
			tool("Edit", `{"type":"object","properties":{"file_path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean","default":false}},"required":["file_path","old_string","new_string"]}`),
			tool("Write", properties("file_path", "content")), tool("BashOutput", properties("bash_id")), tool("Bash", `{"properties":{"command":{"type":"string"},"timeout":{"type":"number"},"description":{"type":"string"}},"required":["command"]}`)}, []string{
			`Edit {"file_path":"/p/a.txt","new_string":"third line","old_string":"second line"}`,
			`Write {"content":"done\n","file_path":"/p/b.txt"}`,
			`Bash {"command":"cat /p/a.txt"}`,
		}},
		"replace": {[]Tool{read, tool("replace", properties("file_path", "instruction", "old_string", "new_string")), tool("write_file", properties("file_path", "content")), tool("run_shell_command", properties("command"))}, []string{
			`replace {"file_path":"/p/a.txt","instruction":"simulated","new_string":"third line","old_string":"second line"}`,
			`write_file {"content":"done\n","file_path":"/p/b.txt"}`,
			`run_shell_command {"command":"cat /p/a.txt"}`,
		}},
		"list of edits": {[]Tool{read, tool("edit", `{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},"required":["oldText","newText"]}}},"required":["path","edits"]}`),
			tool("write", properties("path", "content")), tool("bash", properties("command"))}, []string{
			`edit {"edits":[{"newText":"third line","oldText":"second line"}],"path":"/p/a.txt"}`,
			`write {"content":"done\n","path":"/p/b.txt"}`,
			`bash {"command":"cat /p/a.txt"}`,
		}},
		"editor with commands": {[]Tool{read, tool("str_replace_editor", `{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"file_text":{"type":"string"},"insert_line":{"type":"integer"}},"required":["command","path"]}`),
			tool("create", properties("path", "file_text")), tool("read_bash", properties("sessionId")), tool("exec_command", properties("cmd"))}, []string{
			`str_replace_editor {"command":"str_replace","new_str":"third line","old_str":"second line","path":"/p/a.txt"}`,
			`create {"file_text":"done\n","path":"/p/b.txt"}`,
			`exec_command {"cmd":"cat /p/a.txt"}`,
		}},
		"patch and argv": {[]Tool{read, tool("apply_patch", properties("input")), tool("shell", `{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}},"workdir":{"type":"string"}},"required":["command"]}`)}, []string{
			`apply_patch {"input":"*** Begin Patch\n*** Update File: /p/a.txt\n@@\n-the second line here\n+the third line here\n*** End Patch"}`,
			`shell {"command":["sh","-c","printf '%s\\n' 'done' \u003e '/p/b.txt'"]}`,
			`shell {"command":["sh","-c","cat /p/a.txt"]}`,
		}},
		"blocks and a list of commands": {[]Tool{read, tool("replace_in_file", properties("path", "diff")), tool("write_to_file", properties("path", "content")), tool("run_commands", `{"properties":{"commands":{"type":"array","items":{"type":"string"}}},"required":["commands"]}`)}, []string{
			`replace_in_file {"diff":"------- SEARCH\nsecond line\n=======\nthird line\n+++++++ REPLACE","path":"/p/a.txt"}`,
			`write_to_file {"content":"done\n","path":"/p/b.txt"}`,
			`run_commands {"commands":["cat /p/a.txt"]}`,
		}},
		"shell alone": {[]Tool{read, tool("exec_command", properties("cmd")), tool("write_stdin", properties("session_id", "chars"))}, []string{
			`exec_command {"cmd":"sed 's/second line/third line/' '/p/a.txt' \u003e '/p/a.txt.new' \u0026\u0026 mv '/p/a.txt.new' '/p/a.txt'"}`,
			`exec_command {"cmd":"printf '%s\\n' 'done' \u003e '/p/b.txt'"}`,
			`exec_command {"cmd":"cat /p/a.txt"}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			calls, answer := doTask(t, wholeTask, tc.tools, "1: MARK first\n2: the second line here", "ok", "ok", "MARK first\nthird line")
			want := append([]string{`read {"filePath":"/p/a.txt"}`}, tc.want...)
			if diff := cmp.Diff(want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if !strings.Contains(answer, "4 steps") || !strings.Contains(answer, "The command printed: MARK first\n") || !strings.Contains(answer, "Simulated") {
				t.Errorf("the answer is %q", answer)
			}
		})
	}
}

func TestPlayReadsTheTaskOutOfThePrompt(t *testing.T) {
	tools := []Tool{
		tool("read", properties("path")), tool("edit", properties("path", "old", "new")),
		tool("write", properties("path", "content")), tool("bash", properties("command")),
	}
	for name, tc := range map[string]struct {
		prompt string
		tools  []Tool
		want   []string
	}{
		"one command":    {"Please run `date -u`.", tools, []string{`bash {"command":"date -u"}`}},
		"one edit":       {"In main.go replace 'a b' by 'c' in main.go", tools, []string{`edit {"new":"c","old":"a b","path":"main.go"}`}},
		"quoted prompt":  {`"Run the command \"echo a b\" and change \"x\" to \"y\" in /p/q.txt"`, tools, []string{`bash {"command":"echo a b"}`, `edit {"new":"y","old":"x","path":"/p/q.txt"}`}},
		"order of words": {"Run `make`. Then read /p/log.txt, and run `ls`", tools, []string{`bash {"command":"make"}`, `read {"path":"/p/log.txt"}`, `bash {"command":"ls"}`}},
		"windows":        {"Read the file C:\\p\\a.txt, then run `type C:\\p\\a.txt`", tools, []string{`read {"path":"C:\\p\\a.txt"}`, `bash {"command":"type C:\\p\\a.txt"}`}},
		"no such tool":   {"Read the file /p/a.txt, then run `ls`", tools[:1], []string{`read {"path":"/p/a.txt"}`}},
		"no path":        {"Replace `a` with `b`", tools, nil},
		"no quotes":      {"Run the tests and fix what fails", tools, nil},
		"one after the other": {"Read the files /p/a.txt and /p/b.txt, then run `ls`", tools,
			[]string{`read {"path":"/p/a.txt"}`, `read {"path":"/p/b.txt"}`, `bash {"command":"ls"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			calls, _ := doTask(t, tc.prompt, tc.tools)
			if diff := cmp.Diff(tc.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// Reads of a prompt that wants them at once are one turn with several calls, and
// the next step comes when all have their results.
func TestPlayReadsAtOnce(t *testing.T) {
	turn := Turn{Prompt: "Read the files /p/a.txt, /p/b.txt and /p/c.txt at once, then run `ls`", Tools: []Tool{tool("read", properties("path")), tool("bash", properties("command"))}}
	for results, want := range [][]string{3: {"bash"}, 0: {"read", "read", "read"}, 4: nil} {
		if results == 1 || results == 2 {
			continue // no turn comes before all results are there
		}
		turn.Results = slices.Repeat([]string{"MARK"}, results)
		var calls []string
		for _, step := range Play(turn) {
			if call, ok := step.(Call); ok {
				calls = append(calls, call.Name)
			}
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("after %d results (-want +got):\n%s", results, diff)
		}
	}
}
