package tray

import (
	"fmt"
	"maps"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// The states that tests show.

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
			s.Notifications, s.LogFile = "login,port", "/home/ada/.local/state/cursortray/log"
		}),
		"settings-broken": with(func(s *app.Snapshot) {
			s.Autostart = app.AutostartStatus{Known: true, Problem: "the folder is read-only"}
		}),
		"default-model": with(func(s *app.Snapshot) {
			withModels(s)
			s.Models.Chosen, s.Models.List.Families[0].Default, s.Models.List.Families[1].Default = "claude-opus-5-5", false, true
		}),
		"default-variant": with(func(s *app.Snapshot) {
			withModels(s)
			s.Models.Chosen, s.Models.List.Families[0].Default, s.Models.List.Families[1].Variants[1].Default = "claude-opus-5-5-high", false, true
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
