package tray

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cursortray/app"
	"cursortray/assets"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func base() app.Snapshot {
	return app.Snapshot{
		Version: "1.2.3",
		Proxy:   app.ProxyStatus{State: app.Running, Addr: "127.0.0.1:8765", BaseURL: "http://127.0.0.1:8765/v1"},
		Backend: app.BackendStatus{Name: "cursor-agent", Choice: "auto", Reason: "found in PATH"},
	}
}

func with(change func(*app.Snapshot)) app.Snapshot {
	s := base()
	change(&s)
	return s
}

func proxyIn(state app.ProxyState, active int) app.Snapshot {
	return with(func(s *app.Snapshot) { s.Proxy.State, s.Proxy.Active = state, active })
}

func failing(kind chat.Kind, message string) app.Snapshot {
	return with(func(s *app.Snapshot) { s.Backend.Problem = chat.Errorf(kind, "%s", message) })
}

// withAccount is a snapshot with an account in that state.
func withAccount(state app.AccountState, changes ...func(*app.Snapshot)) app.Snapshot {
	return with(func(s *app.Snapshot) {
		s.Account = app.AccountStatus{State: state, Storage: "keychain"}
		for _, change := range changes {
			change(s)
		}
	})
}

func ada(s *app.Snapshot) { s.Account.Email = "ada@example.com" }

func withPlan(s *app.Snapshot) {
	s.Plan.Title = "Cursor Pro · resets 9 Nov"
	s.Plan.Lines = [app.MaxPlanLines]app.PlanLine{
		{Label: "Cursor models", Value: "41.3%"}, {Label: "Other models", Value: "100%"},
		{Label: "Included", Value: "$20.00 of $20.00 (+ $14.61 bonus)"}, {Label: "On-demand", Value: "$17.85 of $50.00"},
	}
}

// withModels has the kinds of models that there are.
func withModels(s *app.Snapshot) {
	s.Models.List = &app.ModelList{IDs: 7, Families: []app.Family{
		{ModelEntry: app.ModelEntry{ID: "default", Name: "Auto", Price: "$1.25 / $6", Window: 200_000, Default: true}},
		{ModelEntry: app.ModelEntry{ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Price: "$4 / $20", Window: 300_000, MaxWindow: 1_000_000}, Variants: []app.ModelEntry{
			{ID: "claude-opus-5-5@1m", Name: "Claude Opus 5.5 1M", Price: "$4 / $20", Window: 1_000_000},
			{ID: "claude-opus-5-5-high", Name: "Claude Opus 5.5 High", Price: "$4 / $20", Window: 300_000},
			{ID: "claude-opus-5-5-high-fast", Name: "Claude Opus 5.5 High Fast", Price: "$8 / $40", Window: 300_000},
		}},
		{ModelEntry: app.ModelEntry{ID: "my_own", Name: "A model of the user's own with a name that is much too long for it"}},
		{ModelEntry: app.ModelEntry{ID: "gpt-5.6-sol", Name: "", Window: 272_000}},
	}}
}

// manyModels has more than there are rows for.
func manyModels(s *app.Snapshot) {
	list := &app.ModelList{IDs: 300}
	for i := range 60 {
		f := app.Family{ModelEntry: app.ModelEntry{ID: fmt.Sprintf("model-%d", i), Name: fmt.Sprintf("Model %d", i), Default: i == 0}}
		for j := range 4 {
			f.Variants = append(f.Variants, app.ModelEntry{ID: fmt.Sprintf("model-%d-v%d", i, j)})
		}
		list.Families = append(list.Families, f)
	}
	s.Models.List = list
}

