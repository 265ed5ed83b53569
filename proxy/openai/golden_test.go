package openai

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

// clock is the time of all tests.
func clock() time.Time { return time.Unix(1_780_000_000, 0) }

func newHandler(b chat.Backend) *Handler {
	return New(turn.Config{Backend: b, KeepAlive: 10 * time.Second, Now: clock})
}

func post(h *Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ChatCompletions(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
	return w
}

var randomID = regexp.MustCompile(`(chatcmpl-|resp_|rs_|msg_|fc_|ctc_)[A-Z2-7]{26}`)

// checkGolden compares what a client sees with testdata/NAME.golden.
func checkGolden(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var got bytes.Buffer
	fmt.Fprintf(&got, "%d %s\n", w.Code, w.Header().Get("Content-Type"))
	for _, header := range []string{"Retry-After"} {
		if v := w.Header().Get(header); v != "" {
			fmt.Fprintf(&got, "%s: %s\n", header, v)
		}
	}
	fmt.Fprintf(&got, "\n%s", randomID.ReplaceAll(w.Body.Bytes(), []byte("${1}ID")))
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

var figures = chat.Usage{Input: 100, CacheRead: 20, CacheWrite: 3, Output: 7, Reasoning: 2}

const withTools = `"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`

func TestGoldenAnswers(t *testing.T) {
	tests := []struct {
		name, members string
		turn          chattest.Turn
	}{
		{"text", "", chattest.Turn{chattest.Text("Hel", "lo ", "\"日本\"\n"), chattest.Finish(chat.Stop)}},
		{"usage", "", chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Usage: &figures})}},
		{"usage-asked-for", `"stream_options":{"include_usage":true}`, chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Usage: &figures})}},
		{"usage-unknown", `"stream_options":{"include_usage":true}`, chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"reasoning", "", chattest.Turn{chattest.Reasoning("hm", "m"), chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"call", withTools, chattest.Turn{
			chattest.Text("I look."), chattest.Call("call_1", "read", `{"path":"/a \"b\"|c"}`), chattest.Finish(chat.ToolCalls)}},
		{"calls-only", withTools, chattest.Turn{
			chattest.Call("call_1", "read", `{"n":1}`), chattest.Call("call_2", "read", ""), chattest.Call("call_3", "read", `{}`), chattest.Finish(chat.Stop)}},
		{"length", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Length)}},
		{"filtered", "", chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ContentFilter)}},
		{"stop-text", `"stop":["END"]`, chattest.Turn{chattest.Text("one E", "ND two"), chattest.Finish(chat.Stop)}},
		{"stop-text-first", `"stop":"END"`, chattest.Turn{chattest.Text("END two"), chattest.Finish(chat.Stop)}},
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
		{Kind: chat.Invalid, Message: "wrong", Param: "model"},
		{Kind: chat.LoginRequired, Message: "Sign in from the tray menu."},
		{Kind: chat.NotInPlan, Message: "not in your plan"},
		{Kind: chat.QuotaSpent, Message: "used up", RetryAfter: time.Hour},
		{Kind: chat.NotFound, Message: "no such model"},
		{Kind: chat.TooLong, Message: "too long"},
		{Kind: chat.TooLarge, Message: "too large"},
		{Kind: chat.RateLimited, Message: "slow down", RetryAfter: 1500 * time.Millisecond},
		{Kind: chat.RateLimited, Message: "slow down"},
		{Kind: chat.Overloaded, Message: "full"},
		{Kind: chat.Unavailable, Message: "install it", Code: "cursor_cli_not_found"},
		{Kind: chat.Unavailable, Message: "update it", Code: "cursor_cli_incompatible"},
		{Kind: chat.Internal, Message: "trust it", Code: "cursor_workspace_untrusted"},
		{Kind: chat.BadGateway, Message: "unreachable"},
		{Kind: chat.Timeout, Message: "silent"},
		{Kind: chat.ShuttingDown, Message: "stopping"},
		{Kind: chat.BadGateway}, // an upstream that said nothing
		{Kind: chat.Kind(99), Message: "from the future"},
	}
	for i, e := range errs {
		name := strings.ReplaceAll(e.Kind.String(), " ", "-")
		if e.Code != "" {
			name = e.Code
		}
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequest("POST", "/", nil), e)
		checkGolden(t, fmt.Sprintf("errors/%02d-%s", i, name), w)
	}
}

func TestRefuse(t *testing.T) {
	for status, typ := range map[int]string{401: "authentication_error", 403: "permission_error", 404: "invalid_request_error", 415: "invalid_request_error", 503: "server_error"} {
		w := httptest.NewRecorder()
		Refuse(w, nil, status, "some_code", "some text")
		want := fmt.Sprintf(`{"error":{"message":"some text","type":%q,"param":null,"code":"some_code"}}`, typ)
		if w.Code != status || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d: got %d %s", status, w.Code, w.Body)
		}
	}
}
