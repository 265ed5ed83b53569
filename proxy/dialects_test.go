package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dialect asks in one dialect, and reads its answers.
type dialect struct {
	name, path string
	request    string // for fake-model, with the tools read and write; without "stream"
	stream     func(t *testing.T, events []sse.Message) heard
	whole      func(t *testing.T, body []byte) heard
}

var dialects = []dialect{
	{
		name: "chat completions", path: "/v1/chat/completions",
		request: `"model":"fake-model","messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true},
			"tools":[{"type":"function","function":{"name":"read"}},{"type":"function","function":{"name":"write"}}]`,
		stream: hearChunks, whole: hearCompletion,
	},
	{
		name: "responses", path: "/v1/responses",
		request: `"model":"fake-model","input":"hi","tools":[{"type":"function","name":"read"},{"type":"function","name":"write"}]`,
		stream:  hearResponseEvents, whole: hearResponse,
	},
	{
		name: "messages", path: "/v1/messages?beta=true",
		request: `"model":"fake-model","max_tokens":1000,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read"},{"name":"write"}]`,
		stream:  hearMessageEvents, whole: hearMessage,
	},
}

// heard is what a client makes of an answer, whatever its dialect.
type heard struct {
	reasoning, text string
	calls           []*heardCall
	finish          string // in the words of chat completions, "" if there was none
	broken          bool   // an error ended it
	usage           *tokens
}

type heardCall struct{ id, name, arguments string }

// tokens counts as chat completions do: the prompt includes what was cached.
type tokens struct{ prompt, cached, output int }

func (h heard) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "reasoning %q\ntext %q\n", brief(h.reasoning), brief(h.text))
	for _, c := range h.calls {
		fmt.Fprintf(&b, "call %s %s %s\n", c.id, c.name, brief(c.arguments))
	}
	fmt.Fprintf(&b, "finish %q\nbroken %v\n", h.finish, h.broken)
	if h.usage != nil {
		fmt.Fprintf(&b, "usage %+v\n", *h.usage)
	}
	return b.String()
}

// brief keeps golden files readable.
func brief(s string) string {
	if len(s) < 1000 {
		return s
	}
	return fmt.Sprintf("%.20s... (%d bytes, SHA-256 %x)", s, len(s), sha256.Sum256([]byte(s)))
}

// The same turn says the same in every dialect, streamed or not.
func TestAR2_DialectsSayTheSame(t *testing.T) {
	usage := &chat.Usage{Input: 100, CacheRead: 20, CacheWrite: 3, Output: 7, Reasoning: 2}
	turns := map[string]chattest.Turn{
		"text":      {chattest.Text("Hel", "lo ", "\"日本\"\n\u2028"), chattest.End(chat.Finish{Usage: usage})},
		"reasoning": {chattest.Reasoning("hm", ", m"), chattest.Text("x"), chattest.End(chat.Finish{Usage: usage})},
		"calls": {chattest.Reasoning("hm"), chattest.Text("I look."), chattest.Call("call_1", "read", `{"path":"/a \"b\"|c","n":[1,2]}`),
			chattest.Call("call_2", "write", ""), chattest.Call("call_3", "read", `{}`), chattest.End(chat.Finish{Reason: chat.ToolCalls, Usage: usage})},
		"interleaved": {chattest.Text("a"), chattest.Reasoning("b"), chattest.Text("c"), chattest.Call("call_1", "read", `{"x":"é"}`), chattest.End(chat.Finish{Usage: usage})},
		"length":      {chattest.Text("x"), chattest.End(chat.Finish{Reason: chat.Length, Usage: usage})},
		"long":        {chattest.Text(strings.Repeat("äb\n", 12000)), chattest.Call("call_1", "write", `{"text":"`+strings.Repeat(`\\ö`, 9000)+`"}`), chattest.End(chat.Finish{Reason: chat.ToolCalls, Usage: usage})},
		"window":      {chattest.Text("x"), chattest.End(chat.Finish{Usage: &chat.Usage{Input: 50000, CacheRead: 30000, Output: 300}, Context: &chat.Context{Used: 41000}})},
		"broken":      {chattest.Reasoning("hm"), chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "Cursor broke off"))},
	}
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			p := serve(t, turn, nil)
			for _, d := range dialects {
				_, body := p.call("POST", d.path, `{"stream":true,`+d.request+`}`, nil)
				streamed := body
				events, err := sse.ReadAll(strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				checkHeard(t, name, d.name+", streamed", d.stream(t, events))
				if name == "broken" { // not streamed, it has a status and nothing else
					continue
				}
				_, body = p.call("POST", d.path, `{`+d.request+`}`, nil)
				checkHeard(t, name, d.name, d.whole(t, []byte(body)))
				const figures = `"cursor":{"context":{"used_tokens":41000,"stale":false}}`
				if name == "window" != strings.Contains(body, figures) || strings.Contains(body, figures) != strings.Contains(streamed, figures) {
					t.Errorf("%s: the figures of the window are not where they should be:\n%s\n%s", d.name, body, streamed)
				}
			}
		})
	}
}

// checkHeard compares with testdata/dialects/NAME.golden, the one file of all
// dialects.
func checkHeard(t *testing.T, name, dialect string, h heard) {
	t.Helper()
	path := filepath.Join("testdata", "dialects", name+".golden")
	got := []byte(h.String())
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s says (go test -update rewrites %s)\n%.2000s\nwant:\n%.2000s", dialect, path, got, want)
	}
}

func parse[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%.500s: %v", text, err)
	}
	return v
}
