package notify

import (
	"fmt"
	"net"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Kind is what a note is about; the setting notifications lists kinds.
type Kind string

const (
	Login    Kind = "login"     // somebody has to log in
	SignedIn Kind = "signed-in" // somebody has
	Port     Kind = "port"      // the port could not be opened
	Proxy    Kind = "proxy"     // the proxy broke
	Plan     Kind = "plan"      // the plan is used up
	Limit    Kind = "limit"     // a limit of the user's own is reached
	Tray     Kind = "tray"      // nothing shows the icon
)

// Kinds lists all of them.
func Kinds() []Kind { return []Kind{Login, SignedIn, Port, Proxy, Plan, Limit, Tray} }

// Note is a notification.
type Note struct {
	Kind Kind
	// Cause tells apart what is told once each.
	Cause       string
	Title, Body string
	Click       app.Action // what a click leads to; nil: nothing
	Label       string     // says so
	Buttons     []Button   // further ones
}

// Button is a button of a note.
type Button struct {
	Label  string
	Action app.Action
}

// Decide returns what has come up between two Snapshots, the most urgent first.
func Decide(was, is app.Snapshot) []Note {
	var notes []Note
	for _, about := range []func(app.Snapshot) (Note, bool){proxyNote, loginNote, planNote, limitNote, trayNote} {
		now, up := about(is)
		before, wasUp := about(was)
		if up && !(wasUp && before.Kind == now.Kind && before.Cause == now.Cause) {
			notes = append(notes, now)
		}
	}
	if was.Account.State == app.LoginPending && is.Account.State == app.LoggedIn {
		notes = append(notes, signedIn(is))
	}
	return notes
}

// passed says that the trouble is over, after which the same cause is news
// again. A port that is tried again is not yet over it.
func passed(kind Kind, is app.Snapshot) bool {
	switch kind {
	case Port, Proxy:
		return is.Proxy.State == app.Running || is.Proxy.State == app.Stopped
	case Login:
		_, up := loginNote(is)
		return !up && is.Account.State != app.LoginPending
	case Plan:
		_, up := planNote(is)
		return !up
	case Limit:
		return is.Guard.Reached == ""
	case SignedIn:
		return is.Account.State != app.LoggedIn
	}
	return false // once per run
}

func proxyNote(s app.Snapshot) (Note, bool) {
	p := s.Proxy
	if p.State != app.Blocked {
		return Note{}, false
	}
	n := Note{Kind: Port, Cause: p.Addr + " " + p.Owner, Title: "The proxy is not running", Body: sentence(p.Problem), Click: app.StartProxy{}, Label: "Try again"}
	if p.Broke {
		n.Kind = Proxy
	}
	if _, port, err := net.SplitHostPort(p.Next); err == nil {
		n.Buttons = []Button{{"Use port " + port, app.UseNextPort{}}}
	}
	return n, true
}

func loginNote(s app.Snapshot) (Note, bool) {
	problem := s.Backend.Problem
	switch {
	case s.Demo || s.Account.State == app.LoginPending:
	case s.Backend.Choice != "cli" && s.Account.State == app.LoginEnded:
		return Note{
			Kind: Login, Cause: "ended", Title: "Cursor has ended your login",
			Body: "Editors get no answers until you log in again.", Click: app.SignIn{}, Label: "Log in",
		}, true
	case problem == nil || problem.Kind != chat.LoginRequired:
	case s.Backend.Choice == "cli":
		return Note{
			Kind: Login, Cause: "cli", Title: "cursor-agent is signed out",
			Body: sentence(problem.Message), Click: app.Recheck{}, Label: "Check again",
		}, true
	case s.Account.State == app.LoggedOut:
		return Note{
			Kind: Login, Cause: "out", Title: "You are not logged in to Cursor",
			Body: "Editors get no answers until you log in.", Click: app.SignIn{}, Label: "Log in",
		}, true
	}
	return Note{}, false
}

// codeDevices is the back-ends' name for an account that is used on more computers
// than Cursor allows.
const codeDevices = "too_many_devices"

func planNote(s app.Snapshot) (Note, bool) {
	problem := s.Backend.Problem
	if problem == nil || problem.Kind != chat.QuotaSpent {
		return Note{}, false
	}
	if problem.Code == codeDevices {
		return Note{
			Kind: Plan, Cause: "computers", Title: "Cursor counts too many computers",
			Body: sentence(problem.Message), Click: app.OpenDashboard{Page: "spend"}, Label: "Show",
		}, true
	}
	return Note{
		Kind: Plan, Cause: "spent", Title: "Your Cursor plan is used up",
		Body: sentence(problem.Message), Click: app.OpenDashboard{Page: "spend"}, Label: "Show",
	}, true
}

func limitNote(s app.Snapshot) (Note, bool) {
	if s.Guard.Reached == "" {
		return Note{}, false
	}
	return Note{
		Kind: Limit, Cause: s.Guard.Reached, Title: "A limit of yours is reached",
		Body:  sentence(s.Guard.Reached) + " Requests are refused until it lets them through again.",
		Click: app.OpenDashboard{Page: "spend"}, Label: "Show", Buttons: []Button{{"Allow for an hour", app.AllowSpending{For: time.Hour}}},
	}, true
}

func trayNote(s app.Snapshot) (Note, bool) {
	if s.NoTray == "" {
		return Note{}, false
	}
	return Note{
		Kind: Tray, Cause: "none", Title: "cursortray runs without an icon",
		Body: sentence(s.NoTray), Click: app.OpenDashboard{}, Label: "Open dashboard",
	}, true
}

func signedIn(s app.Snapshot) Note {
	n := Note{
		Kind: SignedIn, Cause: fmt.Sprint(s.Account.Login.N), Title: "You are logged in to Cursor",
		Body: "Editors can use it now.", Click: app.OpenDashboard{Page: "editors"}, Label: "Set up an editor",
	}
	if s.Account.Email != "" {
		n.Title = "Logged in as " + s.Account.Email
	}
	return n
}

// sentence makes a message of the program the text of a note.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	text := []rune(message)
	if first := string(text[0]); first >= "a" && first <= "z" {
		text[0] -= 'a' - 'A'
	}
	if last := text[len(text)-1]; last != '.' && last != '!' && last != '?' {
		text = append(text, '.')
	}
	return string(text)
}
