package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
	"cursortray/proxy/turn"
)

func TestAR1_OneItemAfterTheOther(t *testing.T) {
	tests := []struct {
		turn chattest.Turn
		want []string
	}{
		{chattest.Turn{chattest.Reasoning("a", "b"), chattest.Call("c1", "read", "{}"), chattest.Finish(chat.ToolCalls)}, []string{"reasoning", "function_call"}},
		{chattest.Turn{chattest.Text("a"), chattest.Reasoning("b"), chattest.Text("c"), chattest.Finish(chat.Stop)}, []string{"message", "reasoning", "message"}},
		{chattest.Turn{chattest.Call("c1", "read", "{}"), chattest.Call("c2", "read", "{}"), chattest.Text("x"), chattest.Finish(chat.Stop)}, []string{"function_call", "function_call", "message"}},
	}
	for _, tt := range tests {
		r := streamedResponse(t, responseTools, tt.turn...)
		var types, ids []string
		for _, it := range r.done {
			types = append(types, it.Type)
			if it.ID == "" || slices.Contains(ids, it.ID) || it.Status != "completed" {
				t.Errorf("item %+v after %q", it, ids)
			}
			ids = append(ids, it.ID)
		}
		if !slices.Equal(types, tt.want) {
			t.Errorf("items %q, want %q", types, tt.want)
		}
	}
}

func TestAR4_ExactlyOneEnd(t *testing.T) {
	tests := []struct {
		name, end string
		turn      []chattest.Step
	}{
		{"whole", "response.completed", []chattest.Step{chattest.Text("x"), chattest.Finish(chat.Stop)}},
		{"calls", "response.completed", []chattest.Step{chattest.Call("c", "read", ""), chattest.Finish(chat.ToolCalls)}},
		{"stop text at the start", "response.completed", []chattest.Step{chattest.End(chat.Finish{StopText: "END"})}},
		{"cut by the limit", "response.incomplete", []chattest.Step{chattest.Text("x"), chattest.Finish(chat.Length)}},
		{"cut by the limit after a call", "response.incomplete", []chattest.Step{chattest.Call("c", "read", ""), chattest.Finish(chat.Length)}},
		{"withheld", "response.incomplete", []chattest.Step{chattest.Text("x"), chattest.Finish(chat.ContentFilter)}},
		{"failure", "response.failed", []chattest.Step{chattest.Text("x"), chattest.Fail(chat.Errorf(chat.BadGateway, "gone"))}},
		{"failure of another type", "response.failed", []chattest.Step{chattest.Text("x"), chattest.Fail(errors.New("secret"))}},
		{"no end", "response.failed", []chattest.Step{chattest.Text("x")}},
		{"no end after a call", "response.failed", []chattest.Step{chattest.Call("c", "read", "")}},
		{"panic", "response.failed", []chattest.Step{chattest.Reasoning("x"), chattest.Panic("secret")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := streamedResponse(t, responseTools, tt.turn...)
			ends := 0
			for _, e := range r.events {
				if slices.Contains([]string{"response.completed", "response.incomplete", "response.failed"}, e.Type) {
					ends++
				}
			}
			if last := r.events[len(r.events)-1]; ends != 1 || last.Type != tt.end {
				t.Errorf("%d ends, the last event is %s, want %s", ends, last.Type, tt.end)
			}
			if r.final.Error != nil && strings.Contains(r.final.Error.Message, "secret") {
				t.Errorf("the cause leaks: %+v", r.final.Error)
			}
		})
	}
}

// Half an item must not look whole: Codex keeps every item that is done.
func TestST10_AnItemThatWasCutIsNotDone(t *testing.T) {
	r := streamedResponse(t, "", chattest.Reasoning("hm"), chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "gone")))
	if r.seen.text != "par" || len(r.done) != 1 || r.done[0].Type != "reasoning" || r.open == nil {
		t.Errorf("done %+v, open %+v", r.done, r.open)
	}
	r = streamedResponse(t, "", chattest.Text("par"), chattest.Finish(chat.Length))
	if r.final.Output[0].Status != "incomplete" {
		t.Errorf("a text that was cut by the limit is %s", r.final.Output[0].Status)
	}
}

func TestErrorAfterKeepAliveIsAResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := streamedResponse(t, "", chattest.Do(func() { time.Sleep(11 * time.Second) }), chattest.Fail(chat.Errorf(chat.QuotaSpent, "used up")))
		if r.events[0].Type != "response.created" || r.seen.fault != "insufficient_quota" {
			t.Errorf("%+v", r.events)
		}
	})
}

