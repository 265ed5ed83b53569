package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/turn"
)

func TestAR1_BlocksRiseOneAtATime(t *testing.T) {
	kinds := func(m messageSeen) (kinds []string) {
		for _, b := range m.Content {
			kinds = append(kinds, b.Type)
		}
		return kinds
	}
	call := func(id string) chattest.Step { return chattest.Call(id, "read", `{"a":1}`) }
	tests := []struct {
		name string
		turn chattest.Turn
		want []string
	}{
		{"reasoning, then a call", chattest.Turn{chattest.Reasoning("r"), call("c1"), chattest.Finish(chat.ToolCalls)}, []string{"thinking", "tool_use"}},
		{"text, reasoning, text", chattest.Turn{chattest.Text("a", "b"), chattest.Reasoning("r", "s"), chattest.Text("c"), chattest.Finish(chat.Stop)}, []string{"text", "thinking", "text"}},
		{"calls, text between", chattest.Turn{call("c1"), call("c2"), chattest.Text("a"), call("c3"), chattest.Finish(chat.ToolCalls)}, []string{"tool_use", "tool_use", "text", "tool_use"}},
	}
	for _, tt := range tests { // the reader checks indexes, order and types
		if m := streamed(t, withTools, tt.turn...); !slices.Equal(kinds(m), tt.want) || !m.ended {
			t.Errorf("%s: blocks %q, want %q", tt.name, kinds(m), tt.want)
		}
	}
}

func TestAR2_ThinkingIsShownAndSigned(t *testing.T) {
	turn := chattest.Turn{chattest.Reasoning("let ", "me think"), chattest.Text("done"), chattest.Finish(chat.Stop)}
	for name, m := range map[string]messageSeen{"stream": streamed(t, "", turn...), "whole": whole(t, "", turn...)} {
		if _, thinking, _ := m.joined(); thinking != "let me think" || m.Content[0].Type != "thinking" || m.Content[0].Signature == "" {
			t.Errorf("%s: %+v", name, m.Content)
		}
	}
}

func TestAR3_TokensFromTheStart(t *testing.T) {
	m := streamed(t, withTools, chattest.Text("x"), chattest.End(chat.Finish{Usage: &figuresSeen}))
	if *m.first.Input < 5 || *m.Usage.Input != 100 || *m.Usage.CacheRead != 20 || *m.Usage.CacheWrite != 3 || *m.Usage.Output != 7 {
		t.Errorf("first %+v, last %+v", m.first, m.Usage)
	}
	// Figures that the upstream does not give are estimated.
	turn := chattest.Turn{chattest.Text(strings.Repeat("some words ", 50)), chattest.Call("c", "read", "{}"), chattest.Finish(chat.ToolCalls)}
	for _, m := range []messageSeen{streamed(t, withTools, turn...), whole(t, withTools, turn...)} {
		if *m.Usage.Input < 5 || *m.Usage.Output < 80 || *m.Usage.Output > 130 {
			t.Errorf("%d input and %d output tokens", *m.Usage.Input, *m.Usage.Output)
		}
	}
}

func TestAR3_CountTokens(t *testing.T) {
	h := newHandler(chattest.New())
	count := func(members string) int {
		t.Helper()
		w := recorder()
		h.CountTokens(w, httptest.NewRequest("POST", "/v1/messages/count_tokens", strings.NewReader(body(members))))
		var out map[string]int
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || len(out) != 1 || w.Header().Get("Request-Id") != "req_1" {
			t.Fatalf("%d %s %v", w.Code, w.Body, err)
		}
		return out["input_tokens"]
	}
	plain, tools := count(""), count(`"tools":[{"name":"read","description":"Reads a file from the disk.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]`)
	if plain < 3 || plain > 20 || tools < plain+10 {
		t.Errorf("%d tokens, with a tool %d", plain, tools)
	}
	w := recorder()
	h.CountTokens(w, httptest.NewRequest("POST", "/", strings.NewReader(`{"model":"m"}`)))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "messages is missing") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The window's content is what clients show and act upon.
