package tray

import (
	"math/rand/v2"
	"strings"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Snapshots that nobody would think of.

func randomSnapshot(rng *rand.Rand) app.Snapshot {
	words := func() string {
		pieces := []string{"a", "nginx", "\t", "\n", "_", "&", "\U0001f600", "ü", "日本", "%", strings.Repeat("long", 9), "\x00", "\xff", "e\u0301", " "}
		var b strings.Builder
		for range rng.IntN(40) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	s := app.Snapshot{Version: words(), Demo: rng.IntN(2) == 0, Notice: app.Notice{Text: words()}}
	s.Proxy = app.ProxyStatus{State: app.ProxyState(rng.IntN(5)), Addr: words(), BaseURL: words(), Active: rng.IntN(3)}
	if s.Proxy.State == app.Blocked {
		s.Proxy.Owner, s.Proxy.Problem = words(), "p"+words()
	}
	s.Backend = app.BackendStatus{Name: words(), Choice: words(), Reason: words()}
	if rng.IntN(2) == 0 {
		s.Backend.Problem = chat.Errorf(chat.Kind(rng.IntN(15)), "%s", words())
	}
	if rng.IntN(4) == 0 {
		s.KeyProblem = words()
	}
	s.Proxy.Next, s.LogFile, s.Notifications = words(), words(), words()
	randomAccount(rng, words, &s)
	randomLists(rng, words, &s)
	return s
}

func randomAccount(rng *rand.Rand, words func() string, s *app.Snapshot) {
	problem := func() *chat.Error {
		if rng.IntN(3) > 0 {
			return nil
		}
		return chat.Errorf(chat.Kind(rng.IntN(15)), "%s", words())
	}
	s.Account = app.AccountStatus{State: app.AccountState(rng.IntN(6)), Email: words(), Warning: words(), Problem: problem()}
	if s.Account.State != app.LoggedOut && s.Account.State != app.LoginEnded {
		s.Account.Problem = nil // it belongs to those
	}
	s.Account.Login.Failure = problem()
	s.Plan = app.PlanStatus{Title: words(), Age: words(), Problem: problem()}
	for i := range rng.IntN(app.MaxPlanLines) {
		s.Plan.Lines[i] = app.PlanLine{Label: words(), Value: words()}
	}
	if rng.IntN(2) == 0 {
		s.Conversations = &app.ConversationList{}
		for range rng.IntN(14) {
			c := app.Conversation{Model: words(), Turns: rng.IntN(3)}
			if rng.IntN(3) > 0 {
				c.Context = &chat.Context{Used: rng.IntN(3_000_000) - 10, Max: rng.IntN(3) * rng.IntN(2_000_000), Stale: rng.IntN(2) == 0,
					Parts: []chat.ContextPart{{ID: words(), Label: words(), Tokens: rng.IntN(1000)}}}
			}
			s.Conversations.All = append(s.Conversations.All, c)
		}
	}
	s.Models = app.ModelsStatus{Age: words(), Problem: problem(), Chosen: words()}
	if rng.IntN(2) == 0 {
		return
	}
	entry := func() app.ModelEntry {
		return app.ModelEntry{ID: "i" + words(), Name: words(), Price: words(), Window: rng.IntN(3_000_000) - 1000, Default: rng.IntN(2) == 0}
	}
	list := &app.ModelList{IDs: rng.IntN(400)}
	for range rng.IntN(30) {
		f := app.Family{ModelEntry: entry()}
		for range rng.IntN(20) {
			f.Variants = append(f.Variants, entry())
		}
		list.Families = append(list.Families, f)
	}
	s.Models.List = list
	if n := len(list.Families); n > 0 && rng.IntN(2) == 0 {
		s.Models.Chosen = list.Families[rng.IntN(n)].ID
	}
}

func randomLists(rng *rand.Rand, words func() string, s *app.Snapshot) {
	if rng.IntN(2) == 0 {
		s.Guard = app.GuardStatus{Reached: words(), Until: clock(rng.IntN(24), 1), RunsHour: rng.IntN(2), SpentDay: words()}
	}
	if rng.IntN(2) == 0 {
		s.Editors = &app.EditorList{}
		states := []string{stateSetUp, stateChanged, stateBroken, stateByHand, "not set up", words()}
		for range rng.IntN(40) {
			s.Editors.All = append(s.Editors.All, app.EditorStatus{
				ID: "i" + words(), Name: words(), Found: rng.IntN(2) == 0, State: states[rng.IntN(len(states))],
				Keyed: rng.IntN(2) == 0, Off: rng.IntN(2) == 0, Runs: rng.IntN(2000),
			})
		}
	}
	if rng.IntN(2) == 0 {
		s.Recent = &app.RequestList{}
		for range rng.IntN(14) {
			r := app.Request{At: clock(rng.IntN(24), rng.IntN(60)), Editor: words(), Model: words(), Outcome: words(), Cost: words()}
			if rng.IntN(2) == 0 {
				r.Context = &chat.Context{Used: rng.IntN(3_000_000) - 10}
			}
			s.Recent.All = append(s.Recent.All, r)
		}
	}
}
