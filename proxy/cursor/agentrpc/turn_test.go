package agentrpc

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	pb "cursortray/proxy/cursor/cursorpb"
)

// plainTurn answers with text.
func plainTurn(text string) func(*session) error {
	return func(s *session) error {
		if err := s.say(text); err != nil {
			return err
		}
		return s.end(nil)
	}
}

func TestPlainTurn(t *testing.T) {
	b := newBench(t, func(s *session) error {
		for _, step := range []func() error{
			func() error { return s.think("hm") },
			func() error { return s.say("Hel") },
			func() error { return s.say("") },
			func() error { return s.say("lo") },
			func() error {
				return s.end(&pb.TurnEndedUpdate{InputTokens: proto.Int64(10), OutputTokens: proto.Int64(3)})
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	a := b.ask(t, words("Hi"))
	if a.text != "Hello" || a.reasoning != "hm" || a.finish == nil || a.finish.Reason != chat.Stop {
		t.Fatalf("got %+v", a)
	}
	if a.finish.Usage == nil || *a.finish.Usage != (chat.Usage{Input: 10, Output: 3}) || a.finish.Context != nil {
		t.Errorf("figures %+v, %+v", a.finish.Usage, a.finish.Context)
	}
	r := b.service.seen()[0]
	if r.GetConversationId() == "" || r.GetRequestedModel().GetModelId() != testModel || len(r.GetConversationState()) != 0 {
		t.Errorf("the run began with %v", r)
	}
	eventually(t, "the run's end", func() bool { return b.service.live.Load() == 0 && len(b.runs.opened()) == 0 })
}

// The notices of the service are no part of the answer.
func TestServiceNoticeIsNoText(t *testing.T) {
	var mu sync.Mutex
	var notices []string
	b := newBench(t, func(s *session) error {
		err := s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_TextDelta{
			TextDelta: &pb.TextDeltaUpdate{Text: "Slow today.\n", IsServerNotice: true}}})
		if err != nil {
			return err
		}
		return plainTurn("Hi")(s)
	}, func(cfg *Config, _ *timing) {
		cfg.Notice = func(text string) { mu.Lock(); notices = append(notices, text); mu.Unlock() }
	})
	if a := b.ask(t, words("Hi")); a.text != "Hi" {
		t.Errorf("the answer is %q", a.text)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(notices) != 1 || notices[0] != "Slow today." {
		t.Errorf("notices %q", notices)
	}
}

func TestR1_WithoutAgentHostNothingIsCalled(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	b.host.err = chat.Errorf(chat.BadGateway, "no settings")
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.BadGateway {
		t.Errorf("got %+v", a)
	}
	if n := len(b.service.seen()); n != 0 || b.host.asked.Load() != 1 {
		t.Errorf("%d runs, %d questions", n, b.host.asked.Load())
	}
	if err := b.Check(t.Context()); chat.AsError(err).Kind != chat.BadGateway {
		t.Errorf("Check says %v", err)
	}
}

func TestWithoutLoginNothingIsCalled(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	b.login.err = &chat.Error{Kind: chat.LoginRequired, Message: "log in"}
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.LoginRequired {
		t.Errorf("got %+v", a)
	}
	if err := b.Check(t.Context()); chat.AsError(err).Kind != chat.LoginRequired {
		t.Errorf("Check says %v", err)
	}
}

func TestUnknownModelCostsNoRun(t *testing.T) {
	b := newBench(t, plainTurn("x"))
	req := words("Hi")
	req.Model = "no-such-model"
	if a := b.ask(t, req); a.err == nil || a.err.Kind != chat.NotFound {
		t.Errorf("got %+v", a)
	}
	if n := len(b.service.seen()); n != 0 {
		t.Errorf("%d runs", n)
	}
	models, err := b.Models(t.Context())
	if err != nil || len(models) != 1 || models[0].ID != testModel {
		t.Errorf("models %v, %v", models, err)
	}
}

func TestHeaders(t *testing.T) {
	var seen http.Header
	b := newBench(t, plainTurn("x"))
	inner := b.server.Config.Handler
	b.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		inner.ServeHTTP(w, r)
	})
	b.ask(t, words("Hi"))
	for name, want := range map[string]string{
		"Content-Type": "application/connect+proto", "Connect-Protocol-Version": "1", "Connect-Accept-Encoding": "gzip",
		"Te": "trailers", "User-Agent": "connect-es/1.6.1", "X-Cursor-Streaming": "true",
	} {
		if got := seen.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if seen.Get("Connect-Timeout-Ms") != "" {
		t.Error("a run has a time limit")
	}
}

// Everything that the service asks is answered, whatever it is, and the run
// goes on.
func TestR22_EveryQuestionIsAnswered(t *testing.T) {
	var answers []*pb.InteractionResponse
	b := newBench(t, func(s *session) error {
		for number := int32(2); number <= 21; number++ {
			q := &pb.InteractionQuery{}
			if err := proto.Unmarshal(query(uint32(number), number), q); err != nil {
				return err
			}
			if err := s.send(&pb.AgentServerMessage{Message: &pb.AgentServerMessage_InteractionQuery{InteractionQuery: q}}); err != nil {
				return err
			}
			m, err := s.next()
			if err != nil {
				return err
			}
			answers = append(answers, m.GetInteractionResponse())
		}
		return plainTurn("done")(s)
	})
	if a := b.ask(t, words("Hi")); a.text != "done" {
		t.Fatalf("got %+v", a)
	}
	for i, r := range answers {
		number := int32(i + 2)
		if r.GetId() != uint32(number) {
			t.Errorf("question %d was answered under id %d", number, r.GetId())
		}
		encoded, err := proto.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if !hasField(encoded, protowire.Number(number)) {
			t.Errorf("question %d was answered with %v", number, r)
		}
	}
}

func TestR19_WebToolsAreRefused(t *testing.T) {
	for _, number := range []int32{2, 9} {
		q := &pb.InteractionQuery{}
		if err := proto.Unmarshal(query(3, number), q); err != nil {
			t.Fatal(err)
		}
		m, known := answerQuery(q)
		r := m.GetInteractionResponse()
		if !known || r.GetWebSearchRequestResponse().GetRejected() == nil && r.GetWebFetchRequestResponse().GetRejected() == nil {
			t.Errorf("question %d was answered with %v", number, r)
		}
	}
}

// query is an encoded InteractionQuery with an empty question of some kind.
func query(id uint32, number int32) []byte {
	out := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(id))
	return protowire.AppendBytes(protowire.AppendTag(out, protowire.Number(number), protowire.BytesType), nil)
}

func hasField(wire []byte, number protowire.Number) bool {
	for len(wire) > 0 {
		n, _, size := protowire.ConsumeField(wire)
		if size < 0 {
			return false
		}
		if n == number {
			return true
		}
		wire = wire[size:]
	}
	return false
}

// turn_ended is the only success.
func TestST10_EndWithoutItsSignIsAnError(t *testing.T) {
	for name, end := range map[string]error{"clean end": nil, "internal": failure(connect.CodeInternal), "reset": http.ErrAbortHandler} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(s *session) error {
				if err := s.say("par"); err != nil {
					return err
				}
				if errors.Is(end, http.ErrAbortHandler) {
					panic(http.ErrAbortHandler)
				}
				return end
			})
			a := b.ask(t, words("Hi"))
			if a.text != "par" || a.err == nil || a.err.Kind != chat.BadGateway || a.finish != nil {
				t.Errorf("got %+v", a)
			}
			if n := len(b.service.seen()); n != 1 {
				t.Errorf("%d runs after text was shown", n)
			}
		})
	}
}

