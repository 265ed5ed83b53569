package cursorsim

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(model, prompt string, tools ...chat.Tool) *chat.Request {
	return &chat.Request{
		Model:    model,
		Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: prompt}}}},
		Tools:    tools,
	}
}

var readTool = chat.Tool{Name: "read", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}

func TestDemoRunsAToolLoop(t *testing.T) {
	b := NewBackend(Config{})
	defer b.Close()
	req := ask("demo-large", "Read the file /tmp/a.txt", readTool)
	first, err := chat.Collect(b.Chat(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Calls) != 1 || string(first.Calls[0].Arguments) != `{"path":"/tmp/a.txt"}` || first.Finish.Reason != chat.ToolCalls || first.Reasoning == "" {
		t.Fatalf("first turn = %+v", first)
	}
	req.Messages = append(req.Messages,
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.ToolUse{ID: first.Calls[0].ID, Name: "read"}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: first.Calls[0].ID, Content: []chat.Part{chat.Text{Text: "MARK-1 x\ny"}}}}},
	)
	second, err := chat.Collect(b.Chat(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(second.Text, "The first line is: MARK-1 x\n") || second.Finish.Reason != chat.Stop {
		t.Errorf("second turn = %+v", second)
	}
	if u := second.Finish.Usage; u == nil || u.Input == 0 || u.Output == 0 || second.Finish.Context.Max != 200_000 {
		t.Errorf("figures = %+v, %+v", u, second.Finish.Context)
	}
	// A new prompt after the result starts a new loop.
	req.Messages = append(req.Messages, chat.Message{Role: chat.User, Parts: []chat.Part{chat.Text{Text: "Now show /tmp/b.txt"}}})
	third, err := chat.Collect(b.Chat(t.Context(), req))
	if err != nil || len(third.Calls) != 1 || string(third.Calls[0].Arguments) != `{"path":"/tmp/b.txt"}` {
		t.Errorf("third turn = %+v, %v", third, err)
	}
}

// Claude Code's notes beside what the person said are no prompt: they name
// files that nobody asked for, and follow a result without asking anything.
func TestDemoIgnoresNotesOfTheClient(t *testing.T) {
	b := NewBackend(Config{})
	defer b.Close()
	note := chat.Text{Text: "<system-reminder>\nStatus: ?? a.txt, read /tmp/b.txt\n</system-reminder>\n"}
	req := ask("demo-large", "Say hello", readTool)
	req.Messages[0].Parts = append([]chat.Part{note}, req.Messages[0].Parts...)
	if got, err := chat.Collect(b.Chat(t.Context(), req)); err != nil || len(got.Calls) > 0 {
		t.Errorf("a greeting gives %+v, %v", got, err)
	}
	req.Messages = append(req.Messages,
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{chat.ToolUse{ID: "c", Name: "read"}}},
		chat.Message{Role: chat.User, Parts: []chat.Part{chat.ToolResult{CallID: "c", Content: []chat.Part{chat.Text{Text: "MARK-1 x"}}}, note}})
	if got, err := chat.Collect(b.Chat(t.Context(), req)); err != nil || !strings.HasPrefix(got.Text, "The first line is: MARK-1 x\n") {
		t.Errorf("a result gives %+v, %v", got, err)
	}
}

func TestDemoModelsSayThatTheyAreSimulated(t *testing.T) {
	b := NewBackend(Config{})
	defer b.Close()
	models, err := b.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if !strings.HasPrefix(m.ID, "demo-") || !strings.Contains(m.Name, "(simulated)") {
			t.Errorf("model %+v", m)
		}
		got, err := chat.Collect(b.Chat(t.Context(), ask(m.ID, "Hello")))
		if err != nil || (got.Reasoning != "") != m.Reasoning || !strings.Contains(got.Text, "nothing here is real") {
			t.Errorf("%s answers %+v, %v", m.ID, got, err)
		}
	}
}

func TestDemoRefuses(t *testing.T) {
	b := NewBackend(Config{})
	defer b.Close()
	for name, tc := range map[string]struct {
		req  *chat.Request
		kind chat.Kind
		says string
	}{
		"unknown model":     {ask("gpt-5", "Hello"), chat.NotFound, `"gpt-5"; it has demo-large and demo-small`},
		"long conversation": {ask("demo-small", strings.Repeat("word ", 40_000)), chat.TooLong, "> 32000 maximum"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := chat.Collect(b.Chat(t.Context(), tc.req))
			if e := chat.AsError(err); e == nil || e.Kind != tc.kind || !strings.Contains(e.Message, tc.says) {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestDemoKeepsToolChoiceAndLimit(t *testing.T) {
	b := NewBackend(Config{})
	defer b.Close()
	other := chat.Tool{Name: "other"}
	for name, tc := range map[string]struct {
		choice chat.ToolChoice
		limit  int
		call   string
		reason chat.Reason
	}{
		"auto":  {chat.ToolChoice{}, 0, "read", chat.ToolCalls},
		"none":  {chat.ToolChoice{Mode: chat.ToolNone}, 0, "", chat.Stop},
		"named": {chat.ToolChoice{Mode: chat.ToolNamed, Name: "other"}, 0, "other", chat.ToolCalls},
		"limit": {chat.ToolChoice{}, 3, "", chat.Length},
	} {
		t.Run(name, func(t *testing.T) {
			req := ask("demo-large", "Read /tmp/a.txt", readTool, other)
			req.Choice, req.MaxTokens = tc.choice, tc.limit
			got, err := chat.Collect(b.Chat(t.Context(), req))
			if err != nil {
				t.Fatal(err)
			}
			call := ""
			if len(got.Calls) > 0 {
				call = got.Calls[0].Name
			}
			if call != tc.call || got.Finish.Reason != tc.reason {
				t.Errorf("called %q, reason %d; want %q, %d", call, got.Finish.Reason, tc.call, tc.reason)
			}
		})
	}
}

func TestDemoKeepsItsPaceAndIsCanceledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBackend(Config{Pace: time.Second})
		defer b.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		start := time.Now()
		deltas := 0
		var last error
		for _, err := range b.Chat(ctx, ask("demo-small", "Hello")) {
			if last = err; err == nil {
				deltas++
			}
		}
		if deltas != 3 || time.Since(start) != 3500*time.Millisecond {
			t.Errorf("%d deltas in %v, want 3 in 3.5 s", deltas, time.Since(start))
		}
		if e := chat.AsError(last); e == nil || e.Kind != chat.Canceled {
			t.Errorf("error = %v, want Canceled", last)
		}
	})
}

func TestDemoCloseEndsTurns(t *testing.T) {
	b := NewBackend(Config{Pace: time.Hour})
	next := make(chan error)
	go func() {
		for _, err := range b.Chat(context.Background(), ask("demo-large", "Hello")) {
			next <- err
		}
	}()
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("Check = %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Close()
	}()
	if e := chat.AsError(<-next); e == nil || e.Kind != chat.ShuttingDown {
		t.Errorf("a turn that Close ended gave %v", e)
	}
	<-done
	if e := chat.AsError(b.Check(t.Context())); e == nil || e.Kind != chat.ShuttingDown {
		t.Errorf("Check after Close = %v", e)
	}
}

// The checks of the suite that need no script of the upstream: the demo plays
// its own.
func TestDemoKeepsTheContract(t *testing.T) {
	chattest.Suite(t, chattest.Harness{
		Model:      "demo-large",
		Unscripted: true,
		New: func(*testing.T, chattest.Script) chattest.Instance {
			return chattest.Instance{Backend: NewBackend(Config{Pace: time.Millisecond})}
		},
	})
}
