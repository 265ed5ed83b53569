package tray

import (
	"fmt"
	"strings"

	"cursortray/app"
)

// noteLines is how many rows a message about the login may fill.
const noteLines = 3

// accountRows tell who is logged in, what they have used, and which models
// they have.
func accountRows(s app.Snapshot) []Item {
	a := s.Account
	rows := []Item{hiddenIf(a.State == app.NoAccount, text("account", accountTitle(a)))}
	rows = append(rows, noteRows("account.note", noteLines, loginNote(a))...)
	rows = append(rows, loginRows(a)...)
	rows = append(rows, planRows(s)...)
	in := a.State == app.LoggedIn || a.State == app.LoginPending && s.Plan.Title != ""
	refresh := choice("refresh", "Refresh", app.Refresh{})
	refresh.Hidden = !in
	return append(rows, refresh, modelsMenu(s), conversationsMenu(s))
}

func accountTitle(a app.AccountStatus) string {
	switch a.State {
	case app.Unread:
		return "Looking for the Cursor login..."
	case app.LoginPending:
		return "○ Confirm the login in the browser"
	case app.LoggedIn:
		if a.Email == "" {
			return "Logged in to Cursor"
		}
		return "Logged in as " + a.Email
	case app.LoginEnded:
		return "The Cursor login has ended"
	}
	switch {
	case a.Deleting:
		return "Logged out, but the login is still saved"
	case a.Problem != nil:
		return "The saved Cursor login cannot be read"
	default:
		return "Not logged in to Cursor"
	}
}

// loginNote says why the last attempt failed, or that the login will not last.
// Why nobody is logged in otherwise is among the problems.
func loginNote(a app.AccountStatus) string {
	switch {
	case a.State == app.LoginPending:
		return ""
	case a.Login.Failure != nil:
		return "Login failed: " + a.Login.Failure.Message
	default:
		return sentence(a.Warning)
	}
}

// noteRows makes n rows of a message.
func noteRows(key string, n int, message string) []Item {
	lines := wrap(message, n)
	rows := make([]Item, n)
	for i := range rows {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		rows[i] = hiddenIf(line == "", text(fmt.Sprintf("%s.%d", key, i+1), line))
	}
	return rows
}

// loginRows are separate rows for starting and ending a login: in one that
// changes its meaning, a click for one of them could do another.
func loginRows(a app.AccountStatus) []Item {
	out := a.State == app.LoggedOut || a.State == app.LoginEnded
	pending := a.State == app.LoginPending
	shown := func(show bool, item Item) Item {
		item.Hidden = !show
		return item
	}
	return []Item{
		shown(out, choice("login", "Log in…", app.SignIn{})),
		shown(out, choice("login.key", "Log in with an API key…", app.SignInWithKey{})),
		shown(pending, choice("login.cancel", "Cancel login", app.CancelSignIn{})),
		shown(pending, choice("login.page", "Open the login page again", app.OpenLoginPage{})),
		shown(pending, choice("login.copy", "Copy login link", app.CopyLoginURL{})),
		shown(a.State == app.LoggedIn || a.Deleting && out, choice("logout", "Log out", app.SignOut{})),
	}
}

// planRows are a title, the figures, and how old they are.
func planRows(s app.Snapshot) []Item {
	p := s.Plan
	rows := []Item{hiddenIf(p.Title == "", text("plan", p.Title))}
	for i, line := range p.Lines {
		key := fmt.Sprintf("plan.%d", i+1)
		rows = append(rows, hiddenIf(line.Value == "", text(key, line.Label+" "+line.Value)))
	}
	return append(rows, noteRows("plan.note", 2, planNote(s))...)
}

func planNote(s app.Snapshot) string {
	var parts []string
	if s.Plan.Age != "" {
		parts = append(parts, "Figures from "+s.Plan.Age)
	}
	if p := s.Plan.Problem; p != nil && s.Account.State == app.LoggedIn {
		if s.Plan.Title == "" {
			parts = append(parts, "Plan usage: "+p.Message)
		} else if s.Plan.Age != "" {
			parts = append(parts, p.Message)
		}
	}
	return strings.Join(parts, "; ")
}
