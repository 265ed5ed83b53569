package tray

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		Backend: app.BackendStatus{ID: "agent", Name: "Cursor protocol", Choice: "auto", Reason: "logged in to Cursor"},
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
	all := make(map[string]app.Snapshot)
	for _, some := range []map[string]app.Snapshot{mainStates(), proxyStates(), accountStates(), detailStates()} {
		maps.Copy(all, some)
	}
	return all
}

// mainStates are those that people know by a name, with all there is to show.
func mainStates() map[string]app.Snapshot {
	in := func(changes ...func(*app.Snapshot)) app.Snapshot {
		return withAccount(app.LoggedIn, append([]func(*app.Snapshot){ada, withPlan, withModels, withConversations, withEditors, withRecent}, changes...)...)
	}
	failing := func(kind chat.Kind, code, message string) func(*app.Snapshot) {
		return func(s *app.Snapshot) { s.Backend.Problem = &chat.Error{Kind: kind, Code: code, Message: message} }
	}
	nobody := failing(chat.LoginRequired, cursor.CodeLoginRequired, `nobody is logged in to Cursor; log in from the tray or with "cursortray login"`)
	return map[string]app.Snapshot{
		"logged-out": withAccount(app.LoggedOut, nobody),
		"logging-in": withAccount(app.LoginPending, nobody, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, URL: "https://cursor.com/loginDeepControl?uuid=1"}
		}),
		"running":  in(),
		"starting": in(func(s *app.Snapshot) { s.Proxy.State = app.Starting }),
		"stopping": in(func(s *app.Snapshot) { s.Proxy.State, s.Proxy.Active = app.Stopping, 2 }),
		"stopped":  in(func(s *app.Snapshot) { s.Proxy.State = app.Stopped }),
		"port-busy": in(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Owner, s.Proxy.Next = app.Blocked, "nginx (pid 812)", "127.0.0.1:8766"
			s.Proxy.Problem = "port 8765 is used by nginx (pid 812)"
		}),
		"token-expired": withAccount(app.LoginEnded, ada, withModels, nobody, func(s *app.Snapshot) {
			s.Account.Problem = chat.Errorf(chat.LoginRequired, `Cursor has ended the login; log in again from the tray or with "cursortray login"`)
		}),
		"offline": in(failing(chat.BadGateway, cursor.CodeOffline, "Cursor cannot be reached; check the network connection"), func(s *app.Snapshot) {
			s.Plan.Age, s.Models.Age = "25 min ago", "3 days ago"
			s.Plan.Problem, s.Models.Problem = s.Backend.Problem, s.Backend.Problem
		}),
		"quota-reached": in(failing(chat.QuotaSpent, "", "the plan's allowance is used up; wait for its reset, or choose another model")),
		"guard-reached": in(func(s *app.Snapshot) {
			s.Guard = app.GuardStatus{Reached: "60 requests in an hour", Until: clock(15, 4), RunsHour: 60, SpentDay: "$4.20"}
		}),
		"guard-open": in(func(s *app.Snapshot) { s.Guard = app.GuardStatus{AllowedUntil: clock(15, 4), RunsHour: 61} }),
		"demo": with(func(s *app.Snapshot) {
			s.Demo, s.Backend = true, app.BackendStatus{Name: "simulated Cursor", Choice: "demo", Fixed: true}
			withModels(s)
		}),
		"client-outdated": in(failing(chat.BadGateway, codeOutdated, "Cursor wants a newer client; raise the client version in the settings")),
		"keyring-locked": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Keyring = app.KeyringLocked
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "the saved Cursor login cannot be used: the keychain is locked; unlock it")
		}),
		"keyring-absent": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Keyring = app.KeyringAbsent
			s.Account.Problem = chat.Errorf(chat.LoginRequired, `the saved Cursor login cannot be used: the store of secrets is not available: there is no D-Bus session; start a keyring, or set token_store = "file"`)
		}),
		"agent-missing": with(func(s *app.Snapshot) {
			s.Backend = app.BackendStatus{ID: "cli", Name: "cursor-agent", Choice: "cli", Reason: "set by the user", Problem: &chat.Error{
				Kind: chat.Unavailable, Code: codeNoCLI,
				Message: "Cursor's CLI could not be started. Install it as described on cursor.com/cli, or give its path in CURSORTRAY_CURSOR_AGENT.",
			}}
		}),
	}
}