// goldenStates has every state that the menu tells apart.
func goldenStates() map[string]app.Snapshot {
	return map[string]app.Snapshot{
		"account-unread": withAccount(app.Unread),
		"account-out":    withAccount(app.LoggedOut),
		"account-refused": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, Failure: chat.Errorf(chat.LoginRequired, "the login was refused; start it again")}
		}),
		"account-untrusted": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, Failure: chat.Errorf(chat.BadGateway,
				"the certificate of the server that answers for Cursor is not trusted; behind a company proxy, name its certificate in SSL_CERT_FILE")}
		}),
		"account-pending": withAccount(app.LoginPending, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, URL: "https://cursor.com/loginDeepControl?uuid=1"}
		}),
		"account-in":      withAccount(app.LoggedIn, ada),
		"account-unnamed": withAccount(app.LoggedIn),
		"account-full":    withAccount(app.LoggedIn, ada, withPlan, withModels),
		"account-session": withAccount(app.LoggedIn, ada, func(s *app.Snapshot) {
			s.Account.Storage, s.Account.Warning = "memory", `the login lasts until cursortray ends, because token_store is "memory"`
		}),
		"account-expired": withAccount(app.LoginEnded, func(s *app.Snapshot) {
			s.Account.Problem = chat.Errorf(chat.LoginRequired, `Cursor has ended the login; log in again from the tray or with "cursortray login"`)
		}),
		"account-locked": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "the saved Cursor login cannot be used: the keychain is locked; unlock it")
		}),
		"account-not-deleted": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Deleting = true
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "you are logged out, but the saved login cannot be deleted yet: the keychain is locked")
		}),
		"account-old-figures": withAccount(app.LoggedIn, ada, withPlan, withModels, func(s *app.Snapshot) {
			s.Plan.Age, s.Models.Age = "25 min ago", "3 days ago"
			s.Plan.Problem = chat.Errorf(chat.BadGateway, "Cursor cannot be reached; check the network connection")
			s.Models.Problem = s.Plan.Problem
		}),
		"account-no-figures": withAccount(app.LoggedIn, ada, func(s *app.Snapshot) {
			s.Plan.Problem = chat.Errorf(chat.BadGateway, "Cursor cannot be reached; check the network connection")
			s.Models.Problem = s.Plan.Problem
		}),
		"models-300": withAccount(app.LoggedIn, ada, manyModels),

		"running":         base(),
		"busy":            proxyIn(app.Running, 2),
		"busy-one":        proxyIn(app.Running, 1),
		"starting":        proxyIn(app.Starting, 0),
		"stopping":        proxyIn(app.Stopping, 0),
		"stopping-active": proxyIn(app.Stopping, 2),
		"stopped":         proxyIn(app.Stopped, 0),
		"stopped-no-port": with(func(s *app.Snapshot) {
			s.Proxy = app.ProxyStatus{State: app.Stopped, Addr: "127.0.0.1:0"}
		}),
		"port-busy": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Owner = app.Blocked, "nginx (pid 812)"
			s.Proxy.Problem = "port 8765 is used by nginx (pid 812)"
		}),
		"port-busy-unknown": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Problem = app.Blocked, "port 8765 is used by another program"
		}),
		"address-refused": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Addr = app.Blocked, "0.0.0.0:8765"
			s.Proxy.Problem = `the address "0.0.0.0:8765" can be reached from other machines, which could then use this Cursor account; ` +
				`listen on 127.0.0.1, or set allow_remote = true if that is what you want`
		}),
		"login-required": failing(chat.LoginRequired, "not logged in to Cursor; run `cursor-agent login` in a terminal"),
		"not-installed":  failing(chat.Unavailable, "cursor-agent was not found; install it from cursor.com/cli or set cursor_agent in the settings"),
		"quota":          failing(chat.QuotaSpent, "the plan's allowance is used up until 3 December"),
		"not-in-plan":    failing(chat.NotInPlan, "the plan does not include this model"),
		"offline":        failing(chat.BadGateway, "cursor.com did not answer"),
		"key-locked":     with(func(s *app.Snapshot) { s.KeyProblem = "the keychain is locked; unlock it and check again" }),
		"demo": with(func(s *app.Snapshot) {
			s.Demo, s.Backend = true, app.BackendStatus{Name: "simulated Cursor", Choice: "demo"}
			withModels(s)
		}),
		"conversations": with(withConversations),
		"notice":        with(func(s *app.Snapshot) { s.Notice = app.Notice{Text: "Base URL copied", N: 1} }),
		"long-reason": with(func(s *app.Snapshot) {
			s.Backend.Reason = "the only way to reach Cursor in this version"
		}),
		"plain-backend": with(func(s *app.Snapshot) { s.Backend = app.BackendStatus{Name: "cursor-agent"} }),
	}
}

func TestMenuGolden(t *testing.T) {
	for name, s := range goldenStates() {
		t.Run(name, func(t *testing.T) {
			got := fmt.Sprintf("icon: %s\ntooltip: %s\n\n%s", icon(s), tooltip(s), picture(Menu(s), ""))
			file := filepath.Join("testdata", "menu", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("menu differs (-want +got); -update rewrites it:\n%s", d)
			}
		})
	}
}

// picture writes the menu as a user sees it, with keys and actions.
func picture(items []Item, indent string) string {
	var b strings.Builder
	for _, item := range items {
		if item.Separator {
			b.WriteString(indent + "----\n")
			continue
		}
		line := fmt.Sprintf("%s%-12s %s", indent, item.Key, item.Title)
		if item.Action != nil {
			line += fmt.Sprintf("   -> %T", item.Action)
			if copied, ok := item.Action.(app.CopyModel); ok {
				line += " " + copied.ID
			}
		} else if !item.Enabled {
			line += "   (text)"
		}
		if item.Checked {
			line += "   (checked)"
		}
		if item.Hidden && (strings.HasPrefix(item.Key, "model.") || strings.HasPrefix(item.Key, "talk")) {
			continue // a slot
		}
		if item.Hidden {
			line = fmt.Sprintf("%s%-12s (hidden)", indent, item.Key)
		}
		b.WriteString(line + "\n" + picture(item.Items, indent+"    "))
	}
	return b.String()
}

