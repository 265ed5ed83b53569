package app

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/ledger"
	"cursortray/proxy/money"
	"cursortray/proxy/spend"
)

// pad is a ledger in memory.
type pad struct {
	mu      sync.Mutex
	entries []ledger.Entry
	before  []ledger.Entry
	loads   []ledger.Load
}

func (p *pad) Add(e ledger.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, e)
}

func (p *pad) Recent(context.Context, int) ([]ledger.Entry, error) { return p.before, nil }

func (p *pad) Load(context.Context, time.Time, time.Duration, string) ([]ledger.Load, error) {
	return p.loads, nil
}

func (p *pad) all() []ledger.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]ledger.Entry(nil), p.entries...)
}

// written waits for n entries.
func (r *rig) written(t *testing.T, p *pad, n int) []ledger.Entry {
	t.Helper()
	r.until(t, fmt.Sprintf("%d requests are written down", n), func(Snapshot) bool { return len(p.all()) >= n })
	return p.all()
}

func request(editor, model string, stop ...string) *chat.Request {
	return &chat.Request{
		Model: model, Stop: stop, Client: chat.Client{Key: editor, Dialect: chat.DialectChat},
		Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: "secret words"}}}},
	}
}

// TestEveryRequestIsWrittenDown: one entry each, however it ended.
func TestEveryRequestIsWrittenDown(t *testing.T) {
	used := &chat.Usage{Input: 10, Output: 5, CacheRead: 3, CacheWrite: 2, Reasoning: 1}
	full := &chat.Context{Used: 900, Max: 1000}
	failure := &chat.Error{Kind: chat.BadGateway, Message: "it broke"}
	coded := &chat.Error{Kind: chat.LoginRequired, Code: "cursor_login_required"}
	for _, c := range []struct {
		name  string
		turn  chattest.Turn
		model string
		leave bool
		stop  []string
		want  ledger.Entry
	}{
		{name: "served", turn: end("a", chat.Stop, used, full), model: "m", want: ledger.Entry{
			Model: "m", Outcome: "ok", Input: 10, Output: 5, CacheRead: 3, CacheWrite: 2, Reasoning: 1, Cost: "0.15", Context: 900, Window: 1000}},
		{name: "a pause for a tool", turn: end("a", chat.ToolCalls, nil, nil), model: "m", want: ledger.Entry{Model: "m", Outcome: "ok", Paused: true}},
		{name: "no figures, no price", turn: end("", chat.Stop, nil, nil), model: "m", want: ledger.Entry{Model: "m", Outcome: "ok"}},
		{name: "no price", turn: end("", chat.Stop, used, nil), model: "other", want: ledger.Entry{
			Model: "other", Outcome: "ok", Input: 10, Output: 5, CacheRead: 3, CacheWrite: 2, Reasoning: 1}},
		{name: "failed", turn: chattest.Turn{chattest.Text("x"), chattest.Fail(failure)}, model: "m", want: ledger.Entry{Outcome: "bad_gateway"}},
		{name: "a code", turn: chattest.Turn{chattest.Fail(coded)}, model: "what was said", want: ledger.Entry{Outcome: "cursor_login_required"}},
		{name: "the client left", turn: end("", chat.Stop, used, nil), model: "m", leave: true, want: ledger.Entry{Outcome: "cancelled"}},
		{name: "a stop text", turn: end("", chat.Stop, used, nil), model: "m", leave: true, stop: []string{"x"}, want: ledger.Entry{Model: "m", Outcome: "ok"}},
		{name: "a name that may be anything", turn: end("", chat.Stop, nil, nil), model: "/home/u/my secret", want: ledger.Entry{Outcome: "ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			book := &pad{}
			r := newRig(t, func(cfg *Config) { cfg.Costs, cfg.Ledger = flatCosts{}, book }, c.turn)
			before := time.Now()
			for range (observed{Backend: r.backend, app: r.App}).Chat(t.Context(), request("codex", c.model, c.stop...)) {
				if c.leave {
					break
				}
			}
			entries := r.written(t, book, 1)
			got := entries[0]
			if got.At.Before(before) || got.Took < 0 || got.Editor != "codex" || got.Dialect != "chat" || len(entries) != 1 {
				t.Errorf("%+v", entries)
			}
			got.At, got.Took, got.Editor, got.Dialect = time.Time{}, 0, "", ""
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			s := r.until(t, "it is shown", func(s Snapshot) bool { return s.Recent != nil })
			if first := s.Recent.All[0]; first.Outcome != c.want.Outcome || first.Cost != c.want.Cost || first.Editor != "codex" {
				t.Errorf("shown is %+v", first)
			}
		})
	}
}

