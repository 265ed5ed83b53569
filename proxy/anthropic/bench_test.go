package anthropic

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

var deltas = map[string]string{
	"8B":      "tokens, ",
	"1KiB":    strings.Repeat("some more words ", 64),
	"CJK":     strings.Repeat("日本語", 8),
	"escapes": strings.Repeat("if (\"a\") {\n\t}\n", 8),
}

func discard([]byte) error { return nil }

// BenchmarkDelta is the way of one text delta from the event to the writer.
func BenchmarkDelta(b *testing.B) {
	for name, text := range deltas {
		b.Run(name, func(b *testing.B) {
			encoder := newEvents(identity{id: "msg_x", model: "some-model"}, discard)
			var event chat.Event = chat.TextDelta{Text: text}
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := encoder.Send(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestNoAllocationPerDelta(t *testing.T) {
	encoder := newEvents(identity{id: "msg_x", model: "m"}, discard)
	for name, text := range deltas {
		for _, event := range []chat.Event{chat.TextDelta{Text: text}, chat.ReasoningDelta{Text: text}} {
			send := func() { _ = encoder.Send(event) }
			send() // let the buffers grow
			if n := testing.AllocsPerRun(1000, send); n > 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}

// typical is a request of the size that agents send.
func typical() string {
	var in strings.Builder
	in.WriteString(`"system":[{"type":"text","text":"` + strings.Repeat(`Be brief.\n`, 1000) + `"}],"messages":[{"role":"user","content":"go on"}`)
	for i := range 20 {
		fmt.Fprintf(&in, `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"c%d","name":"read","input":{"path":"/a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"},{"type":"text","text":"%s"}]}`,
			i, i, strings.Repeat(`line\n`, 300), strings.Repeat("word ", 50))
	}
	in.WriteString("]," + withTools)
	return body(in.String())
}

func BenchmarkDecode(b *testing.B) {
	request := []byte(typical())
	b.ReportAllocs()
	b.SetBytes(int64(len(request)))
	for b.Loop() {
		if _, err := decodeMessages(request, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkThirtyCounts is what Claude Code asks at once, over six connections,
// when its user looks at the context. It must take less than a second in all.
func BenchmarkThirtyCounts(b *testing.B) {
	h := newHandler(chattest.New())
	server := httptest.NewServer(http.HandlerFunc(h.CountTokens))
	defer server.Close()
	server.Client().Transport.(*http.Transport).MaxConnsPerHost = 6
	request := typical()
	for b.Loop() {
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				response, err := server.Client().Post(server.URL, "application/json", strings.NewReader(request))
				if err != nil {
					b.Error(err)
					return
				}
				defer response.Body.Close()
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
					b.Error(response.Status, err)
				}
			})
		}
		all.Wait()
	}
}