// proxyStates are those of the port and of the way to Cursor.
func proxyStates() map[string]app.Snapshot {
	return map[string]app.Snapshot{
		"busy":          proxyIn(app.Running, 2),
		"busy-one":      proxyIn(app.Running, 1),
		"stopping-idle": proxyIn(app.Stopping, 0),
		"stopped-no-port": with(func(s *app.Snapshot) {
			s.Proxy = app.ProxyStatus{State: app.Stopped, Addr: "127.0.0.1:0"}
		}),
		"port-busy-unknown": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Problem = app.Blocked, "port 8765 is used by another program"
		}),
		"address-refused": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Addr = app.Blocked, "0.0.0.0:8765"
			s.Proxy.Problem = `the address "0.0.0.0:8765" can be reached from other machines, which could then use this Cursor account; ` +
				`listen on 127.0.0.1, or set allow_remote = true if that is what you want`
		}),
		"cli-logged-out": with(func(s *app.Snapshot) {
			s.Backend.Choice, s.Backend.ID = "cli", "cli"
			s.Backend.Problem = chat.Errorf(chat.LoginRequired, "not logged in to Cursor; run `cursor-agent login` in a terminal")
		}),
		"not-in-plan": failing(chat.NotInPlan, "the plan does not include this model"),
		"offline-stopped": with(func(s *app.Snapshot) {
			*s = failing(chat.BadGateway, "cursor.com did not answer")
			s.Proxy.State = app.Stopped
		}),
		"clock-wrong": with(func(s *app.Snapshot) {
			s.Backend.Problem = &chat.Error{Kind: chat.BadGateway, Code: cursor.CodeClock, Message: "the clock of this computer is wrong by 2 days; set it"}
		}),
		"key-locked": with(func(s *app.Snapshot) {
			s.KeyProblem, s.KeyKeyring = "the local API key lies in the keychain, which is locked; unlock it", app.KeyringLocked
		}),
		"key-problem": with(func(s *app.Snapshot) { s.KeyProblem = "the local API key cannot be read: the disk is full" }),
	}
}

func accountStates() map[string]app.Snapshot {
	return map[string]app.Snapshot{
		"account-unread": withAccount(app.Unread),
		"account-refused": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, Failure: chat.Errorf(chat.LoginRequired, "the login was refused; start it again")}
		}),
		"account-untrusted": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Login = app.LoginStatus{N: 1, Failure: chat.Errorf(chat.BadGateway,
				"the certificate of the server that answers for Cursor is not trusted; behind a company proxy, name its certificate in SSL_CERT_FILE")}
		}),
		"account-unnamed": withAccount(app.LoggedIn),
		"account-session": withAccount(app.LoggedIn, ada, func(s *app.Snapshot) {
			s.Account.Storage, s.Account.Warning = "memory", `the login lasts until cursortray ends, because token_store is "memory"`
		}),
		"account-unsaved": withAccount(app.LoggedIn, ada, func(s *app.Snapshot) {
			s.Account.Keyring = app.KeyringAbsent
			s.Account.Warning = `the login lasts until cursortray ends, because the keychain cannot keep it; start a keyring, or set token_store = "file" to keep it in a private file`
		}),
		"account-not-deleted": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Deleting = true
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "you are logged out, but the saved login cannot be deleted yet: the keychain is locked")
		}),
		"account-unreadable": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Keyring, s.Account.Storage = app.KeyringFailing, "file"
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "the saved Cursor login cannot be used: others can read the file it is in")
		}),
		"account-damaged": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Account.Keyring = app.KeyringDamaged
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "the saved Cursor login cannot be used: the stored value is damaged: its parts do not belong together")
		}),
		"account-no-figures": withAccount(app.LoggedIn, ada, func(s *app.Snapshot) {
			s.Plan.Problem = chat.Errorf(chat.BadGateway, "Cursor cannot be reached; check the network connection")
			s.Models.Problem = s.Plan.Problem
		}),
		"cli-by-choice": withAccount(app.LoggedOut, func(s *app.Snapshot) {
			s.Backend.Choice, s.Backend.ID = "cli", "cli"
			s.Account.Problem = chat.Errorf(chat.LoginRequired, "the saved Cursor login cannot be used")
		}),
	}
}

