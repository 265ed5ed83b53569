package anthropic

import (
	"bytes"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

func newHandler(b chat.Backend) *Handler {
	return New(turn.Config{Backend: b, KeepAlive: 10 * time.Second})
}

// recorder is what a front-end gets from the server: the answer's id is set.
func recorder() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "req_1")
	return w
}

func post(h *Handler, body string) *httptest.ResponseRecorder {
	w := recorder()
	h.Messages(w, httptest.NewRequest("POST", "/v1/messages?beta=true", strings.NewReader(body)))
	return w
}

var randomID = regexp.MustCompile(`msg_[A-Z2-7]{26}`)

// checkGolden compares what a client sees with testdata/NAME.golden.
func checkGolden(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var got bytes.Buffer
	fmt.Fprintf(&got, "%d %s\n", w.Code, w.Header().Get("Content-Type"))
	for _, header := range []string{"Request-Id", "Retry-After", "X-Should-Retry"} {
		if v := w.Header().Get(header); v != "" {
			fmt.Fprintf(&got, "%s: %s\n", header, v)
		}
	}
	fmt.Fprintf(&got, "\n%s", randomID.ReplaceAll(w.Body.Bytes(), []byte("msg_ID")))
	if body := w.Body.Bytes(); len(body) > 0 && body[len(body)-1] != '\n' {
		got.WriteByte('\n')
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s (go test -update rewrites it)\ngot:\n%s\nwant:\n%s", path, got.Bytes(), want)
	}
}

var figuresSeen = chat.Usage{Input: 100, CacheRead: 20, CacheWrite: 3, Output: 7, Reasoning: 2}

const withTools = `"tools":[{"name":"read","input_schema":{"type":"object"}}]`

func TestGoldenAnswers(t *testing.T) {
	tests := []struct {
		name, members string
		turn          chattest.Turn
	}{
		{"text", "", chattest.Turn{chattest.Text("Hel", "lo ", "\"日本\"\n"), chattest.Finish(chat.Stop)}},
		{"usage", "", chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Usage: &figuresSeen})}},
		{"thinking", "", chattest.Turn{chattest.Reasoning("hm", "m"), chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"thinking-only", "", chattest.Turn{chattest.Reasoning("hm"), chattest.Finish(chat.Stop)}},
		{"thinking-then-call", withTools, chattest.Turn{chattest.Reasoning("hm"), chattest.Call("call_1", "read", `{"n":1}`), chattest.Finish(chat.ToolCalls)}},
		{"call", withTools, chattest.Turn{
			chattest.Text("I look."), chattest.Call("call_1", "read", `{"path":"/a \"b\"|c"}`), chattest.Finish(chat.ToolCalls)}},
		{"calls-only", withTools, chattest.Turn{
			chattest.Call("call_1", "read", `{"n":1}`), chattest.Call("call_2", "read", ""), chattest.Call("call_3", "read", `{}`), chattest.Finish(chat.Stop)}},
		{"length", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Length)}},
		{"filtered", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ContentFilter)}},
		{"stop-text", `"stop_sequences":["END"]`, chattest.Turn{chattest.Text("one E", "ND two"), chattest.Finish(chat.Stop)}},
		{"stop-text-first", `"stop_sequences":["END"]`, chattest.Turn{chattest.Text("END two"), chattest.Finish(chat.Stop)}},
		{"cut", "", chattest.Turn{chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "Cursor broke off"))}},
		{"cut-first", "", chattest.Turn{chattest.Fail(chat.Errorf(chat.RateLimited, "slow down"))}},
		{"empty", "", chattest.Turn{chattest.Finish(chat.Stop)}},
	}
	for _, tt := range tests {
		for suffix, stream := range map[string]string{"-stream": `,"stream":true`, "": ""} {
			t.Run(tt.name+suffix, func(t *testing.T) {
				members := strings.TrimPrefix(tt.members+stream, ",")
				checkGolden(t, "answers/"+tt.name+suffix, post(newHandler(chattest.New(tt.turn)), body(members)))
			})
		}
	}
}

func TestEM2_ErrorTable(t *testing.T) {
	errs := []*chat.Error{
		{Kind: chat.Internal, Message: "broken"},
		{Kind: chat.Invalid, Message: "model is missing", Param: "model", Code: "missing_required_parameter"},
		{Kind: chat.LoginRequired, Message: "Sign in from the tray menu."},
		{Kind: chat.NotInPlan, Message: "not in your plan"},
		{Kind: chat.QuotaSpent, Message: "used up", RetryAfter: time.Hour},
		{Kind: chat.NotFound, Message: "no such model"},
		{Kind: chat.TooLong, Message: "the conversation does not fit"},
		{Kind: chat.TooLong, Message: "prompt is too long: 9 tokens > 8 maximum"},
		{Kind: chat.TooLarge, Message: "too large"},
		{Kind: chat.RateLimited, Message: "slow down", RetryAfter: 1500 * time.Millisecond},
		{Kind: chat.RateLimited, Message: "slow down"},
		{Kind: chat.Overloaded, Message: "full"},
		{Kind: chat.Unavailable, Message: "install it", Code: "cursor_cli_not_found"},
		{Kind: chat.Internal, Message: "trust it", Code: "cursor_workspace_untrusted"},
		{Kind: chat.BadGateway, Message: "unreachable"},
		{Kind: chat.Timeout, Message: "silent"},
		{Kind: chat.ShuttingDown, Message: "stopping"},
		{Kind: chat.BadGateway}, // an upstream that said nothing
		{Kind: chat.Kind(99), Message: "from the future"},
	}
	for i, e := range errs {
		w := recorder()
		WriteError(w, httptest.NewRequest("POST", "/", nil), e)
		checkGolden(t, fmt.Sprintf("errors/%02d-%s", i, strings.ReplaceAll(e.Kind.String(), " ", "-")), w)
	}
}

func TestRefuse(t *testing.T) {
	for status, typ := range map[int]string{
		401: "authentication_error", 403: "permission_error", 404: "not_found_error", 405: "invalid_request_error",
		413: "request_too_large", 415: "invalid_request_error", 503: "api_error",
	} {
		w := recorder()
		Refuse(w, nil, status, "some text")
		want := fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"some text"},"request_id":"req_1"}`, typ)
		if w.Code != status || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Request-Id") != "req_1" {
			t.Errorf("%d: got %d %s", status, w.Code, w.Body)
		}
	}
}

// The AI SDK waits for any 429 without a word, however long it lasts.
func TestEM1_LimitsThatLastAreShown(t *testing.T) {
	for _, tt := range []struct {
		agent  string
		wait   time.Duration
		status int
		retry  string // X-Should-Retry
	}{
		{"claude-cli/2.1.332 (external, sdk-cli)", time.Minute, 429, ""},
		{"claude-cli/2.1.332 (external, sdk-cli)", time.Hour, 429, "false"},
		{"opencode/1.18.33 ai-sdk/provider-utils/4.0.40 runtime/bun/1.3.14", time.Minute, 429, ""},
		{"opencode/1.18.33 ai-sdk/provider-utils/4.0.40 runtime/bun/1.3.14", time.Hour, 402, "false"},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("User-Agent", tt.agent)
		w := httptest.NewRecorder()
		WriteError(w, r, &chat.Error{Kind: chat.RateLimited, Message: "slow down", RetryAfter: tt.wait})
		if w.Code != tt.status || w.Header().Get("X-Should-Retry") != tt.retry {
			t.Errorf("%+v: %d %v", tt, w.Code, w.Header())
		}
	}
}
