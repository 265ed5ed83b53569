package openai

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
	"cursortray/proxy/wirejson"
)

func mustDecodeResponse(t *testing.T, members string) *responsesRequest {
	t.Helper()
	req, err := decodeResponses([]byte(askResponse(members)), nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return req
}

func TestDecodeInput(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("hi")}
	tests := []struct {
		name, members, system string
		want                  []chat.Message
	}{
		{"a string", `"input":"hi","instructions":"be brief"`, "be brief", []chat.Message{user(say("hi"))}},
		{"short messages", `"input":[{"role":"system","content":"a"},{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"developer","content":"b"},{"role":"user","content":"z"}],"instructions":"i"`,
			"i\n\na\n\nb", []chat.Message{user(say("x")), assistant(say("y")), user(say("z"))}},
		{"instructions alone become the question", `"input":[],"instructions":"a title"`, "", []chat.Message{user(say("a title"))}},
		{"parts", `"input":[{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":""},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aGk="}]},
			{"type":"message","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"b","annotations":[]},{"type":"refusal","refusal":"no"}]}]`,
			"", []chat.Message{user(say("a"), picture), assistant(say("b"), say("no"))}},
		{"a part of the future", `"input":[{"role":"user","content":[{"type":"hologram"},{"type":"input_text","text":"a"}]}]`, "", []chat.Message{user(say("a"))}},
		{"a turn with calls", `"input":[{"role":"user","content":"x"},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"p"},{"type":"summary_text","text":"q"}],"content":null,"encrypted_content":null},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{\"a\":1}","status":"completed"},
			{"type":"function_call","call_id":"c2","namespace":"team","name":"ask","arguments":""},
			{"type":"function_call_output","id":"o","call_id":"c2","output":"two"},
			{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}]`,
			"", []chat.Message{
				user(say("x")),
				assistant(chat.Reasoning{Text: "p\n\nq"}, say("I look."), chat.ToolUse{ID: "c1", Name: "read", Arguments: `{"a":1}`}, chat.ToolUse{ID: "c2", Name: "team__ask"}),
				user(chat.ToolResult{CallID: "c2", Content: []chat.Part{say("two")}}),
				user(chat.ToolResult{CallID: "c1", Content: []chat.Part{say("one"), picture}}),
			}},
		{"thinking itself goes before its summary", `"input":[{"role":"user","content":"x"},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"t"}],"encrypted_content":"abc"}]`,
			"", []chat.Message{user(say("x")), assistant(chat.Reasoning{Text: "t"})}},
		{"other calls", `"input":[{"role":"user","content":"x"},
			{"type":"custom_tool_call","call_id":"c1","name":"patch","input":"*** \"x\"\n"},{"type":"custom_tool_call_output","call_id":"c1","output":"ok"},
			{"type":"local_shell_call","call_id":"c2","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","call_id":"c2","output":""},
			{"type":"local_shell_call","id":"c3","call_id":null},{"type":"local_shell_call_output","id":"c3","output":"d"}]`,
			"", []chat.Message{
				user(say("x")),
				assistant(chat.ToolUse{ID: "c1", Name: "patch", Arguments: `{"input":"*** \"x\"\n"}`}), user(chat.ToolResult{CallID: "c1", Content: []chat.Part{say("ok")}}),
				assistant(chat.ToolUse{ID: "c2", Name: "local_shell", Arguments: `{"type":"exec","command":["ls"]}`}), user(chat.ToolResult{CallID: "c2"}),
				assistant(chat.ToolUse{ID: "c3", Name: "local_shell"}), user(chat.ToolResult{CallID: "c3", Content: []chat.Part{say("d")}}),
			}},
		{"items of others and of the future", `"input":[{"type":"web_search_call","id":"w","status":"completed"},{"type":"compaction","encrypted_content":"x"},{"type":"item_reference","id":"rs_abc"},{"role":"user","content":"x"}]`,
			"", []chat.Message{user(say("x"))}},
		{"a result whose call is gone", `"input":[{"type":"function_call_output","call_id":"gone","output":"x"}]`, "", []chat.Message{user(chat.ToolResult{CallID: "gone", Content: []chat.Part{say("x")}})}},
	}
	for _, tt := range tests {
		req := mustDecodeResponse(t, tt.members)
		if req.System != tt.system {
			t.Errorf("%s: system %q, want %q", tt.name, req.System, tt.system)
		}
		if diff := cmp.Diff(tt.want, req.Messages); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestDecodeSettingsOfResponses(t *testing.T) {
	req := mustDecodeResponse(t, responseTools+`,"stream":true,"parallel_tool_calls":false,"reasoning":{"effort":"high","summary":"auto"},"max_output_tokens":77,
		"text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}},"verbosity":"low"},"prompt_cache_key":"k","include":["x","reasoning.encrypted_content"],
		"store":false,"metadata":{},"client_metadata":{"a":"b"},"service_tier":"auto","truncation":"auto","temperature":1,"top_p":1,"user":"u","safety_identifier":"s","stream_options":{"include_obfuscation":false},
		"previous_response_id":null,"conversation":null,"prompt":null,"background":false,"tool_choice":{"type":"function","namespace":"team","name":"ask"}`)
	if !req.stream || !req.SerialTools || req.Effort != "high" || req.MaxTokens != 77 || !req.sealed || req.Session != "k" ||
		!req.Format.JSON || string(req.Format.Schema) != `{"type":"object"}` || req.Choice != (chat.ToolChoice{Mode: chat.ToolNamed, Name: "team__ask"}) {
		t.Errorf("%+v", req)
	}
	plain := mustDecodeResponse(t, `"reasoning":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","include":null,"max_output_tokens":null,"tools":null`)
	want := chat.Request{Model: "m", Messages: []chat.Message{user(say("hi"))}}
	if diff := cmp.Diff(want, plain.Request); diff != "" || plain.stream || plain.sealed {
		t.Error(diff)
	}
}

func TestDecodeDeclaredTools(t *testing.T) {
	req := mustDecodeResponse(t, responseTools)
	var names []string
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
	}
	// What OpenAI would run itself is dropped without a word.
	if want := []string{"read", "team__ask", "team__note", "patch"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	patch := req.Tools[3]
	if want := "Edits files.\n\nThe input must follow this grammar (lark):\nstart: /x/"; patch.Description != want || !strings.Contains(string(patch.Schema), `"required":["input"]`) {
		t.Errorf("custom tool %q %s", patch.Description, patch.Schema)
	}
	for _, kind := range []string{"web_search", "web_search_preview", "image_generation", "local_shell", "file_search", "computer_use_preview", "mcp", "code_interpreter", "tool_search"} {
		if req := mustDecodeResponse(t, `"tools":[{"type":"`+kind+`","name":"x","extra":{}}]`); len(req.Tools) != 0 {
			t.Errorf("%s became %+v", kind, req.Tools)
		}
	}
	if req := mustDecodeResponse(t, responseTools+`,"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"custom","name":"patch"},{"type":"web_search"}]}`); len(req.Tools) != 1 || req.Tools[0].Name != "patch" || req.Choice.Mode != chat.ToolAny {
		t.Errorf("allowed: %+v, %+v", req.Tools, req.Choice)
	}
}

func TestFlatNames(t *testing.T) {
	long := strings.Repeat("n", 50)
	seen := map[string]bool{}
	for _, names := range [][2]string{{"", "read"}, {"team", "ask"}, {"mcp__files__", "read"}, {long, long}, {long, long + "x"}} {
		flat := flatName(names[0], names[1])
		if len(flat) > maxToolName || seen[flat] || flat != flatName(names[0], names[1]) {
			t.Errorf("%q is %q, seen: %v", names, flat, seen[flat])
		}
		seen[flat] = true
	}
	if got := flatName("mcp__files__", "read"); got != "mcp__files__read" {
		t.Errorf("got %q", got)
	}
}

func TestDecodeFaultsOfResponses(t *testing.T) {
	item := func(s string) string { return `"input":[{"role":"user","content":"x"},` + s + `]` }
	tests := []struct{ members, param, code string }{
		{`"model":5`, "model", wirejson.CodeInvalidType},
		{`"model":""`, "model", wirejson.CodeInvalidValue},
		{`"input":5`, "input", wirejson.CodeInvalidType},
		{`"input":null`, "input", wirejson.CodeInvalidType},
		{`"input":""`, "input", wirejson.CodeInvalidValue},
		{`"input":[]`, "input", wirejson.CodeInvalidValue},
		{`"instructions":["x"]`, "instructions", wirejson.CodeInvalidType},
		{item(`"x"`), "input[1]", wirejson.CodeInvalidType},
		{item(`null`), "input[1]", wirejson.CodeInvalidType},
		{item(`{}`), "input[1].type", wirejson.CodeMissing},
		{item(`{"type":"message"}`), "input[1].role", wirejson.CodeMissing},
		{item(`{"role":"tool"}`), "input[1].role", wirejson.CodeInvalidValue},
		{item(`{"role":"user","content":5}`), "input[1].content", wirejson.CodeInvalidType},
		{item(`{"role":"user","content":[{}]}`), "input[1].content[0].type", wirejson.CodeMissing},
		{item(`{"role":"user","content":[null]}`), "input[1].content[0]", wirejson.CodeInvalidType},
		{item(`{"role":"user","content":[{"type":"input_text"}]}`), "input[1].content[0].text", wirejson.CodeMissing},
		{item(`{"role":"user","content":[{"type":"input_file","file_id":"f"}]}`), "input[1].content[0].type", wirejson.CodeUnsupported},
		{item(`{"role":"user","content":[{"type":"input_image","file_id":"f"}]}`), "input[1].content[0].image_url", wirejson.CodeMissing},
		{item(`{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png"}]}`), "input[1].content[0].image_url", wirejson.CodeInvalidValue},
		{item(`{"role":"developer","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}`), "input[1].content", wirejson.CodeInvalidValue},
		{item(`{"type":"function_call","name":"f"}`), "input[1].call_id", wirejson.CodeMissing},
		{item(`{"type":"function_call","call_id":"c"}`), "input[1].name", wirejson.CodeMissing},
		{item(`{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), "input[1].arguments", wirejson.CodeInvalidType},
		{item(`{"type":"function_call_output","output":"x"}`), "input[1].call_id", wirejson.CodeMissing},
		{item(`{"type":"local_shell_call","call_id":"c","action":"ls"}`), "input[1].action", wirejson.CodeInvalidType},
		{item(`{"type":"reasoning","summary":"x"}`), "input[1].summary", wirejson.CodeInvalidType},
		{item(`{"type":"item_reference","id":"msg_abc"}`), "input[1].id", wirejson.CodeInvalidValue},
		{item(`{"id":"msg_abc"}`), "input[1].id", wirejson.CodeInvalidValue},
		{item(`{"type":"item_reference"}`), "input[1].id", wirejson.CodeMissing},
		{`"previous_response_id":"resp_1"`, "previous_response_id", wirejson.CodeUnsupported},
		{`"conversation":"conv_1"`, "conversation", wirejson.CodeUnsupported},
		{`"prompt":{"id":"p"}`, "prompt", wirejson.CodeUnsupported},
		{`"background":true`, "background", wirejson.CodeUnsupported},
		{`"stream":"yes"`, "stream", wirejson.CodeInvalidType},
		{`"reasoning":"high"`, "reasoning", wirejson.CodeInvalidType},
		{`"reasoning":{"effort":1}`, "reasoning.effort", wirejson.CodeInvalidType},
		{`"max_output_tokens":"5"`, "max_output_tokens", wirejson.CodeInvalidType},
		{`"text":{"format":{"type":"xml"}}`, "text.format.type", wirejson.CodeInvalidValue},
		{`"text":{"format":{"type":"json_schema","schema":[]}}`, "text.format.schema", wirejson.CodeInvalidType},
		{`"include":"x"`, "include", wirejson.CodeInvalidType},
		{`"prompt_cache_key":5`, "prompt_cache_key", wirejson.CodeInvalidType},
		{`"tools":[{"name":"f"}]`, "tools[0].type", wirejson.CodeMissing},
		{`"tools":[{"type":"function"}]`, "tools[0].name", wirejson.CodeMissing},
		{`"tools":[{"type":"function","name":"f","parameters":[]}]`, "tools[0].parameters", wirejson.CodeInvalidType},
		{`"tools":[{"type":"function","name":"f"},{"type":"custom","name":"f"}]`, "tools[1].name", wirejson.CodeInvalidValue},
		{`"tools":[{"type":"function","name":"` + strings.Repeat("n", 65) + `"}]`, "tools[0].name", wirejson.CodeInvalidValue},
		{`"tools":[{"type":"namespace","tools":[]}]`, "tools[0].name", wirejson.CodeMissing},
		{`"tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`, "tools[0].tools[0].name", wirejson.CodeMissing},
		{`"tool_choice":"required"`, "tool_choice", wirejson.CodeInvalidValue},
		{`"tools":[{"type":"web_search"}],"tool_choice":"required"`, "tool_choice", wirejson.CodeInvalidValue},
		{`"tool_choice":{"type":"web_search"}`, "tool_choice.type", wirejson.CodeUnsupported},
		{`"tool_choice":{"type":"function","name":"f"}`, "tool_choice.name", wirejson.CodeInvalidValue},
		{`"tool_choice":{"type":"function"}`, "tool_choice.name", wirejson.CodeMissing},
		{`"tool_choice":{"type":"allowed_tools","mode":{},"tools":[]}`, "tool_choice.mode", wirejson.CodeInvalidType},
		{`"tool_choice":{"type":"allowed_tools","mode":"required","tools":[]}`, "tool_choice.mode", wirejson.CodeInvalidValue},
	}
	for _, tt := range tests {
		_, err := decodeResponses([]byte(askResponse(tt.members)), nil, nil)
		if err == nil {
			t.Errorf("%s: accepted", tt.members)
			continue
		}
		if err.Kind != chat.Invalid || err.Param != tt.param || err.Code != tt.code || !strings.HasPrefix(err.Message, tt.param+" ") {
			t.Errorf("%s: %v, param %q, code %q; want param %q, code %q", tt.members, err, err.Param, err.Code, tt.param, tt.code)
		}
	}
	for _, in := range []string{`{}`, `{"model":"m"}`, `[]`, ``} {
		if _, err := decodeResponses([]byte(in), nil, nil); err == nil || err.Kind != chat.Invalid {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestMU3_UnknownMembersOfResponsesAreIgnored(t *testing.T) {
	var unknown []string
	in := askResponse(`"future":{"a":1},"tools":[{"type":"function","name":"f","output_schema":{}}],"input":[{"role":"user","content":[{"type":"input_text","text":"x","new":1},{"type":"hologram"}]},{"type":"dream","x":1}]`)
	if _, err := decodeResponses([]byte(in), func(field string) { unknown = append(unknown, field) }, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{"future", "input[].content[].new", "input[].content[].type=hologram", "input[].type=dream", "input[].x", "tools[].output_schema"}
	slices.Sort(unknown)
	if !slices.Equal(unknown, want) {
		t.Errorf("noted %q, want %q", unknown, want)
	}
}

func FuzzDecodeResponses(f *testing.F) {
	for _, members := range []string{
		"", responseTools + `,"tool_choice":"required","stream":true`,
		`"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]},
		{"type":"function_call","call_id":"c","name":"f","arguments":"{}","namespace":"n"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}]`,
		`"input":[{"type":"custom_tool_call","call_id":"c","name":"p","input":"x"},{"type":"local_shell_call","id":"l","action":{}},{"type":"item_reference","id":"rs_"}]`,
		`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]},"text":{"format":{"type":"json_object"}},"include":["reasoning.encrypted_content"]`,
	} {
		f.Add([]byte(askResponse(members)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		req, err := decodeResponses(in, func(string) {}, nil)
		switch {
		case err != nil && (err.Kind != chat.Invalid || err.Message == "" || err.Code == ""):
			t.Errorf("%q: the fault is %+v", in, err)
		case err == nil && (req.Model == "" || len(req.Messages) == 0):
			t.Errorf("%q: accepted without model or messages", in)
		case err == nil && (!json.Valid(in) || !json.Valid(req.origins.choiceJSON(req.Choice))):
			t.Errorf("%q: accepted, or repeats the choice, as no JSON", in)
		}
	})
}
