package anthropic

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

// body returns a request with the given members, and a model and a message
// unless they say otherwise.
func body(members string) string {
	if members != "" {
		members += ","
	}
	out := "{" + members
	if !strings.Contains(members, `"model"`) {
		out += `"model":"m",`
	}
	if !strings.Contains(members, `"messages"`) {
		out += `"messages":[{"role":"user","content":"hi"}],`
	}
	return strings.TrimSuffix(out, ",") + "}"
}

func mustDecode(t *testing.T, in string) *messagesRequest {
	t.Helper()
	req, err := decodeMessages([]byte(in), nil)
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return req
}

func user(parts ...chat.Part) chat.Message { return chat.Message{Role: chat.User, Parts: parts} }

func assistant(parts ...chat.Part) chat.Message {
	return chat.Message{Role: chat.Assistant, Parts: parts}
}

func say(s string) chat.Part { return chat.Text{Text: s} }

const png = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="},"cache_control":{"type":"ephemeral"}}`

func TestDecodeMessages(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("hi")}
	tests := []struct {
		name, members, system string
		want                  []chat.Message
	}{
		{"plain", `"messages":[{"role":"user","content":"hi"}]`, "", []chat.Message{user(say("hi"))}},
		{"system as a string", `"system":"a","messages":[{"role":"user","content":"hi"}]`, "a", []chat.Message{user(say("hi"))}},
		{"system at any place", `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],
			"messages":[{"role":"user","content":"x"},{"role":"system","content":[{"type":"text","text":"c"}]},{"role":"assistant","content":"y"},{"role":"system","content":"d"}]`,
			"a\n\nb\n\nc\n\nd", []chat.Message{user(say("x")), assistant(say("y"))}},
		{"a note for Anthropic's servers", `"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.1c9; cch=5f3a1;"},{"type":"text","text":"a"}],"messages":[{"role":"user","content":"hi"}]`,
			"a", []chat.Message{user(say("hi"))}},
		{"system alone becomes the question", `"system":"a","messages":[{"role":"system","content":"b"}]`, "a", []chat.Message{user(say("b"))}},
		{"blocks", `"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":""},` + png + `,{"type":"text","text":"b","citations":null}]}]`,
			"", []chat.Message{user(say("a"), picture, say("b"))}},
		{"documents", `"messages":[{"role":"user","content":[
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"},"title":"t"},
			{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"Yg=="}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"c"},` + png + `]}},
			{"type":"document","source":{"type":"content","content":"d"}}]}]`,
			"", []chat.Message{user(say("a"), say("b"), say("c"), picture, say("d"))}},
		{"TC9 calls and results", `"messages":[{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":[1, 2]},"caller":{"type":"direct"}},{"type":"tool_use","id":"c2","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"two\n"},` + png + `,{"type":"tool_reference","tool_name":"g"}]},
				{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"bad"},
				{"type":"tool_result","tool_use_id":"gone"},
				{"type":"text","text":"and now?"}]}]`, "", []chat.Message{
			user(say("q")),
			assistant(chat.ToolUse{ID: "c1", Name: "f", Arguments: `{"a":[1, 2]}`}, chat.ToolUse{ID: "c2", Name: "f", Arguments: "{}"}),
			user(chat.ToolResult{CallID: "c2", Content: []chat.Part{say("two\n"), picture}},
				chat.ToolResult{CallID: "c1", Content: []chat.Part{say("bad")}, Failed: true},
				chat.ToolResult{CallID: "gone"}, say("and now?")),
		}},
		{"a call without input", `"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f"}]}]`,
			"", []chat.Message{assistant(chat.ToolUse{ID: "c", Name: "f"})}},
		{"thinking comes back", `"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"r","signature":"s"},
			{"type":"redacted_thinking","data":"x"},{"type":"thinking","thinking":"","signature":"s"},{"type":"text","text":"a"}]}]`,
			"", []chat.Message{assistant(chat.Reasoning{Text: "r"}, say("a"))}},
		{"unknown blocks are skipped", `"messages":[{"role":"user","content":[{"type":"hologram","beams":[1]},{"type":"text","text":"x"}]},
			{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}]`,
			"", []chat.Message{user(say("x"))}},
		{"nothing said is left out", `"messages":[{"role":"user","content":null},{"role":"assistant","content":[]},{"role":"assistant","content":""},{"role":"user","content":"x"}]`,
			"", []chat.Message{user(say("x"))}},
		{"escapes and broken text", "\"messages\":[{\"role\":\"user\",\"content\":\"a\\n\\u00e9\\ud83d\\ude00\\ud800 \xff\"}]", "", []chat.Message{user(say("a\né😀\ufffd \ufffd"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := mustDecode(t, body(tt.members))
			if req.System != tt.system {
				t.Errorf("system = %q, want %q", req.System, tt.system)
			}
			if diff := cmp.Diff(tt.want, req.Messages); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeSettings(t *testing.T) {
	const twoTools = `"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"eager_input_streaming":true},{"type":"custom","name":"g"}]`
	tools := []chat.Tool{{Name: "f", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}}
	with := func(c chat.ToolChoice) chat.Request { return chat.Request{Tools: tools, Choice: c} }
	tests := []struct {
		members string
		stream  bool
		want    chat.Request
	}{
		{``, false, chat.Request{}},
		{`"stream":true,"max_tokens":5`, true, chat.Request{MaxTokens: 5}},
		{`"stream":null,"tools":null,"tool_choice":null,"stop_sequences":null,"thinking":null,"output_config":null,"max_tokens":null,"system":null`, false, chat.Request{}},
		{`"max_tokens":-1`, false, chat.Request{}},
		{`"stop_sequences":["x","y"]`, false, chat.Request{Stop: []string{"x", "y"}}},
		{twoTools, false, with(chat.ToolChoice{})},
		{twoTools + `,"tool_choice":{"type":"auto"}`, false, with(chat.ToolChoice{})},
		{twoTools + `,"tool_choice":{"type":"none"}`, false, with(chat.ToolChoice{Mode: chat.ToolNone})},
		{twoTools + `,"tool_choice":{"type":"any"}`, false, with(chat.ToolChoice{Mode: chat.ToolAny})},
		{twoTools + `,"tool_choice":{"type":"tool","name":"g"}`, false, with(chat.ToolChoice{Mode: chat.ToolNamed, Name: "g"})},
		{`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, false, chat.Request{SerialTools: true}},
		{`"thinking":{"type":"enabled","budget_tokens":31999}`, false, chat.Request{Effort: "on"}},
		{`"thinking":{"type":"adaptive","display":"summarized"}`, false, chat.Request{}},
		{`"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}`, false, chat.Request{Effort: "max"}},
		{`"thinking":{"type":"disabled"},"output_config":{"effort":"low"}`, false, chat.Request{Effort: "none"}},
		{`"output_config":{"effort":"high"}`, false, chat.Request{Effort: "high"}},
		{`"output_config":{"format":{"type":"json_schema","schema":{"a":1}}}`, false, chat.Request{Format: chat.Format{JSON: true, Schema: json.RawMessage(`{"a":1}`)}}},
		{`"output_format":{"type":"json_schema","schema":{"a":1}}`, false, chat.Request{Format: chat.Format{JSON: true, Schema: json.RawMessage(`{"a":1}`)}}},
	}
	for _, tt := range tests {
		tt.want.Model = "m"
		tt.want.Messages = []chat.Message{user(say("hi"))}
		got := mustDecode(t, body(tt.members))
		if diff := cmp.Diff(tt.want, got.Request); diff != "" || got.stream != tt.stream {
			t.Errorf("%s: stream %v\n%s", tt.members, got.stream, diff)
		}
	}
}

// What Anthropic's servers run, or its models alone know, cannot reach another
// model. Claude Code sends such tools unasked.
func TestToolsThatAreLeftOut(t *testing.T) {
	const tools = `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8},{"type":"bash_20250124","name":"bash"},
		{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"},
		{"name":"later","defer_loading":true},{"name":"later_too","input_schema":{"type":"object","properties":{}},"defer_loading":true},
		{"name":"known","input_schema":{"type":"object","properties":{"a":{}}},"defer_loading":true},{"name":"f","defer_loading":false}]`
	for choice, want := range map[string]chat.ToolChoice{
		``: {},
		`,"tool_choice":{"type":"tool","name":"web_search"}`: {},
		`,"tool_choice":{"type":"tool","name":"later"}`:      {},
		`,"tool_choice":{"type":"any"}`:                      {Mode: chat.ToolAny},
	} {
		req := mustDecode(t, body(tools+choice))
		if len(req.Tools) != 2 || req.Tools[0].Name != "known" || req.Tools[1].Name != "f" || req.Choice != want {
			t.Errorf("%s: %+v, %+v", choice, req.Tools, req.Choice)
		}
	}
	req := mustDecode(t, body(`"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"any"}`))
	if len(req.Tools) != 0 || req.Choice.Mode != chat.ToolAuto {
		t.Errorf("no tool is left: %+v", req)
	}
}

func TestUnknownMembersAreIgnored(t *testing.T) {
	in := `"metadata":{"user_id":"u"},"context_management":{"edits":[]},"safeguards":{"a":{"b":[1]}},"service_tier":"auto","temperature":1,"top_p":1,"top_k":5,
		"mcp_servers":[],"container":null,"betas":["x"],"inference_geo":"eu","cache_control":{},"brand_new":{"x":1},
		"thinking":{"type":"adaptive","newer":1},"output_config":{"effort":"low","fresh":1},
		"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{},"novel":1},{"type":"hologram"}],"odd":2}],
		"tools":[{"name":"f","strict":false,"defer_loading":false,"cache_control":{},"young":3},
			{"name":"g","defer_loading":true,"input_schema":{"type":"object","novel":1,"properties":{"a":{}}}}]`
	var unknown []string
	if _, err := decodeMessages([]byte(body(in)), func(field string) { unknown = append(unknown, field) }); err != nil {
		t.Fatal(err)
	}
	want := []string{"brand_new", "messages[].content[] of type hologram", "messages[].content[].novel", "messages[].odd", "output_config.fresh", "thinking.newer", "tools[].young"}
	slices.Sort(unknown)
	if !slices.Equal(unknown, want) {
		t.Errorf("reported %q, want %q", unknown, want)
	}
}

func TestDecodeFaults(t *testing.T) {
	message := func(s string) string { return `"messages":[{"role":"user","content":"x"},` + s + `]` }
	block := func(s string) string { return message(`{"role":"user","content":[` + s + `]}`) }
	tests := []struct{ members, param string }{
		{`"model":1`, "model"}, {`"model":""`, "model"}, {`"messages":"x"`, "messages"}, {`"messages":null`, "messages"},
		{`"messages":[]`, "messages"}, {`"messages":[{"role":"user","content":""}]`, "messages"},
		{message(`null`), "messages[1]"}, {message(`"x"`), "messages[1]"}, {message(`{}`), "messages[1].role"},
		{message(`{"role":"king","content":"x"}`), "messages[1].role"},
		{message(`{"role":"user","content":5}`), "messages[1].content"},
		{message(`{"role":"system","content":[` + png + `]}`), "messages[1].content"},
		{`"system":5`, "system"}, {`"system":[` + png + `]`, "system"},
		{block(`"x"`), "messages[1].content[0]"}, {block(`{}`), "messages[1].content[0].type"},
		{block(`{"type":"text"}`), "messages[1].content[0].text"}, {block(`{"type":"text","text":5}`), "messages[1].content[0].text"},
		{block(`{"type":"image"}`), "messages[1].content[0].source"},
		{block(`{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`), "messages[1].content[0].source.type"},
		{block(`{"type":"image","source":{"type":"file","file_id":"f"}}`), "messages[1].content[0].source.type"},
		{block(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"***"}}`), "messages[1].content[0].source"},
		{block(`{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"aGk="}}`), "messages[1].content[0].source"},
		{block(`{"type":"image","source":{"type":"base64","data":"aGk="}}`), "messages[1].content[0].source.media_type"},
		{block(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}`), "messages[1].content[0].source"},
		{block(`{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"*"}}`), "messages[1].content[0].source.data"},
		{block(`{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}`), "messages[1].content[0].source"},
		{block(`{"type":"document"}`), "messages[1].content[0].source"},
		{block(`{"type":"tool_result","content":"x"}`), "messages[1].content[0].tool_use_id"},
		{block(`{"type":"tool_result","tool_use_id":"c","is_error":"no"}`), "messages[1].content[0].is_error"},
		{block(`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":1}]}`), "messages[1].content[0].content[0].text"},
		{block(`{"type":"tool_use","name":"f","input":{}}`), "messages[1].content[0].id"},
		{block(`{"type":"tool_use","id":"c","input":{}}`), "messages[1].content[0].name"},
		{`"stream":"yes"`, "stream"}, {`"max_tokens":"5"`, "max_tokens"}, {`"stop_sequences":"x"`, "stop_sequences"},
		{`"stop_sequences":["a",5]`, "stop_sequences[1]"}, {`"thinking":"on"`, "thinking"}, {`"output_config":5`, "output_config"},
		{`"output_config":{"effort":5}`, "output_config.effort"}, {`"output_config":{"format":{}}`, "output_config.format.type"},
		{`"output_config":{"format":{"type":"xml"}}`, "output_config.format.type"},
		{`"output_config":{"format":{"type":"json_schema","schema":5}}`, "output_config.format.schema"},
		{`"tools":{}`, "tools"}, {`"tools":[{}]`, "tools[0].name"}, {`"tools":[{"name":"f","input_schema":[]}]`, "tools[0].input_schema"},
		{`"tools":[{"name":"` + strings.Repeat("n", 129) + `"}]`, "tools[0].name"}, {`"tools":[{"name":"f"},{"name":"f"}]`, "tools[1].name"},
		{`"tool_choice":"auto"`, "tool_choice"}, {`"tool_choice":{}`, "tool_choice.type"}, {`"tool_choice":{"type":"maybe"}`, "tool_choice.type"},
		{`"tool_choice":{"type":"any"}`, "tool_choice.type"}, {`"tool_choice":{"type":"tool","name":"h"}`, "tool_choice.name"},
		{`"tool_choice":{"type":"tool"}`, "tool_choice.name"},
	}
	for _, tt := range tests {
		_, err := decodeMessages([]byte(body(tt.members)), nil)
		if err == nil {
			t.Errorf("%s: accepted", tt.members)
			continue
		}
		if err.Kind != chat.Invalid || err.Param != tt.param || !strings.HasPrefix(err.Message, tt.param+" ") {
			t.Errorf("%s: %v, param %q; want param %q", tt.members, err, err.Param, tt.param)
		}
	}
	for _, in := range []string{"", "{", "{} {}", "null", "[]", " 1 ", `{}`, `{"model":"m"}`} {
		if _, err := decodeMessages([]byte(in), nil); err == nil || err.Kind != chat.Invalid || err.Message == "" {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzDecodeMessages(f *testing.F) {
	f.Add([]byte(body("")))
	f.Add([]byte(body(`"stream":true,"system":[{"type":"text","text":"s"}],"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"tool","name":"f"},"thinking":{"type":"enabled"}`)))
	f.Add([]byte(body(`"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` + png + `]}]}]`)))
	f.Add([]byte(body(`"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}]}]`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		req, err := decodeMessages(in, func(string) {})
		switch {
		case err != nil && (err.Kind != chat.Invalid || err.Message == ""):
			t.Errorf("%q: the fault is %+v", in, err)
		case err == nil && (req.Model == "" || len(req.Messages) == 0):
			t.Errorf("%q: accepted without model or messages", in)
		case err == nil && !json.Valid(in):
			t.Errorf("%q: accepted, but not JSON", in)
		}
	})
}