func TestEM3_EmptyAnswerIsAnError(t *testing.T) {
	b := newBench(t, func(s *session) error { return s.end(nil) })
	if a := b.ask(t, words("Hi")); a.err == nil || a.err.Kind != chat.BadGateway || a.err.Code != CodeEmpty {
		t.Errorf("got %+v", a)
	}
}

// The service hears of a client that left, at once.
func TestRS4_LeavingCancelsTheRun(t *testing.T) {
	for name, leave := range map[string]func(context.CancelFunc) bool{
		"the loop is left":  func(context.CancelFunc) bool { return false },
		"the context ended": func(cancel context.CancelFunc) bool { cancel(); return true },
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan time.Time, 1)
			b := newBench(t, func(s *session) error {
				if err := s.say("x"); err != nil {
					return err
				}
				err := s.hang()
				gone <- time.Now()
				return err
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var left time.Time
			for range b.Chat(ctx, words("Hi")) {
				if left.IsZero() {
					left = time.Now()
				}
				if !leave(cancel) {
					break
				}
			}
			if took := (<-gone).Sub(left); took > 100*time.Millisecond {
				t.Errorf("the service heard of it after %v", took)
			}
			eventually(t, "the end of the run", func() bool { return len(b.runs.opened()) == 0 && b.service.live.Load() == 0 })
		})
	}
}

// A service that does not hear is left all the same.
func TestRS4_DeafServiceIsReset(t *testing.T) {
	release := make(chan struct{})
	b := newBench(t, func(s *session) error {
		if err := s.say("x"); err != nil {
			return err
		}
		<-release
		return nil
	})
	defer close(release)
	began := time.Now()
	for range b.Chat(t.Context(), words("Hi")) {
		break
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("leaving took %v", took)
	}
	eventually(t, "the end of the run", func() bool { return len(b.runs.opened()) == 0 })
}

func TestLimitOfTokens(t *testing.T) {
	b := newBench(t, func(s *session) error {
		for s.ctx.Err() == nil {
			if err := s.update(&pb.InteractionUpdate{Message: &pb.InteractionUpdate_TokenDelta{TokenDelta: &pb.TokenDeltaUpdate{Tokens: 2}}}); err != nil {
				return err
			}
			if err := s.say("ab"); err != nil {
				return err
			}
		}
		return errGivenUp
	}, func(cfg *Config, _ *timing) { cfg.LimitTokens = true })
	req := words("Hi")
	req.MaxTokens = 5
	a := b.ask(t, req)
	if a.text != "ababab" || a.finish == nil || a.finish.Reason != chat.Length {
		t.Errorf("got %+v", a)
	}
	eventually(t, "the end of the run", func() bool { return b.service.live.Load() == 0 })
}
