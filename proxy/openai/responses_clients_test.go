package openai

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

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