func TestMU4_UsageAddsUpToTheWindow(t *testing.T) {
	tests := []struct {
		name    string
		usage   *chat.Usage
		context *chat.Context
		want    [4]int
	}{
		{"the window decides", &chat.Usage{Input: 50000, CacheRead: 30000, Output: 300}, &chat.Context{Used: 21000, Max: 200000}, [4]int{0, 0, 20700, 300}},
		{"no window", &chat.Usage{Input: 10, CacheRead: 20, CacheWrite: 5, Output: 3}, nil, [4]int{10, 5, 20, 3}},
		{"it falls with the history", &chat.Usage{Input: 1, Output: 100}, &chat.Context{Used: 20000}, [4]int{19900, 0, 0, 100}},
		{"writes count", &chat.Usage{Input: 1000, CacheRead: 200, CacheWrite: 700, Output: 100}, &chat.Context{Used: 1000}, [4]int{0, 700, 200, 100}},
	}
	for _, tt := range tests {
		m := streamed(t, "", chattest.Text("x"), chattest.End(chat.Finish{Usage: tt.usage, Context: tt.context}))
		if got := [4]int{*m.Usage.Input, *m.Usage.CacheWrite, *m.Usage.CacheRead, *m.Usage.Output}; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestST9_OrderOfEvents(t *testing.T) {
	m := streamed(t, "", chattest.Text("a", "b", "c"), chattest.End(chat.Finish{Usage: &figuresSeen}))
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if text, _, _ := m.joined(); text != "abc" || !slices.Equal(m.order, want) || m.Model != "m" {
		t.Errorf("%q, %+v", m.order, m)
	}
}

func TestST10_ACutStreamIsNoSuccess(t *testing.T) {
	tests := []struct {
		name string
		turn []chattest.Step
	}{
		{"error", []chattest.Step{chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "gone"))}},
		{"error of another type", []chattest.Step{chattest.Text("par"), chattest.Fail(errors.New("secret"))}},
		{"no end", []chattest.Step{chattest.Text("par")}},
		{"panic", []chattest.Step{chattest.Text("par"), chattest.Panic("boom")}},
		{"canceled by nobody here", []chattest.Step{chattest.Text("par"), chattest.Fail(context.Canceled)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := streamed(t, "", tt.turn...)
			if text, _, _ := m.joined(); text != "par" || m.fault != "api_error" || m.StopReason != nil || m.ended {
				t.Errorf("mid-stream: %+v", m)
			}
			for _, members := range []string{`"stream":true`, ""} { // nothing sent yet
				w := post(newHandler(chattest.New(tt.turn[1:])), body(members))
				if w.Code < 500 || !strings.HasPrefix(w.Body.String(), `{"type":"error","error":{"type":"api_error","message":"`) || strings.Contains(w.Body.String(), "secret") {
					t.Errorf("before the first byte: %d %s", w.Code, w.Body)
				}
			}
			// Half an answer is no answer.
			if w := post(newHandler(chattest.New(tt.turn)), body("")); w.Code < 500 {
				t.Errorf("not streamed: %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestST11_SilenceInAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := func(d time.Duration) chattest.Step { return chattest.Do(func() { time.Sleep(d) }) }
		h := newHandler(chattest.New(chattest.Turn{
			pause(61 * time.Second), chattest.Text("x"), pause(25 * time.Second), chattest.Finish(chat.Stop),
		}))
		w := post(h, body(`"stream":true`))
		before, after, _ := strings.Cut(w.Body.String(), "event: ")
		if strings.Count(before, ": keep-alive\n\n") != 6 || strings.Count(after, ": keep-alive\n\n") != 2 {
			t.Errorf("%s", w.Body)
		}
		if m := readStream(t, w); !m.ended {
			t.Errorf("%+v", m)
		}
	})
}

func TestErrorAfterKeepAliveIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(chattest.New(chattest.Turn{
			chattest.Do(func() { time.Sleep(11 * time.Second) }), chattest.Fail(chat.Errorf(chat.QuotaSpent, "used up")),
		}))
		w := post(h, body(`"stream":true`))
		if m := readStream(t, w); w.Code != 200 || m.fault != "billing_error" || m.ended {
			t.Errorf("%d %+v", w.Code, m)
		}
	})
}