func TestTheLastRequestsAreShown(t *testing.T) {
	book := &pad{}
	for i := range maxRecent {
		book.before = append(book.before, ledger.Entry{At: time.Now().Add(-time.Duration(i+1) * time.Hour), Outcome: "ok", Model: fmt.Sprint(i), Context: 5})
	}
	r := newRig(t, func(cfg *Config) { cfg.Ledger = book }, end("", chat.Stop, nil, nil))
	r.until(t, "those of the ledger are shown", func(s Snapshot) bool { return s.Recent != nil && s.Recent.All[0].Model == "0" })
	if _, err := chat.Collect(observed{Backend: r.backend, app: r.App}.Chat(t.Context(), request("", "new"))); err != nil {
		t.Fatal(err)
	}
	s := r.until(t, "the new one is shown", func(s Snapshot) bool { return s.Recent.All[0].Model == "new" })
	if all := s.Recent.All; len(all) != maxRecent || all[1].Model != "0" || all[1].Context.Used != 5 {
		t.Errorf("%+v", all)
	}
}

// TestGuardInTheApp: the limit refuses, is told, and is lifted by the action.
func TestGuardInTheApp(t *testing.T) {
	book := &pad{}
	dollar, err := money.Parse("0.15")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(cfg *Config) {
		cfg.Costs, cfg.Ledger = flatCosts{}, book
		cfg.Guard = spend.New(spend.Config{All: spend.Limits{MoneyDay: dollar}})
	}, end("a", chat.Stop, &chat.Usage{Input: 10, Output: 5}, nil))
	ask := func() *chat.Error {
		_, err := chat.Collect(observed{Backend: r.backend, app: r.App}.Chat(t.Context(), request("codex", "m")))
		return chat.AsError(err)
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	r.written(t, book, 1)
	refusal := ask()
	if refusal == nil || refusal.Kind != chat.RateLimited || refusal.Code != "spend_limit_money_day" || len(r.backend.Requests()) != 1 {
		t.Fatalf("%+v after %d requests", refusal, len(r.backend.Requests()))
	}
	if entries := r.written(t, book, 2); entries[1].Outcome != "spend_limit_money_day" {
		t.Errorf("%+v", entries[1])
	}
	s := r.until(t, "the limit is told", func(s Snapshot) bool { return s.Guard.Reached != "" })
	if g := s.Guard; g.Reached != "$0.15 a day for all editors together" || g.Until.IsZero() || g.RunsHour != 1 || g.SpentDay != "$0.15" || s.Notice.Text == "" {
		t.Errorf("%+v, notice %+v", g, s.Notice)
	}
	r.Do(AllowSpending{For: time.Hour})
	r.until(t, "it is lifted", func(s Snapshot) bool { return s.Guard.Reached == "" && !s.Guard.AllowedUntil.IsZero() })
	if err := ask(); err != nil {
		t.Errorf("lifted, but %v", err)
	}
	r.Do(AllowSpending{})
	r.until(t, "it holds again", func(s Snapshot) bool { return s.Guard.AllowedUntil.IsZero() })
	if ask() == nil {
		t.Error("let through after that")
	}
}