func TestST12_WholeResponseEqualsStream(t *testing.T) {
	turns := map[string]chattest.Turn{
		"text":      {chattest.Text("Hel", "lo\u2028", "日本"), chattest.Finish(chat.Stop)},
		"reasoning": {chattest.Reasoning("a", "b"), chattest.Text("c"), chattest.End(chat.Finish{Reason: chat.Length, Usage: &figures})},
		"calls": {chattest.Text("x"), chattest.Call("c1", "read", `{"a":"\"\\"}`), chattest.Call("c2", "team__ask", ""), chattest.Call("c3", "patch", `{"input":"\"x\"\n"}`),
			chattest.End(chat.Finish{Reason: chat.ToolCalls, Usage: &figures, Context: &chat.Context{Used: 500}})},
		"long":        {chattest.Text(strings.Repeat("äb\n", 20000)), chattest.Call("c", "read", `{"a":"`+strings.Repeat("ö", 30000)+`"}`), chattest.Finish(chat.ToolCalls)},
		"interleaved": {chattest.Text("a"), chattest.Reasoning("b"), chattest.Text("c"), chattest.Finish(chat.ContentFilter)},
	}
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			stream := streamedResponse(t, responseTools, turn...).seen
			whole := readWholeResponse(t, postResponse(newHandler(chattest.New(turn)), askResponse(responseTools)))
			if a, b := stream, whole; a.text != b.text || a.reasoning != b.reasoning || a.finish != b.finish || a.usage != b.usage ||
				!slices.Equal(a.ids, b.ids) || !slices.Equal(a.names, b.names) || !slices.Equal(a.arguments, b.arguments) {
				t.Errorf("streamed %.300v\nwhole %.300v", a, b)
			}
		})
	}
}

// A call comes back under the name and in the form that the client declared.
func TestTC7_CallsHaveTheirDeclaredNames(t *testing.T) {
	r := streamedResponse(t, responseTools, chattest.Call("c1", "team__ask", `{"q":1}`), chattest.Call("c2", "team__note", `{"input":"a\nb"}`),
		chattest.Call("c3", "read", "{}"), chattest.Finish(chat.ToolCalls))
	want := []outputItem{
		{Type: "function_call", CallID: "c1", Name: "ask", Namespace: "team"},
		{Type: "custom_tool_call", CallID: "c2", Name: "note", Namespace: "team"},
		{Type: "function_call", CallID: "c3", Name: "read"},
	}
	said := []string{`{"q":1}`, "a\nb", "{}"}
	for i, it := range r.done {
		if it.Type != want[i].Type || it.CallID != want[i].CallID || it.Name != want[i].Name || it.Namespace != want[i].Namespace || it.said() != said[i] {
			t.Errorf("%+v says %q, want %+v saying %q", it, it.said(), want[i], said[i])
		}
	}
}

func TestMU4_UsageOfResponses(t *testing.T) {
	const want = `{"input_tokens":20700,"input_tokens_details":{"cached_tokens":20700},"output_tokens":300,"output_tokens_details":{"reasoning_tokens":9},"total_tokens":21000}`
	finish := chat.Finish{Usage: &chat.Usage{Input: 50000, CacheRead: 30000, Output: 300, Reasoning: 9}, Context: &chat.Context{Used: 21000}}
	if seen := streamedResponse(t, "", chattest.Text("x"), chattest.End(finish)).seen; seen.usage != want {
		t.Errorf("usage %s, want %s", seen.usage, want)
	}
	if seen := streamedResponse(t, "", chattest.Text("x"), chattest.End(chat.Finish{Context: finish.Context})).seen; seen.usage != "" {
		t.Errorf("usage out of nothing: %s", seen.usage)
	}
}

func TestRS4_AClientThatLeavesEndsTheResponse(t *testing.T) {
	for _, stream := range []string{`"stream":true`, `"stream":false`} {
		synctest.Test(t, func(t *testing.T) {
			b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Silence()})
			ctx, leave := context.WithCancel(t.Context())
			var outcome turn.Outcome
			h := New(turn.Config{Backend: b, Done: func(_ context.Context, o turn.Outcome) { outcome = o }})
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.Responses(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(askResponse(stream))))
			}()
			synctest.Wait()
			if b.Live() != 1 {
				t.Fatal("the turn does not run")
			}
			leave()
			<-done
			if b.Live() != 0 || outcome.Err == nil || outcome.Err.Kind != chat.Canceled {
				t.Errorf("%d live, outcome %+v", b.Live(), outcome)
			}
		})
	}
}