func TestMenuKeepsTheRules(t *testing.T) {
	for name, s := range goldenStates() {
		if err := brokenRule(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 700 {
		s := randomSnapshot(rng)
		if err := brokenRule(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
}

// brokenRule names a rule of tray menus that the menu of s breaks.
func brokenRule(s app.Snapshot) error {
	keys := make(map[string]bool)
	if err := brokenLevel(Menu(s), 1, keys); err != nil {
		return err
	}
	if len(tooltip(s)) == 0 || len(utf16(tooltip(s))) > 127 {
		return fmt.Errorf("the tooltip %q has the wrong length", tooltip(s))
	}
	if (icon(s) == assets.Problem) != (len(s.Problems()) > 0) {
		return fmt.Errorf("the icon is %s with the problems %v", icon(s), s.Problems())
	}
	return nil
}

// brokenLevel looks at a menu or submenu.
func brokenLevel(items []Item, level int, keys map[string]bool) error {
	visible := 0
	for i, item := range items {
		if item.Key == "" || keys[item.Key] {
			return fmt.Errorf("the key %q is empty or taken", item.Key)
		}
		keys[item.Key] = true
		switch {
		case item.Separator && visible == 0:
			return fmt.Errorf("nothing is visible above %s", item.Key)
		case item.Separator:
			visible = 0
		case level > 1 && i == 0 && item.Hidden:
			return fmt.Errorf("the first row of a submenu, %s, is hidden", item.Key)
		case !item.Hidden:
			visible++
			if err := badTitle(item.Title); err != nil {
				return err
			}
		}
		if item.Items == nil && item.Enabled != (item.Action != nil) {
			return fmt.Errorf("%s: enabled is %v, but the action is %v", item.Key, item.Enabled, item.Action)
		}
		if item.Items == nil {
			continue
		}
		if level == 2 || item.Hidden {
			return fmt.Errorf("%s is a submenu in a submenu, or hidden", item.Key)
		}
		if err := brokenLevel(item.Items, level+1, keys); err != nil {
			return err
		}
	}
	if visible == 0 {
		return errors.New("nothing is visible in the last group")
	}
	return nil
}

func badTitle(title string) error {
	if title == "" || utf8.RuneCountInString(title) > 60 || strings.ContainsAny(title, "\t\n\r") || !utf8.ValidString(title) {
		return fmt.Errorf("bad title %q", title)
	}
	for _, r := range title {
		if r >= 0x1f000 {
			return fmt.Errorf("emoji in %q", title)
		}
	}
	return nil
}

func utf16(s string) []rune {
	var units []rune
	for _, r := range s {
		units = append(units, r)
		if r > 0xffff {
			units = append(units, r)
		}
	}
	return units
}

func withConversations(s *app.Snapshot) {
	var cost cursor.Money
	if err := cost.UnmarshalText([]byte("1.3912")); err != nil {
		panic(err)
	}
	s.Conversations = &app.ConversationList{All: []app.Conversation{
		{Model: "claude-opus-5-5-high", Turns: 3, Cost: cost, Context: &chat.Context{Used: 45000, Max: 256000, Parts: []chat.ContextPart{
			{ID: "system_prompt", Label: "System prompt", Tokens: 1000}, {ID: "tools", Label: "Tools", Tokens: 9000}, {ID: "conversation", Label: "Conversation", Tokens: 35000},
		}}},
		{Model: "a-model-of-the-user-with-a-name-that-is-much-too-long-for-a-row", Turns: 1, Cost: cost, Rough: true, Context: &chat.Context{Used: 182400, Max: 200000, Stale: true}},
		{Model: "full", Turns: 2, Context: &chat.Context{Used: 310000, Max: 300000}},
		{Model: "no-window", Turns: 2, Context: &chat.Context{Used: 45123}},
		{Model: "composer-2 over the CLI", Turns: 12},
	}}
}

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
	randomAccount(rng, words, &s)
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
	s.Models = app.ModelsStatus{Age: words(), Problem: problem()}
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
}

func TestMenuHasTheSameRowsInEveryState(t *testing.T) {
	shape := func(s app.Snapshot) (keys []string) {
		each(Menu(s), func(item Item) { keys = append(keys, item.Key) })
		return keys
	}
	want := shape(base())
	for name, s := range goldenStates() {
		if d := cmp.Diff(want, shape(s)); d != "" {
			t.Errorf("%s: rows differ:\n%s", name, d)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want []string
	}{
		{"", 3, nil},
		{"one", 3, []string{"one"}},
		{strings.Repeat("abcd ", 13), 3, []string{strings.TrimSpace(strings.Repeat("abcd ", 12)), "abcd"}},
		{strings.Repeat("abcd ", 30), 2, []string{
			strings.TrimSpace(strings.Repeat("abcd ", 12)),
			strings.Repeat("abcd ", 11) + "ab...",
		}},
		{"line\nbreak\tand \U0001f600 tab", 3, []string{"line break and tab"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.in, c.n)); d != "" {
			t.Errorf("wrap(%q, %d):\n%s", c.in, c.n, d)
		}
	}
}

func FuzzClip(f *testing.F) {
	for _, s := range []string{"", "a", "\t", "\xff\xfe", strings.Repeat("日", 100), "a\u202eb", "\U0001f469\u200d\U0001f4bb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := clip(s); got != "" {
			if err := badTitle(got); err != nil {
				t.Error(err)
			}
		}
		for _, line := range wrap(s, 3) {
			if err := badTitle(clip(line)); err != nil && clip(line) != "" {
				t.Error(err)
			}
		}
	})
}
