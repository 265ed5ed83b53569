package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/turn"
)

func TestST9_OrderOfChunks(t *testing.T) {
	seen := streamed(t, `"stream_options":{"include_usage":true}`,
		chattest.Text("a", "b", "c"), chattest.End(chat.Finish{Usage: &figures}))
	if seen.text != "abc" || seen.finish != "stop" || !seen.ended {
		t.Fatalf("%+v", seen)
	}
	first, last := seen.chunks[0], len(seen.chunks)-1
	for i, c := range seen.chunks {
		if c.ID != first.ID || c.Created != first.Created || c.Model != "m" || c.Object != "chat.completion.chunk" {
			t.Errorf("chunk %d is of another answer: %+v", i, c)
		}
		if i == last {
			if len(c.Choices) != 0 || len(c.Usage) == 0 {
				t.Errorf("the last chunk is not usage alone: %+v", c)
			}
			continue
		}
		choice := c.Choices[0]
		if (choice.Delta.Role != nil) != (i == 0) || (choice.FinishReason != nil) != (i == last-1) || len(c.Usage) > 0 || *choice.Index != 0 {
			t.Errorf("chunk %d: %+v", i, choice)
		}
		if i == last-1 && (choice.Delta.Content != nil || choice.Delta.ToolCalls != nil) {
			t.Errorf("the finish chunk says something: %+v", choice.Delta)
		}
	}
	// Without the option the figures ride on the finish chunk.
	seen = streamed(t, "", chattest.Text("a"), chattest.End(chat.Finish{Usage: &figures}))
	c := seen.chunks[len(seen.chunks)-1]
	if len(c.Usage) == 0 || len(c.Choices) != 1 || c.Choices[0].FinishReason == nil {
		t.Errorf("the last chunk is %+v", c)
	}
}

func TestST10_ACutStreamIsNoSuccess(t *testing.T) {
	tests := []struct {
		name, fault string
		turn        []chattest.Step
	}{
		{"error", "bad_gateway", []chattest.Step{chattest.Text("par"), chattest.Fail(chat.Errorf(chat.BadGateway, "gone"))}},
		{"error of another type", "internal_error", []chattest.Step{chattest.Text("par"), chattest.Fail(errors.New("secret"))}},
		{"no end", "bad_gateway", []chattest.Step{chattest.Text("par")}},
		{"panic", "internal_error", []chattest.Step{chattest.Text("par"), chattest.Panic("boom")}},
		{"canceled by nobody here", "bad_gateway", []chattest.Step{chattest.Text("par"), chattest.Fail(context.Canceled)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seen := streamed(t, "", tt.turn...)
			if seen.text != "par" || seen.fault != tt.fault || seen.finish != "" || seen.ended {
				t.Errorf("mid-stream: %+v", seen)
			}
			for _, members := range []string{`"stream":true`, ""} { // nothing sent yet
				w := post(newHandler(chattest.New(tt.turn[1:])), body(members))
				var out struct {
					Error struct{ Message, Type, Code string }
				}
				if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code < 500 ||
					out.Error.Code != tt.fault || out.Error.Message == "" || out.Error.Type == "" {
					t.Errorf("before the first byte: %d %s", w.Code, w.Body)
				}
				if strings.Contains(w.Body.String(), "secret") {
					t.Errorf("the cause leaks: %s", w.Body)
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
		raw := w.Body.String()
		before, after, _ := strings.Cut(raw, "data: ")
		if strings.Count(before, ": keep-alive\n\n") != 6 || strings.Count(after, ": keep-alive\n\n") != 2 {
			t.Errorf("%s", raw)
		}
		if seen := readStream(t, w); seen.text != "x" || !seen.ended {
			t.Errorf("%+v", seen)
		}
	})
}

func TestErrorAfterKeepAliveIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(chattest.New(chattest.Turn{
			chattest.Do(func() { time.Sleep(11 * time.Second) }), chattest.Fail(chat.Errorf(chat.QuotaSpent, "used up")),
		}))
		w := post(h, body(`"stream":true`))
		if seen := readStream(t, w); w.Code != 200 || seen.fault != "insufficient_quota" || seen.ended {
			t.Errorf("%d %+v", w.Code, seen)
		}
	})
}

