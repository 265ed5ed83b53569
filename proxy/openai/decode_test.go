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

func mustDecode(t *testing.T, in string) *chatRequest {
	t.Helper()
	req, err := decodeChat([]byte(in), nil)
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

func TestDecodeMessages(t *testing.T) {
	const png = "data:image/png;base64,aGk="
	picture := chat.Image{MIME: "image/png", Data: []byte("hi")}
	tests := []struct {
		name, messages, system string
		want                   []chat.Message
	}{
		{"plain", `{"role":"user","content":"hi"}`, "", []chat.Message{user(say("hi"))}},
		{"system at any place", `{"role":"system","content":"a"},{"role":"user","content":"x"},{"role":"developer","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},{"role":"user","content":"y"}`,
			"a\n\nb\n\nc", []chat.Message{user(say("x")), user(say("y"))}},
		{"system alone becomes the question", `{"role":"system","content":"a title for this"}`, "", []chat.Message{user(say("a title for this"))}},
		{"parts", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"image_url","image_url":{"url":"` + png + `","detail":"low"}},{"type":"text","text":"b"}]}`,
			"", []chat.Message{user(say("a"), picture, say("b"))}},
		{"picture without padding", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"DATA:image/JPG;charset=x;BASE64,aGk"}}]}`,
			"", []chat.Message{user(chat.Image{MIME: "image/jpeg", Data: []byte("hi")})}},
		{"calls and results", `{"role":"user","content":"q"},
			{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","function":{"name":"f","arguments":""}}]},
			{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two\n"}]},
			{"role":"tool","tool_call_id":"c1","content":""},
			{"role":"tool","tool_call_id":"gone","content":"three"}`, "", []chat.Message{
			user(say("q")),
			assistant(chat.ToolUse{ID: "c1", Name: "f", Arguments: `{"a":1}`}, chat.ToolUse{ID: "c2", Name: "f"}),
			user(chat.ToolResult{CallID: "c2", Content: []chat.Part{say("two\n")}}),
			user(chat.ToolResult{CallID: "c1"}),
			user(chat.ToolResult{CallID: "gone", Content: []chat.Part{say("three")}}),
		}},
		{"broken arguments are passed on", `{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a"}}]}`,
			"", []chat.Message{assistant(chat.ToolUse{ID: "c", Name: "f", Arguments: `{"a`})}},
		{"function role", `{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"r"}`, "", []chat.Message{
			assistant(chat.ToolUse{ID: "function_call_1", Name: "f", Arguments: "{}"}),
			user(chat.ToolResult{CallID: "function_call_1", Content: []chat.Part{say("r")}}),
		}},
		{"reasoning comes back", `{"role":"assistant","content":"a","reasoning_content":"r","reasoning":"r","reasoning_details":[1],"audio":null,"name":"n","refusal":null}`,
			"", []chat.Message{assistant(chat.Reasoning{Text: "r"}, say("a"))}},
		{"refusals", `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"assistant","refusal":"never"}`,
			"", []chat.Message{assistant(say("no")), assistant(say("never"))}},
		{"nothing said is left out", `{"role":"user","content":null},{"role":"assistant"},{"role":"user","content":"x"}`, "", []chat.Message{user(say("x"))}},
		{"escapes and broken text", "{\"role\":\"user\",\"content\":\"a\\n\\u00e9\\ud83d\\ude00\\ud800 \xff\"}", "", []chat.Message{user(say("a\né😀\ufffd \ufffd"))}},
		{"a repeated member counts once", `{"role":"user","content":"x","content":"y"}`, "", []chat.Message{user(say("y"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := mustDecode(t, body(`"messages":[`+tt.messages+`]`))
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
	tool := `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},{"function":{"name":"g"}}]`
	tools := []chat.Tool{{Name: "f", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}}
	tests := []struct {
		members string
		want    chatRequest
	}{
		{``, chatRequest{}},
		{`"stream":true,"stream_options":{"include_usage":true,"more":1}`, chatRequest{stream: true, includeUsage: true}},
		{`"stream":null,"stream_options":null,"tools":null,"tool_choice":null,"stop":null,"n":null,"response_format":null`, chatRequest{}},
		{`"tools":[],"tool_choice":"auto"`, chatRequest{}},
		{tool, chatRequest{Request: chat.Request{Tools: tools}}},
		{tool + `,"tool_choice":"none"`, chatRequest{Request: chat.Request{Tools: tools, Choice: chat.ToolChoice{Mode: chat.ToolNone}}}},
		{tool + `,"tool_choice":"required"`, chatRequest{Request: chat.Request{Tools: tools, Choice: chat.ToolChoice{Mode: chat.ToolAny}}}},
		{tool + `,"tool_choice":{"type":"function","function":{"name":"g"}}`, chatRequest{Request: chat.Request{Tools: tools, Choice: chat.ToolChoice{Mode: chat.ToolNamed, Name: "g"}}}},
		{`"parallel_tool_calls":false`, chatRequest{Request: chat.Request{SerialTools: true}}},
		{`"reasoning_effort":"high"`, chatRequest{Request: chat.Request{Effort: "high"}}},
		{`"stop":"x"`, chatRequest{Request: chat.Request{Stop: []string{"x"}}}},
		{`"stop":["x","y"]`, chatRequest{Request: chat.Request{Stop: []string{"x", "y"}}}},
		{`"response_format":{"type":"text"}`, chatRequest{}},
		{`"response_format":{"type":"json_object"}`, chatRequest{Request: chat.Request{Format: chat.Format{JSON: true}}}},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"a":1}}}`, chatRequest{Request: chat.Request{Format: chat.Format{JSON: true, Schema: json.RawMessage(`{"a":1}`)}}}},
	}
	for _, tt := range tests {
		tt.want.Model = "m"
		tt.want.Messages = []chat.Message{user(say("hi"))}
		if diff := cmp.Diff(&tt.want, mustDecode(t, body(tt.members)), cmp.AllowUnexported(chatRequest{})); diff != "" {
			t.Errorf("%s:\n%s", tt.members, diff)
		}
	}
}

func TestMU3_BothSpellingsOfTheLimit(t *testing.T) {
	tests := []struct {
		members string
		want    int
	}{
		{`"max_tokens":5`, 5},
		{`"max_completion_tokens":6`, 6},
		{`"max_tokens":5,"max_completion_tokens":6`, 6},
		{`"max_completion_tokens":6,"max_tokens":5`, 6},
		{`"max_tokens":5,"max_completion_tokens":null`, 5},
		{`"max_tokens":1e2`, 100},
		{`"max_tokens":-1`, 0},
	}
	for _, tt := range tests {
		if got := mustDecode(t, body(tt.members)).MaxTokens; got != tt.want {
			t.Errorf("%s: limit %d, want %d", tt.members, got, tt.want)
		}
	}
}

func TestMU3_UnknownMembersAreIgnored(t *testing.T) {
	in := `"temperature":0.2,"top_p":1,"frequency_penalty":0,"presence_penalty":0,"seed":1,"user":"u","n":1,"store":false,
		"metadata":{"a":{"b":[]}},"logprobs":false,"service_tier":"auto","prompt_cache_key":"k","safety_identifier":"s","verbosity":"low",
		"logit_bias":{},"modalities":["text"],"audio":null,"functions":[],"brand_new":{"x":1},
		"stream_options":{"include_obfuscation":false,"newer":1},
		"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{},"novel":1}],"odd":2}],
		"tools":[{"type":"function","function":{"name":"f","strict":false,"fresh":3}}]`
	var unknown []string
	if _, err := decodeChat([]byte(body(in)), func(field string) { unknown = append(unknown, field) }); err != nil {
		t.Fatal(err)
	}
	want := []string{"brand_new", "messages[].content[].novel", "messages[].odd", "stream_options.newer", "tools[].function.fresh"}
	slices.Sort(unknown)
	if !slices.Equal(unknown, want) {
		t.Errorf("reported %q, want %q", unknown, want)
	}
}

func TestDecodeFaults(t *testing.T) {
	message := func(s string) string { return `"messages":[{"role":"user","content":"x"},` + s + `]` }
	image := func(url string) string {
		return message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}`)
	}
	const url = "messages[1].content[0].image_url.url"
	tests := []struct{ members, param, code string }{
		{`"model":1`, "model", wirejson.CodeInvalidType},
		{`"model":null`, "model", wirejson.CodeInvalidType},
		{`"model":""`, "model", wirejson.CodeInvalidValue},
		{`"messages":"x"`, "messages", wirejson.CodeInvalidType},
		{`"messages":null`, "messages", wirejson.CodeInvalidType},
		{`"messages":[]`, "messages", wirejson.CodeInvalidValue},
		{`"messages":[{"role":"user","content":""}]`, "messages", wirejson.CodeInvalidValue},
		{message(`null`), "messages[1]", wirejson.CodeInvalidType},
		{message(`"x"`), "messages[1]", wirejson.CodeInvalidType},
		{message(`{}`), "messages[1].role", wirejson.CodeMissing},
		{message(`{"role":"king"}`), "messages[1].role", wirejson.CodeInvalidValue},
		{message(`{"role":"user","content":5}`), "messages[1].content", wirejson.CodeInvalidType},
		{message(`{"role":"user","content":{}}`), "messages[1].content", wirejson.CodeInvalidType},
		{message(`{"role":"user","content":[{"type":"text","text":5}]}`), "messages[1].content[0].text", wirejson.CodeInvalidType},
		{message(`{"role":"user","content":[{"type":"text"}]}`), "messages[1].content[0].text", wirejson.CodeMissing},
		{message(`{"role":"user","content":["x"]}`), "messages[1].content[0]", wirejson.CodeInvalidType},
		{message(`{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}`), "messages[1].content[0].type", wirejson.CodeUnsupported},
		{message(`{"role":"user","content":[{"type":"file","file":{}}]}`), "messages[1].content[0].type", wirejson.CodeUnsupported},
		{message(`{"role":"user","content":[{"type":"hologram"}]}`), "messages[1].content[0].type", wirejson.CodeInvalidValue},
		{image("https://example.com/a.png"), url, wirejson.CodeInvalidValue},
		{image("data:image/png;base64,***"), url, wirejson.CodeInvalidValue},
		{image("data:image/png,abc"), url, wirejson.CodeInvalidValue},
		{image("data:image/svg+xml;base64,aGk="), url, wirejson.CodeInvalidValue},
		{image("data:image/png;base64"), url, wirejson.CodeInvalidValue},
		{message(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`), "messages[1].content", wirejson.CodeInvalidValue},
		{message(`{"role":"assistant","tool_calls":{}}`), "messages[1].tool_calls", wirejson.CodeInvalidType},
		{message(`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}`), "messages[1].tool_calls[0].id", wirejson.CodeMissing},
		{message(`{"role":"assistant","tool_calls":[{"id":"c","type":"custom"}]}`), "messages[1].tool_calls[0].type", wirejson.CodeUnsupported},
		{message(`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]}`), "messages[1].tool_calls[0].function.arguments", wirejson.CodeInvalidType},
		{message(`{"role":"assistant","audio":{"id":"a"}}`), "messages[1].audio", wirejson.CodeUnsupported},
		{message(`{"role":"tool","content":"x"}`), "messages[1].tool_call_id", wirejson.CodeMissing},
		{message(`{"role":"function","content":"x"}`), "messages[1].name", wirejson.CodeMissing},
		{`"stream":"yes"`, "stream", wirejson.CodeInvalidType},
		{`"stream_options":[]`, "stream_options", wirejson.CodeInvalidType},
		{`"max_tokens":"5"`, "max_tokens", wirejson.CodeInvalidType},
		{`"max_tokens":1.5`, "max_tokens", wirejson.CodeInvalidType},
		{`"max_tokens":1e400`, "max_tokens", wirejson.CodeInvalidType},
		{`"stop":5`, "stop", wirejson.CodeInvalidType},
		{`"stop":["a",5]`, "stop[1]", wirejson.CodeInvalidType},
		{`"reasoning_effort":1`, "reasoning_effort", wirejson.CodeInvalidType},
		{`"response_format":"json"`, "response_format", wirejson.CodeInvalidType},
		{`"response_format":{}`, "response_format.type", wirejson.CodeMissing},
		{`"response_format":{"type":"xml"}`, "response_format.type", wirejson.CodeInvalidValue},
		{`"response_format":{"type":"json_schema","json_schema":{"schema":[]}}`, "response_format.json_schema.schema", wirejson.CodeInvalidType},
		{`"n":2`, "n", wirejson.CodeUnsupported},
		{`"n":"1"`, "n", wirejson.CodeInvalidType},
		{`"logprobs":true`, "logprobs", wirejson.CodeUnsupported},
		{`"modalities":["text","audio"]`, "modalities[1]", wirejson.CodeUnsupported},
		{`"audio":{"voice":"x"}`, "audio", wirejson.CodeUnsupported},
		{`"functions":[{"name":"f"}]`, "functions", wirejson.CodeUnsupported},
		{`"function_call":"auto"`, "function_call", wirejson.CodeUnsupported},
		{`"tools":{}`, "tools", wirejson.CodeInvalidType},
		{`"tools":[{"type":"web_search"}]`, "tools[0].type", wirejson.CodeUnsupported},
		{`"tools":[{"type":"function"}]`, "tools[0].function", wirejson.CodeMissing},
		{`"tools":[{"type":"function","function":{}}]`, "tools[0].function.name", wirejson.CodeMissing},
		{`"tools":[{"type":"function","function":{"name":"` + strings.Repeat("n", 65) + `"}}]`, "tools[0].function.name", wirejson.CodeInvalidValue},
		{`"tools":[{"function":{"name":"f"}},{"function":{"name":"f"}}]`, "tools[1].function.name", wirejson.CodeInvalidValue},
		{`"tools":[{"function":{"name":"f","parameters":[]}}]`, "tools[0].function.parameters", wirejson.CodeInvalidType},
		{`"tool_choice":"maybe"`, "tool_choice", wirejson.CodeInvalidValue},
		{`"tool_choice":"required"`, "tool_choice", wirejson.CodeInvalidValue},
		{`"tool_choice":7`, "tool_choice", wirejson.CodeInvalidType},
		{`"tool_choice":{"type":"function","function":{"name":"h"}}`, "tool_choice.function.name", wirejson.CodeInvalidValue},
		{`"parallel_tool_calls":1`, "parallel_tool_calls", wirejson.CodeInvalidType},
	}
	for _, tt := range tests {
		_, err := decodeChat([]byte(body(tt.members)), nil)
		if err == nil {
			t.Errorf("%s: accepted", tt.members)
			continue
		}
		if err.Kind != chat.Invalid || err.Param != tt.param || err.Code != tt.code || !strings.HasPrefix(err.Message, tt.param+" ") {
			t.Errorf("%s: %v, param %q, code %q; want param %q, code %q", tt.members, err, err.Param, err.Code, tt.param, tt.code)
		}
	}
}

func TestDecodeFaultsOfTheBody(t *testing.T) {
	for in, code := range map[string]string{
		"": wirejson.CodeInvalidJSON, "{": wirejson.CodeInvalidJSON, `{"model":"m",}`: wirejson.CodeInvalidJSON, "{} {}": wirejson.CodeInvalidJSON,
		"null": wirejson.CodeInvalidType, "[]": wirejson.CodeInvalidType, `"x"`: wirejson.CodeInvalidType, " 1 ": wirejson.CodeInvalidType,
		`{}`: wirejson.CodeMissing, `{"model":"m"}`: wirejson.CodeMissing,
	} {
		if _, err := decodeChat([]byte(in), nil); err == nil || err.Kind != chat.Invalid || err.Code != code {
			t.Errorf("%q: %v, want code %s", in, err, code)
		}
	}
}

func FuzzDecodeChat(f *testing.F) {
	f.Add([]byte(body("")))
	f.Add([]byte(body(`"stream":true,"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"required"`)))
	f.Add([]byte(body(`"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]`)))
	f.Add([]byte(body(`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		req, err := decodeChat(in, func(string) {})
		switch {
		case err != nil && (err.Kind != chat.Invalid || err.Message == "" || err.Code == ""):
			t.Errorf("%q: the fault is %+v", in, err)
		case err == nil && (req.Model == "" || len(req.Messages) == 0):
			t.Errorf("%q: accepted without model or messages", in)
		case err == nil && !json.Valid(in):
			t.Errorf("%q: accepted, but not JSON", in)
		}
	})
}