func TestST12_WholeEqualsStream(t *testing.T) {
	turns := map[string]chattest.Turn{
		"text":     {chattest.Text("Hel", "lo\u2028", "日本"), chattest.Finish(chat.Stop)},
		"thinking": {chattest.Reasoning("a", "b"), chattest.Text("c"), chattest.End(chat.Finish{Reason: chat.Length, Usage: &figuresSeen})},
		"calls": {chattest.Text("x"), chattest.Call("c1", "read", `{"a":"\"\\"}`), chattest.Call("c2", "read", ""),
			chattest.End(chat.Finish{Reason: chat.ToolCalls, Usage: &figuresSeen, Context: &chat.Context{Used: 500}})},
		"long": {chattest.Text(strings.Repeat("äb\n", 20000)), chattest.Call("c", "read", `{"a":"`+strings.Repeat("ö", 30000)+`"}`), chattest.Finish(chat.ToolCalls)},
		"stop": {chattest.Text("one EN", "D two"), chattest.Finish(chat.Stop)},
	}
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			members := withTools + `,"stop_sequences":["END"]`
			a, b := streamed(t, members, turn...), whole(t, members, turn...)
			a.ID, b.ID, a.first, a.order, a.ended = "", "", usageSeen{}, nil, false
			seen, want := marshal(t, a), marshal(t, b)
			if seen != want {
				t.Errorf("streamed %.600s\nwhole %.600s", seen, want)
			}
		})
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTC2_ArgumentsJoinToOneObject(t *testing.T) {
	command := `{"cmd":"grep -r \"a b\" . | awk '{print $1}' \\| tee \u00e9\n` + strings.Repeat(`\"x\" | `, 150) + `"}`
	huge := `{"text":"` + strings.Repeat(`a\\é`, 20000) + `"}`
	for _, arguments := range []string{command, huge, "{}", "{ \"a\" : [1, 2] }"} {
		m := streamed(t, withTools, chattest.Call("c", "read", arguments), chattest.Finish(chat.ToolCalls))
		if _, _, calls := m.joined(); string(calls[0].Input) != arguments || calls[0].ID != "c" || calls[0].Name != "read" {
			t.Errorf("%.100s came out as %.100s", arguments, calls[0].Input)
		}
	}
	for _, none := range []json.RawMessage{nil, {}} {
		turn := []chattest.Step{chattest.Emit(chat.ToolCall{ID: "c", Name: "read", Arguments: none}), chattest.Finish(chat.ToolCalls)}
		for _, m := range []messageSeen{streamed(t, withTools, turn...), whole(t, withTools, turn...)} {
			if _, _, calls := m.joined(); string(calls[0].Input) != "{}" {
				t.Errorf("no arguments came out as %q", calls[0].Input)
			}
		}
	}
}

func TestTC3_StopReason(t *testing.T) {
	call := chattest.Call("c", "read", "{}")
	tests := []struct {
		turn       chattest.Turn
		want, text string
	}{
		{chattest.Turn{call, chattest.Text("and on"), chattest.Finish(chat.Stop)}, "tool_use", ""},
		{chattest.Turn{call, chattest.Finish(chat.ToolCalls)}, "tool_use", ""},
		{chattest.Turn{call, chattest.Finish(chat.Length)}, "max_tokens", ""},
		{chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ToolCalls)}, "end_turn", ""},
		{chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}, "end_turn", ""},
		{chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ContentFilter)}, "refusal", ""},
		{chattest.Turn{chattest.Text("x EN", "D"), chattest.Finish(chat.Stop)}, "stop_sequence", "END"},
	}
	for _, tt := range tests {
		members := withTools + `,"stop_sequences":["END"]`
		for _, m := range []messageSeen{streamed(t, members, tt.turn...), whole(t, members, tt.turn...)} {
			if *m.StopReason != tt.want || (m.StopText != nil) != (tt.text != "") || m.StopText != nil && *m.StopText != tt.text {
				t.Errorf("%s %v, want %s %q", *m.StopReason, m.StopText, tt.want, tt.text)
			}
		}
	}
}