func TestST12_WholeEqualsStream(t *testing.T) {
	turns := map[string]chattest.Turn{
		"text":      {chattest.Text("Hel", "lo\u2028", "日本"), chattest.Finish(chat.Stop)},
		"reasoning": {chattest.Reasoning("a", "b"), chattest.Text("c"), chattest.End(chat.Finish{Reason: chat.Length, Usage: &figures})},
		"calls": {chattest.Text("x"), chattest.Call("c1", "read", `{"a":"\"\\"}`), chattest.Call("c2", "read", ""),
			chattest.End(chat.Finish{Reason: chat.ToolCalls, Usage: &figures, Context: &chat.Context{Used: 500}})},
		"long": {chattest.Text(strings.Repeat("äb\n", 20000)), chattest.Call("c", "read", `{"a":"`+strings.Repeat("ö", 30000)+`"}`), chattest.Finish(chat.ToolCalls)},
		"stop": {chattest.Text("one EN", "D two"), chattest.Finish(chat.Stop)},
	}
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			members := withTools + `,"stop":["END"]`
			stream := streamed(t, members, turn...)
			whole := readWhole(t, post(newHandler(chattest.New(turn)), body(members)))
			stream.chunks = nil
			if a, b := stream, whole; a.text != b.text || a.reasoning != b.reasoning || a.finish != b.finish || a.usage != b.usage ||
				!slices.Equal(a.ids, b.ids) || !slices.Equal(a.names, b.names) || !slices.Equal(a.arguments, b.arguments) {
				t.Errorf("streamed %.300v\nwhole %.300v", a, b)
			}
		})
	}
}

func TestTC1_IndexAndIDOfCalls(t *testing.T) {
	seen := streamed(t, withTools, chattest.Call("c1", "read", "{}"), chattest.Text("then"),
		chattest.Call("c2", "read", "{}"), chattest.Call("c3", "read", "{}"), chattest.Finish(chat.ToolCalls))
	if !slices.Equal(seen.ids, []string{"c1", "c2", "c3"}) {
		t.Fatalf("ids %q", seen.ids)
	}
	for _, c := range seen.chunks {
		for _, call := range c.Choices[0].Delta.ToolCalls {
			first := call.ID != nil
			if (call.Type != nil) != first || (call.Function.Name != nil) != first || call.Index == nil {
				t.Errorf("%+v", call)
			}
		}
	}
}

func TestTC2_ArgumentsJoinToOneObject(t *testing.T) {
	command := `{"cmd":"grep -r \"a b\" . | awk '{print $1}' \\| tee \u00e9\n` + strings.Repeat(`\"x\" | `, 150) + `"}`
	huge := `{"text":"` + strings.Repeat(`a\\é`, 20000) + `"}`
	for _, arguments := range []string{command, huge, "{}", "{ \"a\" : [1, 2] }"} {
		seen := streamed(t, withTools, chattest.Call("c", "read", arguments), chattest.Finish(chat.ToolCalls))
		if seen.arguments[0] != arguments {
			t.Errorf("%.100s came out as %.100s", arguments, seen.arguments[0])
		}
	}
	for _, none := range []json.RawMessage{nil, {}} {
		turn := []chattest.Step{chattest.Emit(chat.ToolCall{ID: "c", Name: "read", Arguments: none}), chattest.Finish(chat.ToolCalls)}
		if seen := streamed(t, withTools, turn...); seen.arguments[0] != "{}" {
			t.Errorf("no arguments came out as %q", seen.arguments[0])
		}
		if whole := readWhole(t, post(newHandler(chattest.New(turn)), body(withTools))); whole.arguments[0] != "{}" {
			t.Errorf("no arguments came out as %q", whole.arguments[0])
		}
	}
}

func TestTC3_FinishReason(t *testing.T) {
	call := chattest.Call("c", "read", "{}")
	tests := []struct {
		turn chattest.Turn
		want string
	}{
		{chattest.Turn{call, chattest.Text("and on"), chattest.Finish(chat.Stop)}, "tool_calls"},
		{chattest.Turn{call, chattest.Finish(chat.ToolCalls)}, "tool_calls"},
		{chattest.Turn{call, chattest.Finish(chat.Length)}, "length"},
		{chattest.Turn{chattest.Text("x"), chattest.Finish(chat.ToolCalls)}, "stop"},
		{chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}, "stop"},
	}
	for _, tt := range tests {
		if seen := streamed(t, withTools, tt.turn...); seen.finish != tt.want {
			t.Errorf("streamed: %s, want %s", seen.finish, tt.want)
		}
		if seen := readWhole(t, post(newHandler(chattest.New(tt.turn)), body(withTools))); seen.finish != tt.want {
			t.Errorf("whole: %s, want %s", seen.finish, tt.want)
		}
	}
}

