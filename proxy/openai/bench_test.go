package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
	"cursortray/proxy/wirejson"
)

// discard is a client that reads everything at once.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Flush()                      {}

var deltas = map[string]string{
	"8B":      "tokens, ",
	"1KiB":    strings.Repeat("some more words ", 64),
	"CJK":     strings.Repeat("日本語", 8),
	"escapes": strings.Repeat("if (\"a\") {\n\t}\n", 8),
}

// BenchmarkDelta is the way of one text delta from the event to the writer.
func BenchmarkDelta(b *testing.B) {
	for name, text := range deltas {
		b.Run(name, func(b *testing.B) {
			out := sse.NewWriter(discard{}, time.Hour)
			defer out.Close()
			encoder := newChunks(identity{id: "chatcmpl-x", created: 1, model: "some-model"}, false, out.Write)
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
	out := sse.NewWriter(discard{}, time.Hour)
	defer out.Close()
	encoder := newChunks(identity{id: "chatcmpl-x", model: "m"}, false, out.Write)
	for name, text := range deltas {
		var event chat.Event = chat.TextDelta{Text: text}
		send := func() { _ = encoder.Send(event) }
		for range 1000 { // let the buffers grow
			send()
		}
		if n := testing.AllocsPerRun(1000, send); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, text := range deltas {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				buf = wirejson.AppendEscaped(buf[:0], text)
			}
		})
	}
}

// BenchmarkDecode reads a request of the size that editors send.
func BenchmarkDecode(b *testing.B) {
	var in strings.Builder
	in.WriteString(`"messages":[{"role":"system","content":"` + strings.Repeat(`Be brief.\n`, 1000) + `"}`)
	for i := range 20 {
		fmt.Fprintf(&in, `,{"role":"user","content":[{"type":"text","text":"%s"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"/a\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`,
			strings.Repeat("word ", 50), i, i, strings.Repeat(`line\n`, 300))
	}
	in.WriteString("]," + withTools)
	request := []byte(body(in.String()))
	b.ReportAllocs()
	b.SetBytes(int64(len(request)))
	for b.Loop() {
		if _, err := decodeChat(request, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream is a whole answer of 1000 deltas over a real connection.
func BenchmarkStream(b *testing.B) {
	const count = 1000
	for _, name := range []string{"8B", "1KiB"} {
		b.Run(name, func(b *testing.B) {
			many := make([]string, count)
			for i := range many {
				many[i] = deltas[name]
			}
			h := newHandler(chattest.New(chattest.Turn{chattest.Text(many...), chattest.Finish(chat.Stop)}))
			server := httptest.NewServer(http.HandlerFunc(h.ChatCompletions))
			defer server.Close()
			b.ReportAllocs()
			for b.Loop() {
				response, err := http.Post(server.URL, "application/json", strings.NewReader(body(`"stream":true`)))
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/delta")
		})
	}
}