// detailStates are about parts of the menu.
func detailStates() map[string]app.Snapshot {
	return map[string]app.Snapshot{
		"models-300": withAccount(app.LoggedIn, ada, manyModels),
		"notice":     with(func(s *app.Snapshot) { s.Notice = app.Notice{Text: "Base URL copied", N: 1} }),
		"recording":  with(func(s *app.Snapshot) { s.Recording.Waiting = true }),
		"settings": with(func(s *app.Snapshot) {
			s.Preferences = app.Preferences{Known: true, StartProxy: true}
			s.Autostart = app.AutostartStatus{Known: true, On: true}
			s.Notifications, s.LogFile = allNotifications, "/home/ada/.local/state/cursortray/log"
		}),
		"settings-broken": with(func(s *app.Snapshot) {
			s.Autostart = app.AutostartStatus{Known: true, Problem: "the folder is read-only"}
		}),
		"plain-backend": with(func(s *app.Snapshot) { s.Backend = app.BackendStatus{Name: "cursor-agent"} }),
	}
}

func clock(hour, minute int) time.Time {
	return time.Date(2026, 11, 30, hour, minute, 0, 0, time.Local)
}

// withEditors has an editor in each state.
func withEditors(s *app.Snapshot) {
	s.Editors = &app.EditorList{All: []app.EditorStatus{
		{ID: "codex", Name: "Codex", Found: true, State: stateSetUp, Keyed: true, Runs: 12},
		{ID: "zed", Name: "Zed", Found: true, State: "not set up"},
		{ID: "cline", Name: "Cline", Found: true, State: stateSetUp, Keyed: true, Off: true},
		{ID: "aider", Name: "Aider", Found: true, State: stateSetUp, Keyed: true},
		{ID: "qwen", Name: "Qwen Code", Found: true, State: stateChanged, Keyed: true},
		{ID: "continue", Name: "Continue", Found: true, State: stateBroken},
		{ID: "other", Name: "Another editor", State: stateByHand},
		{ID: "goose", Name: "Goose", State: "not set up"},
	}}
}

func withRecent(s *app.Snapshot) {
	s.Recent = &app.RequestList{All: []app.Request{
		{At: clock(14, 3), Editor: "codex", Model: "claude-opus-5-5-high", Outcome: requestOK, Cost: "0.0712345", Context: &chat.Context{Used: 18200, Max: 200000}},
		{At: clock(14, 1), Model: "a-model-of-the-user-with-a-name-that-is-much-too-long-for-a-row", Outcome: requestOK, Cost: "0.0012"},
		{At: clock(13, 59), Editor: "zed", Model: "auto", Outcome: "cursor_unreachable"},
		{At: clock(9, 0), Outcome: "cancelled", Cost: "0"},
	}}
}

func TestMenuGolden(t *testing.T) {
	wanted := make(map[string]bool)
	for name, s := range goldenStates() {
		wanted[name+".golden"] = true
		t.Run(name, func(t *testing.T) {
			got := fmt.Sprintf("icon:    %s\ntooltip: %s\n\n%s", icon(s), tooltip(s), picture(Menu(s), ""))
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
	files, err := os.ReadDir(filepath.Join("testdata", "menu"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("%s belongs to no state", f.Name())
		}
	}
}

// picture draws the menu as a user sees it: boxes before what can be checked, a
// mark behind submenus, and behind a row what a click on it asks for.
func picture(items []Item, indent string) string {
	var b strings.Builder
	for _, item := range items {
		if item.Separator {
			b.WriteString(indent + strings.Repeat("-", 40) + "\n")
		}
		if item.Separator || item.Hidden {
			continue
		}
		line := indent
		switch {
		case item.Checked:
			line += "[x] "
		case item.Checkable:
			line += "[ ] "
		}
		line += item.Title
		switch {
		case item.Items != nil:
			line += " >"
		case item.Action != nil:
			line += strings.Repeat(" ", max(1, 66-utf8.RuneCountInString(line))) + "-> " + strings.ReplaceAll(fmt.Sprintf("%T%+[1]v", item.Action), "app.", "")
		}
		b.WriteString(strings.TrimSuffix(line, "{}") + "\n" + picture(item.Items, indent+"    "))
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
	if title := Menu(s)[0].Title; (icon(s) == assets.Problem) != strings.HasPrefix(title, "! ") {
		return fmt.Errorf("the icon is %s and the first row %q", icon(s), title)
	}
	// Only a Cursor that does not answer, and a login that is not there yet or on
	// its way, are shown by something else than an alert.
	if icon(s) == assets.Running && len(s.Problems()) > 0 {
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