func TestMU4_UsageIsTrueOrAbsent(t *testing.T) {
	type counts struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	tests := []struct {
		name    string
		usage   *chat.Usage
		context *chat.Context
		want    counts
	}{
		{"the window decides", &chat.Usage{Input: 50000, CacheRead: 30000, Output: 300}, &chat.Context{Used: 21000, Max: 200000}, counts{20700, 300, 21000, struct {
			Cached int `json:"cached_tokens"`
		}{20700}}},
		{"no window", &chat.Usage{Input: 10, CacheRead: 20, CacheWrite: 5, Output: 3}, nil, counts{35, 3, 38, struct {
			Cached int `json:"cached_tokens"`
		}{20}}},
		{"it falls with the history", &chat.Usage{Input: 1, Output: 100}, &chat.Context{Used: 20000}, counts{19900, 100, 20000, struct {
			Cached int `json:"cached_tokens"`
		}{0}}},
	}
	for _, tt := range tests {
		seen := streamed(t, `"stream_options":{"include_usage":true}`, chattest.Text("x"), chattest.End(chat.Finish{Usage: tt.usage, Context: tt.context}))
		var got counts
		if err := json.Unmarshal([]byte(seen.usage), &got); err != nil || got != tt.want {
			t.Errorf("%s: %s, want %+v", tt.name, seen.usage, tt.want)
		}
	}
	for _, members := range []string{`"stream_options":{"include_usage":true}`, ""} {
		if seen := streamed(t, members, chattest.Text("x"), chattest.End(chat.Finish{Context: &chat.Context{Used: 5}})); seen.usage != "" {
			t.Errorf("usage out of nothing: %s", seen.usage)
		}
	}
}

func TestEM3_AnEmptyAnswerIsAnError(t *testing.T) {
	for _, reason := range []chat.Reason{chat.Stop, chat.ToolCalls} {
		for _, members := range []string{`"stream":true`, ""} {
			w := post(newHandler(chattest.New(chattest.Turn{chattest.Finish(reason)})), body(members))
			if w.Code != 502 || !strings.Contains(w.Body.String(), "empty answer") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	}
}

func TestEM1_LimitsAndOverloadDiffer(t *testing.T) {
	spent := post(newHandler(chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.QuotaSpent, "Your plan's limit resets on May 1."))})), body(""))
	if spent.Code != 402 || spent.Header().Get("Retry-After") != "" || !strings.Contains(spent.Body.String(), "resets on May 1") {
		t.Errorf("spent plan: %d %v %s", spent.Code, spent.Header(), spent.Body)
	}
	full := post(newHandler(chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.Overloaded, "busy"))})), body(""))
	if full.Code != 503 || full.Header().Get("Retry-After") == "" {
		t.Errorf("overload: %d %v", full.Code, full.Header())
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
				r := httptest.NewRequestWithContext(ctx, "POST", "/v1/chat/completions", strings.NewReader(body(stream)))
				h.ChatCompletions(httptest.NewRecorder(), r)
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

// brokenPipe fails all writes after the first few.
type brokenPipe struct {
	*httptest.ResponseRecorder
	good int
}

func (w *brokenPipe) Write(p []byte) (int, error) {
	if w.good--; w.good < 0 {
		return 0, io.ErrClosedPipe
	}
	return w.ResponseRecorder.Write(p)
}

func TestRS4_AFailedWriteEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := chattest.Turn{}
		for range 5 {
			steps = append(steps, chattest.Text("x"), chattest.Do(func() { time.Sleep(time.Second) }))
		}
		var outcome turn.Outcome
		start := time.Now()
		h := New(turn.Config{Backend: chattest.New(append(steps, chattest.Finish(chat.Stop))), Done: func(_ context.Context, o turn.Outcome) { outcome = o }})
		h.ChatCompletions(&brokenPipe{httptest.NewRecorder(), 1}, httptest.NewRequest("POST", "/", strings.NewReader(body(`"stream":true`))))
		if took := time.Since(start); took > 2*time.Second || outcome.Err == nil || outcome.Err.Kind != chat.Canceled {
			t.Errorf("after %v: %+v", took, outcome)
		}
	})
}

func TestDisconnectAfterTheEndIsSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outcome := turn.Outcome{Err: chat.Errorf(chat.Internal, "not called")}
		pause := chattest.Do(func() { time.Sleep(time.Second) }) // a write of its own for each event
		h := New(turn.Config{
			Backend: chattest.New(chattest.Turn{chattest.Text("x"), pause, chattest.Finish(chat.Stop)}),
			Done:    func(_ context.Context, o turn.Outcome) { outcome = o },
		})
		h.ChatCompletions(&brokenPipe{httptest.NewRecorder(), 1}, httptest.NewRequest("POST", "/", strings.NewReader(body(`"stream":true`))))
		if outcome.Err != nil {
			t.Errorf("outcome %+v", outcome.Err)
		}
	})
}

func TestStoppingIsTheReasonOfACanceledTurn(t *testing.T) {
	stopping := &chat.Error{Kind: chat.ShuttingDown, Message: "stopping"}
	ctx, stop := context.WithCancelCause(t.Context())
	h := newHandler(chattest.New(chattest.Turn{chattest.Text("x"), chattest.Do(func() { stop(stopping) }), chattest.Silence()}))
	w := httptest.NewRecorder()
	h.ChatCompletions(w, httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(body(`"stream":true`))))
	if seen := readStream(t, w); seen.fault != "shutting_down" || seen.ended {
		t.Errorf("%+v", seen)
	}
}

func TestHintsFromHeaders(t *testing.T) {
	folder := t.TempDir()
	volume := filepath.VolumeName(folder)
	tests := []struct {
		header             http.Header
		session, workspace string
		status             int
	}{
		{http.Header{}, "", "", 200},
		{http.Header{"X-Session-Id": {"s"}, "Thread-Id": {"t"}}, "s", "", 200},
		{http.Header{"Session_id": {"s"}}, "s", "", 200},
		{http.Header{"X-Claude-Code-Session-Id": {"s"}}, "s", "", 200},
		{http.Header{"X-Session-Id": {strings.Repeat("s", 300)}}, "", "", 200},
		{http.Header{turn.WorkspaceHeader: {folder}}, "", folder, 200},
		{http.Header{turn.WorkspaceHeader: {"relative"}}, "", "", 400},
		{http.Header{turn.WorkspaceHeader: {filepath.Join(folder, "gone")}}, "", "", 400},
		{http.Header{turn.WorkspaceHeader: {volume + string(filepath.Separator)}}, "", "", 400},
	}
	for _, tt := range tests {
		b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/", strings.NewReader(body("")))
		r.Header = tt.header
		newHandler(b).ChatCompletions(w, r)
		if w.Code != tt.status {
			t.Errorf("%v: %d %s", tt.header, w.Code, w.Body)
		}
		if req := b.Last(); req != nil && (req.Session != tt.session || req.Workspace != tt.workspace) {
			t.Errorf("%v: session %q, workspace %q", tt.header, req.Session, req.Workspace)
		}
	}
}

func TestUnknownFieldsAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	h := New(turn.Config{
		Backend: chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)}),
		Logger:  slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	for range 3 {
		post(h, body(`"brand_new":{"a":"prompt"},"`+strings.Repeat("long", 100)+`":1`))
	}
	if got := log.String(); strings.Count(got, "brand_new") != 1 || strings.Contains(got, "longlong") || strings.Contains(got, "prompt") {
		t.Errorf("the log says %s", got)
	}
}

func TestAliasReachesTheModel(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.Finish(chat.Stop)})
	w := post(newHandler(b), body(`"model":"anthropic.gpt-5"`))
	if b.Last().Model != "gpt-5" || !strings.Contains(w.Body.String(), `"model":"anthropic.gpt-5"`) {
		t.Errorf("asked for %q, answered %s", b.Last().Model, w.Body)
	}
}

func TestBodyErrors(t *testing.T) {
	for want, err := range map[int]error{413: chat.Errorf(chat.TooLarge, "too large"), 499: io.ErrUnexpectedEOF} {
		w := httptest.NewRecorder()
		newHandler(chattest.New()).ChatCompletions(w, httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("{"), failing{err})))
		if w.Code != want {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

type failing struct{ err error }

func (r failing) Read([]byte) (int, error) { return 0, r.err }
