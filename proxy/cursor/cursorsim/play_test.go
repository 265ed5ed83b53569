package cursorsim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tool(name, schema string) Tool { return Tool{Name: name, Schema: json.RawMessage(schema)} }

// The schemas have the shapes that clients of 2026 send.
func TestPlayCallsTheToolThatReads(t *testing.T) {
	const prompt = "Read the file /tmp/proj/a.txt and tell me its first line"
	for _, tc := range []struct {
		name   string
		prompt string
		tools  []Tool
		want   string // "name {arguments}", "" for no call
	}{
		{"camel case path", "\"" + prompt + "\"", []Tool{
			tool("bash", `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
			tool("edit", `{"type":"object","properties":{"filePath":{"type":"string"}},"required":["filePath"]}`),
			tool("read", `{"type":"object","properties":{"filePath":{"type":"string"},"offset":{"type":"number"},"limit":{"type":"number"}},"required":["filePath"]}`),
		}, `read {"filePath":"/tmp/proj/a.txt"}`},
		{"plain path", prompt, []Tool{
			tool("read", `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"number"}},"required":["path"]}`),
		}, `read {"path":"/tmp/proj/a.txt"}`},
		{"name with a server", prompt, []Tool{
			tool("mcp__fs__read_text_file", `{"type":"object","properties":{"path":{"type":"string"}}}`),
		}, `mcp__fs__read_text_file {"path":"/tmp/proj/a.txt"}`},
		{"strict schema with nullable fields", prompt, []Tool{
			tool("read_file", `{"type":"object","properties":{"target_file":{"type":"string"},"limit":{"type":["integer","null"]},"should_read_entire_file":{"type":"boolean"}},"required":["target_file","limit","should_read_entire_file"],"additionalProperties":false}`),
		}, `read_file {"limit":null,"should_read_entire_file":false,"target_file":"/tmp/proj/a.txt"}`},
		{"list of files", prompt, []Tool{
			tool("read_files", `{"type":"object","properties":{"files":{"type":"array","items":{"$ref":"#/$defs/File"}}},"required":["files"],"$defs":{"File":{"type":"object","properties":{"path":{"type":"string"},"ranges":{"type":"array","items":{"type":"string"}}},"required":["path"]}}}`),
		}, `read_files {"files":[{"path":"/tmp/proj/a.txt"}]}`},
		{"list of paths", prompt, []Tool{
			tool("read_many_files", `{}`), // reads patterns, not one file
			tool("readFiles", `{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}}}`),
		}, `readFiles {"paths":["/tmp/proj/a.txt"]}`},
		{"shell", prompt, []Tool{
			tool("run_shell_command", `{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"},"is_background":{"type":"boolean"}},"required":["command","description","is_background"]}`),
		}, `run_shell_command {"command":"head -n 1 '/tmp/proj/a.txt'","description":"Print the first line of the file","is_background":false}`},
		{"shell with a list", prompt, []Tool{
			tool("shell", `{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}},"required":["command"]}`),
		}, `shell {"command":["sh","-c","head -n 1 '/tmp/proj/a.txt'"]}`},
		{"quote in the path", "Show me '/tmp/a b/it.txt' or `it's/x.txt`", []Tool{
			tool("bash", `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		}, `bash {"command":"head -n 1 '/tmp/a b/it.txt'"}`},
		{"windows path", `What is in C:\proj\a.txt?`, []Tool{
			tool("Read", `{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`),
		}, `Read {"file_path":"C:\\proj\\a.txt"}`},
		{"relative path", "Explain main.go.", []Tool{
			tool("Read", `{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}`),
		}, `Read {"file_path":"main.go"}`},
		{"path after a foreign one", "<context>/etc/hosts is open</context>\nRead the file /tmp/b.txt.", []Tool{
			tool("read", `{"properties":{"path":{"type":"string"}}}`),
		}, `read {"path":"/tmp/b.txt"}`},
		{"subject of a lookup", "What is the weather in New York?", []Tool{
			tool("delete_weather", `{}`),
			tool("get_weather", `{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]}},"required":["city","unit"]}`),
		}, `get_weather {"city":"New York","unit":"c"}`},
		{"lookup without a verb", "What is the weather in Oslo?", []Tool{
			tool("weather", `{"type":"object","properties":{"location":{"type":"string"}},"required":["location"]}`),
		}, `weather {"location":"Oslo"}`},
		{"a tool that is only named", "Do the task", []Tool{tool("task", `{}`), tool("create_task", `{}`)}, ""},
		{"writing is not reading", "Write hello into /tmp/a.txt", []Tool{tool("read", `{}`), tool("write", `{}`)}, ""},
		{"no tool that fits", prompt, []Tool{tool("read_lints", `{}`), tool("write_file", `{}`), tool("todoread", `{}`)}, ""},
		{"a greeting", "Hello", []Tool{tool("read", `{}`)}, ""},
		{"an address is no file", "Tell me about https://example.com/a", []Tool{tool("read", `{}`)}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			steps := Play(Turn{Prompt: tc.prompt, Tools: tc.tools})
			if call, ok := steps[len(steps)-1].(Call); ok {
				got = call.Name + " " + string(call.Arguments)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlayMustCallWhenTheClientInsists(t *testing.T) {
	steps := Play(Turn{Prompt: "Hello", Must: true, Tools: []Tool{
		tool("answer", `{"type":"object","properties":{"score":{"type":"integer","minimum":3},"text":{"type":"string"}},"required":["score","text"]}`),
	}})
	call, ok := steps[len(steps)-1].(Call)
	if !ok || string(call.Arguments) != `{"score":3,"text":"simulated"}` {
		t.Errorf("steps = %+v", steps)
	}
}

// Results look as OpenCode, pi, Claude Code and Codex hand them over.
func TestPlayRepeatsTheFirstLine(t *testing.T) {
	const line = "MARK-q7Zk41 first line here"
	for name, result := range map[string]string{
		"plain":        line + "\nsecond line\n",
		"numbered":     "<path>/p/a.txt</path>\n<type>file</type>\n<content>\n1: " + line + "\n2: second line\n\n(End of file - total 2 lines)\n</content>",
		"zero padded":  "<file>\n00001| " + line + "\n00002| second line\n</file>",
		"arrow":        "     1→" + line + "\n     2→second line",
		"tab":          "1\t" + line + "\n2\tsecond line",
		"process":      "Chunk ID: 12\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n" + line + "\n",
		"json":         `{"output":"` + line + `\nsecond","metadata":{"exit_code":0}}`,
		"fence":        "Contents of /p/a.txt:\n```txt\n" + line + "\nsecond\n```",
		"blank before": "\r\n\r\n  " + line + "\r\n",
		"control":      line[:11] + "\x1b" + line[12:],
	} {
		t.Run(name, func(t *testing.T) {
			steps := Play(Turn{Prompt: "Read a.txt", Results: []string{result}, Calls: 1, Tools: []Tool{tool("read", `{}`)}})
			text := said(steps)
			if !strings.HasPrefix(text, "The first line is: "+line+"\n") {
				t.Errorf("the answer is %q", text)
			}
			if !strings.Contains(text, "Simulated") {
				t.Errorf("the answer does not say what it is: %q", text)
			}
		})
	}
}

func said(steps []Step) string {
	var text strings.Builder
	for _, step := range steps {
		if say, ok := step.(Say); ok {
			text.WriteString(say.Text)
		}
	}
	return text.String()
}

func TestPlayWithoutToolsSaysWhatItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		turn Turn
		want string
	}{
		"prompt":       {Turn{Prompt: "Read /tmp/a.txt"}, "nothing here is real"},
		"note":         {Turn{Prompt: "<system-reminder>\nRead /tmp/a.txt\n</system-reminder>\nHello", Tools: []Tool{tool("read", `{}`)}}, "nothing here is real"},
		"title":        {Turn{System: "You are a title generator.", Prompt: "Read /tmp/a.txt"}, "Simulated conversation"},
		"title, alone": {Turn{Prompt: "Write a short title for this conversation"}, "Simulated conversation"},
		"summary":      {Turn{System: "Summarize the conversation.", Prompt: "Go"}, "Simulated summary"},
		"no result":    {Turn{Results: []string{""}}, "empty"},
		"JSON":         {Turn{JSON: true}, `{"simulated":true}`},
		"JSON schema":  {Turn{JSON: true, Schema: json.RawMessage(`{"properties":{"title":{"type":"string"}},"required":["title"]}`)}, `{"title":"simulated"}`},
		"many calls":   {Turn{Prompt: "Read /tmp/a.txt", Calls: maxCalls, Tools: []Tool{tool("read", `{}`)}}, "nothing here is real"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(Play(tc.turn)); !strings.Contains(got, tc.want) {
				t.Errorf("the answer is %q, want it to contain %q", got, tc.want)
			}
		})
	}
}

func FuzzPlay(f *testing.F) {
	f.Add("Read /tmp/a.txt", "read", `{"type":"object","properties":{"path":{"type":"string"}}}`, "1: a", false)
	f.Add("What is in `a b/c.txt`", "bash", `{"properties":{"command":{"type":["array","null"]}},"required":["command"]}`, "", true)
	f.Add("Read a.txt and b.txt at once, replace `a` with `b` in it, write `c` to d.txt, run `e`", "edit", `{"properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}}}`, "1: a", false)
	f.Add("x", "x", `{"$ref":"#"}`, "{\"output\":", true)
	f.Add("x", "x", `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"required":["a","b"]}`, "<content>\n", true)
	f.Add("x", "x", `{"properties":{"a":{"type":"array","minItems":1e300,"items":{"anyOf":[{"$ref":"#/x~1y"}]}}},"required":["a"]}`, "\xff", true)
	f.Add("x", "x", `{"properties":{"a":7,"b":{"type":{}}},"required":["a",{"b":1},"b"]}`, "\xff", true)
	f.Fuzz(func(t *testing.T, prompt, name, schema, result string, must bool) {
		turn := Turn{Prompt: prompt, Tools: []Tool{tool(name, schema)}, Must: must}
		checkSteps(t, turn, Play(turn))
		turn.Results = []string{result}
		checkSteps(t, turn, Play(turn))
		turn = Turn{Prompt: prompt, JSON: true, Schema: json.RawMessage(schema)}
		if text := said(Play(turn)); !json.Valid([]byte(text)) {
			t.Errorf("a JSON answer is %q", text)
		}
	})
}

func checkSteps(t *testing.T, turn Turn, steps []Step) {
	t.Helper()
	if len(steps) == 0 {
		t.Fatal("no steps")
	}
	calls := 0
	for i, step := range steps {
		call, ok := step.(Call)
		if !ok {
			if calls > 0 {
				t.Errorf("step %d of %d follows a call", i, len(steps))
			}
			continue
		}
		calls++
		var object map[string]any
		if err := json.Unmarshal(call.Arguments, &object); err != nil || object == nil || len(call.Arguments) > 1<<20 {
			t.Errorf("%d bytes of arguments, %v", len(call.Arguments), err)
		}
		if call.Name != turn.Tools[0].Name {
			t.Errorf("step %d of %d calls %q", i, len(steps), call.Name)
		}
	}
}
