package tray

import (
	"fmt"
	"strings"

	"cursortray/app"
)

// noteLines is how many rows a message about the login may fill.
const noteLines = 3

// accountRows tell who is logged in and what they have used, and log in.
func accountRows(s app.Snapshot) []Item {
	rows := []Item{accountMenu(s)}
	rows = append(rows, noteRows("account.note", noteLines, loginNote(s.Account))...)
	return append(rows, loginRows(s)...)
}

// accountMenu is the account with its plan. It is shown to whoever is logged out,
// too, because hosts lose submenus that come late.
func accountMenu(s app.Snapshot) Item {
	a := s.Account
	known := a.State == app.LoggedIn || a.State == app.LoginPending && s.Plan.Title != ""
	refresh := choice("refresh", doRefresh, app.Refresh{})
	refresh.Hidden = !known
	page := choice("account.page", doAccountPage, app.OpenLink{Page: app.AccountPage})
	page.Hidden = a.State == app.NoAccount || s.Demo
	logout := choice("logout", doLogout, app.SignOut{})
	out := a.State == app.LoggedOut || a.State == app.LoginEnded
	logout.Hidden = a.State != app.LoggedIn && !(a.Deleting && out)
	rows := append([]Item{text("plan", planTitle(s))}, planRows(s)...)
	return submenu("account", accountTitle(a), append(rows, refresh, page, logout)...)
}

func accountTitle(a app.AccountStatus) string {
	switch a.State {
	case app.NoAccount:
		return accountNone
	case app.Unread:
		return accountUnread
	case app.LoginPending:
		return accountPending
	case app.LoggedIn:
		if plain(a.Email) == "" {
			return accountIn
		}
		return fmt.Sprintf(accountInAs, a.Email)
	case app.LoginEnded:
		return accountEnded
	}
	switch {
	case a.Deleting:
		return accountDeleting
	case a.Problem != nil:
		return accountLost
	default:
		return accountOut
	}
}

// loginNote says why the last attempt failed, or that the login will not last.
// Why nobody is logged in otherwise is told further up.
func loginNote(a app.AccountStatus) string {
	switch {
	case a.State == app.LoginPending:
		return ""
	case a.Login.Failure != nil:
		return fmt.Sprintf(loginFailed, a.Login.Failure.Message)
	default:
		return sentence(a.Warning)
	}
}

// loginRows are separate rows for starting and ending a login: in one that
// changes its meaning, a click for one of them could do another.
func loginRows(s app.Snapshot) []Item {
	a := s.Account
	out := a.State == app.LoggedOut || a.State == app.LoginEnded
	pending := a.State == app.LoginPending
	shown := func(show bool, item Item) Item {
		item.Hidden = !show
		return item
	}
	return []Item{
		shown(out, choice("login", doLogin, app.SignIn{})),
		shown(out, choice("login.key", doLoginKey, app.SignInWithKey{})),
		shown(pending, choice("login.cancel", doLoginCancel, app.CancelSignIn{})),
		shown(pending, choice("login.copy", doLoginCopy, app.CopyLoginURL{})),
		shown(a.Keyring == app.KeyringAbsent, choice("login.file", doKeepInFile, app.KeepLoginInFile{})),
	}
}

func planTitle(s app.Snapshot) string {
	switch in := s.Account.State == app.LoggedIn; {
	case plain(s.Plan.Title) != "":
		return s.Plan.Title
	case in && s.Plan.Problem != nil && plain(s.Plan.Problem.Message) != "":
		return fmt.Sprintf(planFailed, s.Plan.Problem.Message)
	case in:
		return planAsking
	default:
		return planOut
	}
}

// planRows are the figures, and how old they are.
func planRows(s app.Snapshot) []Item {
	var rows []Item
	for i, line := range s.Plan.Lines {
		key := fmt.Sprintf("plan.%d", i+1)
		rows = append(rows, hiddenIf(line.Value == "", text(key, line.Label+" "+line.Value)))
	}
	return append(rows, noteRows("plan.note", 2, planNote(s))...)
}

func planNote(s app.Snapshot) string {
	if s.Plan.Age == "" {
		return ""
	}
	parts := []string{fmt.Sprintf(planOld, s.Plan.Age)}
	if p := s.Plan.Problem; p != nil && s.Account.State == app.LoggedIn && s.Plan.Title != "" {
		parts = append(parts, p.Message)
	}
	return strings.Join(parts, "; ")
}
