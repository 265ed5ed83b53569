package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// OpenCode's version of the AI SDK does not see the end of a response without
// usage. It gets an estimate, and nobody else gets one.
func TestMU4_UsageForClientsThatNeedIt(t *testing.T) {
	const openCode = "opencode/1.18.33 ai-sdk/provider-utils/4.0.40 runtime/bun/1.3.14"
	for _, stream := range []bool{false, true} {
		for _, agent := range []string{openCode, "codex_exec/0.171.0", ""} {
			b := chattest.New(chattest.Turn{chattest.Text("These are ", "five words."), chattest.Finish(chat.Stop)})
			r := httptest.NewRequest("POST", "/", strings.NewReader(askResponse(fmt.Sprintf(`"stream":%v,"input":"Say five words."`, stream))))
			r.Header.Set("User-Agent", agent)
			w := httptest.NewRecorder()
			newHandler(b).Responses(w, r)
			var seen answerSeen
			if stream {
				seen = readResponseStream(t, w).seen
			} else {
				seen = readWholeResponse(t, w)
			}
			want := ""
			if agent == openCode {
				want = `{"input_tokens":11,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":16}`
			}
			if seen.usage != want {
				t.Errorf("%q, stream %v: usage %s, want %s", agent, stream, seen.usage, want)
			}
		}
	}
}

// What does not pass soon is a 429 only for clients that then say so. A limit
// that passes within a minute is one for all.
func TestEM1_LimitsThatLastAreShown(t *testing.T) {
	attentive := []http.Header{{"User-Agent": {"codex_exec/0.171.0 (Debian 12.0.0; x86_64) dumb"}}, {}}
	patient := []http.Header{
		{"User-Agent": {"OpenAI/JS 6.26.0"}, "X-Stainless-Lang": {"js"}},
		{"User-Agent": {"opencode/1.18.33 ai-sdk/provider-utils/4.0.40 runtime/bun/1.3.14"}},
		{"User-Agent": {"QwenCode/0.24.4 (linux; x64)"}},
	}
	limit := func(wait time.Duration) error {
		return &chat.Error{Kind: chat.RateLimited, Code: "spend_limit", Message: "slow down", RetryAfter: wait}
	}
	spent := chat.Errorf(chat.QuotaSpent, "used up")
	tests := []struct {
		err             error
		clients         []http.Header
		chat, responses int    // statuses
		typ             string // of Responses
		retry           bool
	}{
		{limit(time.Minute), attentive, 429, 429, "rate_limit_error", true},
		{limit(time.Minute), patient, 429, 429, "rate_limit_error", true},
		{limit(time.Hour), attentive, 429, 429, "usage_limit_reached", false},
		{limit(time.Hour), patient, 402, 402, "usage_limit_reached", false},
		{spent, attentive, 402, 429, "usage_limit_reached", false},
		{spent, patient, 402, 402, "usage_limit_reached", false},
	}
	ask := func(err error, client http.Header, body string, serve func(*Handler) http.HandlerFunc) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header = client.Clone()
		w := httptest.NewRecorder()
		serve(newHandler(chattest.New(chattest.Turn{chattest.Fail(err)})))(w, r)
		return w
	}
	for _, tt := range tests {
		for _, client := range tt.clients {
			w := ask(tt.err, client, body(""), func(h *Handler) http.HandlerFunc { return h.ChatCompletions })
			if w.Code != tt.chat || w.Code == 429 && (w.Header().Get("X-Should-Retry") != "false") != tt.retry {
				t.Errorf("%v, %v: %d %v %s", tt.err, client, w.Code, w.Header(), w.Body)
			}
			w = ask(tt.err, client, askResponse(""), func(h *Handler) http.HandlerFunc { return h.Responses })
			if w.Code != tt.responses || !strings.Contains(w.Body.String(), `"type":"`+tt.typ+`"`) ||
				w.Code == 429 && (w.Header().Get("X-Should-Retry") != "false") != tt.retry {
				t.Errorf("Responses: %v, %v: %d %v %s", tt.err, client, w.Code, w.Header(), w.Body)
			}
		}
	}
}
