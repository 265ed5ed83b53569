package agentrpc

import (
	"context"
	"fmt"
	"testing"

	"cursortray/proxy/chat"
)

func TestR16_OldestIdleRunGoesFirst(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	var asked []*chat.Request
	var got []answer
	for i := range defaultMaxRuns + 1 {
		req := toolRequest("read")
		req.Messages[0].Parts = []chat.Part{chat.Text{Text: fmt.Sprint("task ", i)}}
		a := b.ask(t, req)
		if len(a.calls) != 1 {
			t.Fatalf("run %d gave %+v", i, a)
		}
		asked, got = append(asked, req), append(got, a)
	}
	if n := len(b.runs.opened()); n != defaultMaxRuns {
		t.Errorf("%d open runs", n)
	}
	if a := b.ask(t, with(asked[1], got[1], results(got[1], "milk")...)); a.text != "milk" {
		t.Errorf("the second run gave %+v", a)
	}
	if a := b.ask(t, with(asked[0], got[0], results(got[0], "milk")...)); a.text != "from history" {
		t.Errorf("the first run gave %+v", a)
	}
}

// Runs that are being read are not taken from their clients.
func TestR16_BusyRunsAreKept(t *testing.T) {
	b := newBench(t, func(s *session) error {
		if err := s.say("x"); err != nil {
			return err
		}
		return s.hang()
	}, func(cfg *Config, _ *timing) { cfg.MaxRuns = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range b.Chat(ctx, words("one")) {
		if a := b.ask(t, words("two")); a.err == nil || a.err.Kind != chat.Overloaded || a.err.RetryAfter == 0 {
			t.Errorf("got %+v", a)
		}
		break
	}
}

// A client that goes on without the results has given the run up.
func TestR16_NewRunOfAConversationSupersedes(t *testing.T) {
	for name, next := range map[string]func(*chat.Request, answer) *chat.Request{
		"by the call in its history": func(req *chat.Request, a answer) *chat.Request {
			return with(req, a, chat.Text{Text: "stop, do something else"})
		},
		"by session and task": func(req *chat.Request, _ answer) *chat.Request {
			other := *req
			other.Messages = words("Something else").Messages
			return &other
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(s *session) error {
				if s.n > 1 {
					return plainTurn("new")(s)
				}
				return toolTurn("read")(s)
			})
			req := toolRequest("read")
			req.Session = "s1"
			a := b.ask(t, req)
			if a2 := b.ask(t, next(req, a)); a2.text != "new" {
				t.Errorf("got %+v", a2)
			}
			eventually(t, "the end of the held run", func() bool { return b.service.live.Load() == 0 })
		})
	}
}

// Two conversations that begin alike have nothing to do with each other.
func TestConversationsThatBeginAlikeNeverMix(t *testing.T) {
	b := newBench(t, toolTurn("read"))
	req := toolRequest("read")
	a1, a2 := b.ask(t, req), b.ask(t, req)
	if n := len(b.runs.opened()); n != 2 {
		t.Fatalf("%d open runs", n)
	}
	b2 := b.ask(t, with(req, a2, results(a2, "two")...))
	b1 := b.ask(t, with(req, a1, results(a1, "one")...))
	if b1.text != "one" || b2.text != "two" {
		t.Errorf("got %q and %q", b1.text, b2.text)
	}
	runs := b.service.seen()
	if runs[0].GetConversationId() == runs[1].GetConversationId() {
		t.Error("one id for both")
	}
}
