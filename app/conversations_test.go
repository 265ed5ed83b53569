package app

import (
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/cursor"
)

// flatCosts prices every token of one model alike.
type flatCosts struct{}

func (flatCosts) Cost(c cursor.Charge) (cost cursor.Cost, ok bool) {
	if c.Model != "m" || !c.Summed {
		return cursor.Cost{}, false
	}
	for range c.Usage.Input + c.Usage.Output {
		var one cursor.Money
		if err := one.UnmarshalText([]byte("0.01")); err != nil {
			panic(err)
		}
		cost.Money = cost.Money.Add(one)
	}
	return cost, true
}

func end(conversation string, reason chat.Reason, usage *chat.Usage, context *chat.Context) chattest.Turn {
	return chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{Reason: reason, Conversation: conversation, Usage: usage, Context: context})}
}

func TestConversationsAreKept(t *testing.T) {
	full := &chat.Context{Used: 900, Max: 1000}
	used := &chat.Usage{Input: 10, Output: 5}
	r := newRig(t, func(c *Config) { c.Costs = flatCosts{} },
		end("a", chat.ToolCalls, nil, nil),
		end("a", chat.Stop, used, full),
		end("b", chat.Stop, nil, nil),
		end("", chat.Stop, used, full), // of a back-end that does not tell
		end("a", chat.Stop, used, nil),
	)
	seen := observed{Backend: r.backend, app: r.App}
	for range 5 {
		req := &chat.Request{Model: "m", Messages: []chat.Message{{Role: chat.User, Parts: []chat.Part{chat.Text{Text: "secret words"}}}}}
		if _, err := chat.Collect(seen.Chat(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
	}
	s := r.until(t, "all turns are counted", func(s Snapshot) bool {
		newest, ok := s.Conversations.Newest()
		return ok && newest.Turns == 2
	})
	all := s.Conversations.All
	if len(all) != 2 {
		t.Fatalf("conversations %+v", all)
	}
	a, b := all[0], all[1]
	if a.N != 1 || a.Model != "m" || a.Cost.Dollars() != "$0.30" || a.Unpriced || a.Context.Used != 900 || !a.Context.Stale || full.Stale {
		t.Errorf("the first is %+v, its context %+v", a, a.Context)
	}
	if b.N != 2 || b.Turns != 1 || b.Context != nil || !b.Unpriced || CostText(b) != "" {
		t.Errorf("the second is %+v", b)
	}
}

// A conversation costs what all its calls of the model used, with the fee of a
// team's plan, and it tells which model Auto chose.
func TestConversationCost(t *testing.T) {
	b := chattest.New(chattest.Turn{chattest.Text("x"), chattest.End(chat.Finish{
		Conversation: "a", Usage: &chat.Usage{Input: 1}, Billed: &chat.Usage{Input: 10, Output: 5}, Routed: "Opus 5"})})
	var charges []cursor.Charge
	costs := costsFunc(func(c cursor.Charge) (cost cursor.Cost, ok bool) {
		charges = append(charges, c)
		text := "1"
		if c.Model == "Opus 5" {
			text = "2"
		}
		return cost, cost.Money.UnmarshalText([]byte(text)) == nil
	})
	r := newRig(t, func(c *Config) { c.Costs = costs; c.Backend = b })
	r.App.inbox.put(func(m *machine) { m.plan.latest.Team = true })
	if _, err := chat.Collect(observed{Backend: b, app: r.App}.Chat(t.Context(), &chat.Request{Model: "auto"})); err != nil {
		t.Fatal(err)
	}
	s := r.until(t, "the turn is counted", func(s Snapshot) bool { _, ok := s.Conversations.Newest(); return ok })
	c, _ := s.Conversations.Newest()
	if c.Routed != "Opus 5" || c.Cost.String() != "$1.00" || !c.Rough {
		t.Errorf("%+v", c)
	}
	if len(charges) != 2 || charges[0].Usage.Input != 10 || !charges[0].Team || charges[0].Model != "auto" {
		t.Errorf("charged %+v", charges)
	}
}

// costsFunc is a function as Costs.
type costsFunc func(cursor.Charge) (cursor.Cost, bool)

func (f costsFunc) Cost(c cursor.Charge) (cursor.Cost, bool) { return f(c) }

func TestConversationsGoAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &counting{Backend: chattest.New(end("a", chat.Stop, nil, nil))}
		a, finish := quiet(t, b)
		defer finish()
		seen := observed{Backend: b, app: a}
		if _, err := chat.Collect(seen.Chat(t.Context(), &chat.Request{Model: "m"})); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, ok := a.Snapshot().Conversations.Newest(); !ok {
			t.Error("the conversation is not shown")
		}
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if s := a.Snapshot().Conversations; s != nil {
			t.Errorf("after a day %+v is shown", s)
		}
	})
}

func TestConversationsOfAnotherAccountGo(t *testing.T) {
	account := newFakeAccount()
	r := newRig(t, func(c *Config) { c.Account, c.AccountChanged = account, account.changed }, end("a", chat.Stop, nil, nil))
	seen := observed{Backend: r.backend, app: r.App}
	if _, err := chat.Collect(seen.Chat(t.Context(), &chat.Request{Model: "m"})); err != nil {
		t.Fatal(err)
	}
	r.until(t, "it is shown", func(s Snapshot) bool { return s.Conversations != nil })
	account.set(cursor.AccountState{SignedIn: true, Storage: "keychain"})
	r.until(t, "it is gone", func(s Snapshot) bool { return s.Conversations == nil && s.Account.State == LoggedIn })
}

func TestContextFigures(t *testing.T) {
	parts := func(n int) []chat.ContextPart {
		return []chat.ContextPart{{ID: "system_prompt", Label: "System prompt", Tokens: 1000}, {ID: "tools", Tokens: n}}
	}
	for _, c := range []struct {
		context *chat.Context
		percent float64
		known   bool
		parts   string
	}{
		{nil, 0, false, ""},
		{&chat.Context{Used: 45000, Max: 256000}, 17.6, true, ""},
		{&chat.Context{Used: 4125, Max: 10000, Parts: parts(3125)}, 41.3, true, "System prompt 1K · tools 3.1K"},
		{&chat.Context{Used: 310000, Max: 300000, Parts: parts(3000)}, 100, true, "System prompt 1K · tools 3K (approx.)"},
		{&chat.Context{Used: 45123}, 0, false, ""},
		{&chat.Context{Used: -5, Max: 10}, 0, true, ""},
	} {
		if percent, ok := ContextPercent(c.context); percent != c.percent || ok != c.known {
			t.Errorf("%+v: %v %v", c.context, percent, ok)
		}
		if text := ContextParts(c.context); text != c.parts {
			t.Errorf("%+v: %q", c.context, text)
		}
	}
}