func TestEM3_AnEmptyAnswerIsAnError(t *testing.T) {
	for _, members := range []string{`"stream":true`, ""} {
		w := post(newHandler(chattest.New(chattest.Turn{chattest.Finish(chat.Stop)})), body(members))
		if w.Code != 502 || !strings.Contains(w.Body.String(), "empty answer") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

func TestEM1_LimitsAndOverloadDiffer(t *testing.T) {
	spent := post(newHandler(chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.QuotaSpent, "Your plan's limit resets on May 1."))})), body(""))
	if spent.Code != 402 || spent.Header().Get("Retry-After") != "" || !strings.Contains(spent.Body.String(), "resets on May 1") {
		t.Errorf("spent plan: %d %v %s", spent.Code, spent.Header(), spent.Body)
	}
	full := post(newHandler(chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.Overloaded, "busy"))})), body(""))
	if full.Code != 529 || full.Header().Get("Retry-After") == "" {
		t.Errorf("overload: %d %v", full.Code, full.Header())
	}
}

// Claude Code shortens the conversation when it sees these words.
func TestTooLongNamesTheSizes(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.TooLong, "the conversation does not fit"))})
	for window, want := range map[int]string{
		200_000: "prompt is too long: 200001 tokens > 200000 maximum (the conversation does not fit)",
		0:       "prompt is too long: the conversation does not fit",
	} {
		b.SetModels([]chat.Model{{ID: "m", ContextWindow: window}}, nil)
		for _, members := range []string{`"stream":true`, ""} {
			if w := post(newHandler(b), body(members)); w.Code != 400 || !strings.Contains(w.Body.String(), `"`+want+`"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	}
}

func TestRS4_AClientThatLeavesEndsTheTurn(t *testing.T) {
	for _, stream := range []string{`"stream":true`, ""} {
		synctest.Test(t, func(t *testing.T) {
			b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Silence()})
			ctx, leave := context.WithCancel(t.Context())
			var outcome turn.Outcome
			h := New(turn.Config{Backend: b, Done: func(_ context.Context, o turn.Outcome) { outcome = o }})
			done := make(chan struct{})
			go func() {
				defer close(done)
				r := httptest.NewRequestWithContext(ctx, "POST", "/v1/messages", strings.NewReader(body(stream)))
				h.Messages(httptest.NewRecorder(), r)
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

func TestAliasReachesTheModel(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
	w := post(newHandler(b), body(`"model":"anthropic.gpt-5"`))
	if b.Last().Model != "gpt-5" || !strings.Contains(w.Body.String(), `"model":"anthropic.gpt-5"`) {
		t.Errorf("asked for %q, answered %s", b.Last().Model, w.Body)
	}
}

func TestSessionHint(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
	r := httptest.NewRequest("POST", "/", strings.NewReader(body("")))
	r.Header.Set("X-Claude-Code-Session-Id", "s")
	newHandler(b).Messages(recorder(), r)
	if b.Last().Session != "s" {
		t.Errorf("session %q", b.Last().Session)
	}
}

func TestBodyErrors(t *testing.T) {
	for want, err := range map[int]error{413: chat.Errorf(chat.TooLarge, "too large"), 499: io.ErrUnexpectedEOF} {
		w := recorder()
		newHandler(chattest.New()).Messages(w, httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("{"), failing{err})))
		if w.Code != want || !strings.Contains(w.Body.String(), `"request_id":"req_1"`) {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

type failing struct{ err error }

func (r failing) Read([]byte) (int, error) { return 0, r.err }