func TestSessionOfResponses(t *testing.T) {
	for _, tt := range []struct{ header, key, want string }{
		{"", "k", "k"}, {"h", "k", "h"}, {"h", "", "h"}, {"", "", ""}, {"", strings.Repeat("k", 300), ""},
	} {
		b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
		r := httptest.NewRequest("POST", "/", strings.NewReader(askResponse(`"prompt_cache_key":"`+tt.key+`"`)))
		r.Header.Set("Session-Id", tt.header)
		newHandler(b).Responses(httptest.NewRecorder(), r)
		if got := b.Last().Session; got != tt.want {
			t.Errorf("%+v: session %q", tt, got)
		}
	}
}

func TestAliasReachesTheModelOfResponses(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
	w := postResponse(newHandler(b), askResponse(`"model":"anthropic.gpt-5"`))
	if b.Last().Model != "gpt-5" || !strings.Contains(w.Body.String(), `"model":"anthropic.gpt-5"`) {
		t.Errorf("asked for %q, answered %s", b.Last().Model, w.Body)
	}
}

// newTestStream is a stream to a client that reads everything at once.
func newTestStream(out *sse.Writer) *responseStream {
	return newResponseStream(&responseObject{identity: identity{id: responsePrefix + "X", model: "some-model"}, choice: []byte(`"auto"`)}, out.Write)
}

// BenchmarkResponseDelta is the way of one text delta from the event to the
// writer.
func BenchmarkResponseDelta(b *testing.B) {
	for name, text := range deltas {
		b.Run(name, func(b *testing.B) {
			out := sse.NewWriter(discard{}, time.Hour)
			defer out.Close()
			stream := newTestStream(out)
			var event chat.Event = chat.TextDelta{Text: text}
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if len(stream.content) > 1<<20 { // no answer is longer
					stream.content = stream.content[:0]
				}
				if err := stream.Send(event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestNoAllocationPerDeltaOfAResponse(t *testing.T) {
	out := sse.NewWriter(discard{}, time.Hour)
	defer out.Close()
	for name, text := range deltas {
		stream := newTestStream(out)
		var event chat.Event = chat.TextDelta{Text: text}
		send := func() { _ = stream.Send(event) }
		for range 1000 { // let the buffers grow
			send()
		}
		if n := testing.AllocsPerRun(1000, send); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// What an SDK parses without complaint has these members, whatever happens.
func TestResponseObjectIsComplete(t *testing.T) {
	w := postResponse(newHandler(chattest.New(chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Usage: &figures})})), askResponse(""))
	var members map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"id", "object", "created_at", "status", "model", "output", "usage", "error", "incomplete_details", "tools", "tool_choice",
		"parallel_tool_calls", "metadata", "instructions", "temperature", "top_p",
	} {
		if _, there := members[name]; !there {
			t.Errorf("%s is missing: %s", name, w.Body)
		}
	}
}

// Whatever a turn consists of, the strictest reader follows its stream, and
// finds in it what was said.
func FuzzResponseStream(f *testing.F) {
	f.Add("ttrtc", "some \"text\"\n", `{"input":"x"}`)
	f.Add("rpcL", "日本", `{"a":[1]}`)
	f.Add("tE", "\xff", ``)
	f.Fuzz(func(t *testing.T, script, text, arguments string) {
		if text == "" || len(script) > 50 || len(text)+len(arguments) > 1<<12 || arguments != "" && !json.Valid([]byte(arguments)) {
			return
		}
		var turn []chattest.Step
		var said, thought string
		clean := strings.ToValidUTF8(text, "\ufffd")
		for i, c := range script {
			switch c {
			case 't':
				turn, said = append(turn, chattest.Text(clean)), said+clean
			case 'r':
				turn, thought = append(turn, chattest.Reasoning(clean)), thought+clean
			case 'c', 'p':
				turn = append(turn, chattest.Call("c"+strconv.Itoa(i), map[rune]string{'c': "read", 'p': "patch"}[c], arguments))
			}
		}
		end := map[bool]chattest.Step{true: chattest.Finish(chat.Stop), false: chattest.Fail(chat.Errorf(chat.BadGateway, "gone"))}[!strings.HasSuffix(script, "E")]
		if len(turn) == 0 {
			return
		}
		r := streamedResponse(t, responseTools, append(turn, end)...)
		if r.final == nil || r.seen.text != said && r.open == nil || r.seen.reasoning != thought && r.open == nil {
			t.Errorf("%q: heard %+v", script, r.seen)
		}
	})
}
