package openai

import (
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

const responseTools = `"tools":[
	{"type":"function","name":"read","parameters":{"type":"object"},"strict":false},
	{"type":"namespace","name":"team","tools":[{"type":"function","name":"ask"},{"type":"custom","name":"note"}]},
	{"type":"custom","name":"patch","description":"Edits files.","format":{"type":"grammar","syntax":"lark","definition":"start: /x/"}},
	{"type":"web_search"}]`

func TestGoldenResponses(t *testing.T) {
	tests := []struct {
		name, members string
		turn          chattest.Turn
	}{
		{"text", "", chattest.Turn{chattest.Text("Hel", "lo ", "\"日本\"\n"), chattest.Finish(chat.Stop)}},
		{"usage", `"parallel_tool_calls":false`, chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Usage: &figures})}},
		{"reasoning", "", chattest.Turn{chattest.Reasoning("hm", "m"), chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"reasoning-sealed", `"store":false,"include":["reasoning.encrypted_content"]`, chattest.Turn{
			chattest.Reasoning("hm"), chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"call", responseTools, chattest.Turn{
			chattest.Text("I look."), chattest.Call("call_1", "read", `{"path":"/a \"b\"|c"}`), chattest.Finish(chat.ToolCalls)}},
		{"calls-of-all-kinds", responseTools + `,"tool_choice":"required"`, chattest.Turn{
			chattest.Call("call_1", "read", ""), chattest.Call("call_2", "team__ask", `{"n":1}`),
			chattest.Call("call_3", "patch", `{"input":"*** Begin\n\"x\""}`), chattest.Call("call_4", "team__note", `{"other":1}`),
			chattest.Finish(chat.Stop)}},
		{"named-choice", responseTools + `,"tool_choice":{"type":"custom","name":"patch"}`, chattest.Turn{
			chattest.Call("call_1", "patch", `{"input":""}`), chattest.Finish(chat.Stop)}},
		{"length", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Length)}},
		{"filtered", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ContentFilter)}},
		{"cut", "", chattest.Turn{chattest.Reasoning("hm"), chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "Cursor broke off"))}},
		{"empty", "", chattest.Turn{chattest.Finish(chat.Stop)}},
	}
	for _, tt := range tests {
		for suffix, stream := range map[string]string{"-stream": `,"stream":true`, "": ""} {
			t.Run(tt.name+suffix, func(t *testing.T) {
				checkGolden(t, "responses/"+tt.name+suffix, postResponse(newHandler(chattest.New(tt.turn)), askResponse(tt.members+stream)))
			})
		}
	}
}

// Two statuses differ from those of chat completions, because of what Codex
// does with them.
func TestEM2_ErrorTableOfResponses(t *testing.T) {
	tests := []struct {
		err    *chat.Error
		status int
		code   string // before the first byte
		failed string // in mid-stream
	}{
		{chat.Errorf(chat.LoginRequired, "Sign in from the tray menu."), 400, "cursor_login_required", "server_error"},
		{&chat.Error{Kind: chat.QuotaSpent, Message: "used up", RetryAfter: time.Hour}, 429, "insufficient_quota", "insufficient_quota"},
		{chat.Errorf(chat.NotInPlan, "not in your plan"), 402, "model_not_in_plan", "insufficient_quota"},
		{chat.Errorf(chat.NotFound, "no such model"), 404, "model_not_found", "server_error"},
		{chat.Errorf(chat.TooLong, "too long"), 400, "context_length_exceeded", "context_length_exceeded"},
		{chat.Errorf(chat.RateLimited, "slow down"), 429, "rate_limit_exceeded", "rate_limit_exceeded"},
		{chat.Errorf(chat.Overloaded, "full"), 503, "server_is_overloaded", "server_is_overloaded"},
		{chat.Errorf(chat.ShuttingDown, "stopping"), 503, "shutting_down", "server_error"},
		{chat.Errorf(chat.BadGateway, "unreachable"), 502, "bad_gateway", "server_error"},
		{&chat.Error{Kind: chat.Unavailable, Message: "install it", Code: "cursor_cli_not_found"}, 503, "cursor_cli_not_found", "server_error"},
		{&chat.Error{Kind: chat.BadGateway}, 502, "bad_gateway", "server_error"}, // an upstream that said nothing
	}
	for _, tt := range tests {
		for _, members := range []string{`"stream":true`, `"stream":false`} {
			w := postResponse(newHandler(chattest.New(chattest.Turn{chattest.Fail(tt.err)})), askResponse(members))
			waits := w.Header().Get("Retry-After") != ""
			if w.Code != tt.status || !strings.Contains(w.Body.String(), `"code":"`+tt.code+`"`) || waits && tt.err.Kind == chat.QuotaSpent {
				t.Errorf("%v: %d %v %s", tt.err, w.Code, w.Header(), w.Body)
			}
		}
		r := streamedResponse(t, "", chattest.Text("par"), chattest.Fail(tt.err))
		if r.final == nil || r.final.Error == nil || r.final.Error.Code != tt.failed || r.final.Error.Message == "" {
			t.Errorf("%v in mid-stream: %+v", tt.err, r.final)
		}
	}
}
