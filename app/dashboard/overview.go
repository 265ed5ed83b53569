package dashboard

import (
	"cursortray/app"
	"cursortray/proxy/chat"
)

func overviewPage() *page {
	return &page{
		name: "overview", title: "Overview",
		parts: []string{"overview.problems", "overview.tiles", "overview.running"},
		view:  func(_ *Dashboard, v *visit) any { return overviewOf(v) },
	}
}

// overview is the page that says what is wrong and how things are.
type overview struct {
	Troubles []trouble
	Tiles    []tile
	Talks    []talk
	Active   int
}

// trouble is something that is wrong, with what can be done about it.
type trouble struct {
	Title, Text string
	Serious     bool // requests fail
	Fixes       []fix
}

// fix is a button, or a link to another page.
type fix struct {
	Label  string
	Action string // of the form; "" for a link
	Arg    string // of the action
	Page   string
}

// tile is one figure of the overview.
type tile struct {
	Title, Value string
	Mood         string // good, busy, bad or idle
	Lines        []string
	Copy         string // a text to copy
	Fixes        []fix
	Meters       []meter
	Wide         bool
}

// meter is how much of something is used.
type meter struct {
	Label, Value string
	Percent      int
	Known        bool
	Mood         string
}

func overviewOf(v *visit) overview {
	s := v.snap
	o := overview{Troubles: troubles(s), Active: s.Proxy.Active}
	o.Tiles = []tile{portTile(s), loginTile(s), backendTile(s), planTile(s)}
	for _, c := range talksOf(v) {
		if len(o.Talks) < 3 {
			o.Talks = append(o.Talks, c)
		}
	}
	return o
}

// troubles puts what is wrong into words, the most urgent first.
func troubles(s app.Snapshot) []trouble {
	var list []trouble
	for _, p := range s.Problems() {
		list = append(list, troubleOf(s, p.Area, p.Message))
	}
	if f := s.Account.Login.Failure; f != nil {
		list = append(list, trouble{Title: "The login did not work", Text: sentence(f.Message), Fixes: []fix{{Label: "Log in…", Action: "sign-in"}}})
	}
	list = append(list, limits(s.Guard)...)
	if s.Account.Warning != "" {
		list = append(list, trouble{Title: "The login will not last", Text: sentence(s.Account.Warning), Fixes: []fix{{Label: "Settings", Page: "settings"}}})
	}
	if p := s.Models.Problem; p != nil {
		list = append(list, trouble{Title: "The list of models is not new", Text: sentence(p.Message), Fixes: []fix{{Label: "Refresh", Action: "refresh"}}})
	}
	if p := s.Plan.Problem; p != nil {
		list = append(list, trouble{Title: "The plan's figures are not new", Text: sentence(p.Message), Fixes: []fix{{Label: "Refresh", Action: "refresh"}}})
	}
	return list
}

// limits tells what the spend guard does, as far as it does something.
func limits(g app.GuardStatus) []trouble {
	switch {
	case !g.AllowedUntil.IsZero():
		return []trouble{{
			Title: "The spend limits are lifted", Text: "They hold again at " + g.AllowedUntil.Local().Format("15:04") + ".",
			Fixes: []fix{{Label: "Let them hold now", Action: "hold-limits"}},
		}}
	case g.Reached != "":
		text := sentence(g.Reached)
		if !g.Until.IsZero() {
			text += " Requests are let through again at " + g.Until.Local().Format("15:04") + "."
		}
		return []trouble{{
			Title: "A spend limit is reached", Text: text, Serious: true,
			Fixes: []fix{{Label: "Allow for one hour", Action: "allow-hour"}, {Label: "Change the limits", Page: "settings"}},
		}}
	}
	return nil
}

var areaTitles = map[string]string{
	"port": "The port is not free", "key": "The local key cannot be read", "login": "Not logged in to Cursor",
	"plan": "The plan does not allow it", "backend": "Cursor cannot be reached",
}

func troubleOf(s app.Snapshot, area, message string) trouble {
	t := trouble{Title: areaTitles[area], Text: sentence(message), Serious: true}
	if t.Title == "" {
		t.Title = "Something is wrong"
	}
	again := fix{Label: "Check again", Action: "recheck"}
	switch area {
	case "port":
		t.Fixes = []fix{{Label: "Try again", Action: "start"}}
	case "login":
		if canLogIn(s) {
			t.Fixes = append(t.Fixes, fix{Label: "Log in…", Action: "sign-in"})
		}
		t.Fixes = append(t.Fixes, again)
	case "plan":
		t.Fixes = []fix{{Label: "Plan and spend", Page: "spend"}, {Label: "Other models", Page: "models"}, again}
	default:
		t.Fixes = []fix{again, {Label: "Diagnosis", Page: "diagnosis"}}
	}
	return t
}

// canLogIn tells whether a login in the browser would mend anything.
func canLogIn(s app.Snapshot) bool {
	return s.Account.State == app.LoggedOut || s.Account.State == app.LoginEnded
}

// sentence makes a message of a *chat.Error, which begins in lower case, read
// like one.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	if c := message[0]; c >= 'a' && c <= 'z' && !isCommand(message) {
		message = string(c-'a'+'A') + message[1:]
	}
	if last := message[len(message)-1]; last != '.' && last != '!' && last != '?' {
		message += "."
	}
	return message
}

func portTile(s app.Snapshot) tile {
	t := tile{Title: "Port", Value: stateWords[s.Proxy.State], Mood: "busy"}
	if s.Proxy.State == app.Running {
		t.Mood, t.Value, t.Copy = "good", s.Proxy.Addr, s.Proxy.BaseURL
		t.Lines = []string{"Base URL " + s.Proxy.BaseURL}
	}
	return t
}

func loginTile(s app.Snapshot) tile {
	t := tile{Title: "Login", Mood: "idle"}
	login := []fix{{Label: "Log in…", Action: "sign-in"}}
	switch a := s.Account; a.State {
	case app.NoAccount:
		t.Value = "Not needed"
	case app.Unread:
		t.Value = "Reading…"
	case app.LoggedOut:
		t.Value, t.Fixes = "Logged out", login
	case app.LoginEnded:
		t.Value, t.Mood, t.Fixes = "Session ended", "bad", login
	case app.LoginPending:
		t.Value, t.Mood = "Waiting for the browser", "busy"
		t.Fixes = []fix{{Label: "Open the page again", Action: "login-page"}, {Label: "Cancel", Action: "cancel-sign-in"}}
	case app.LoggedIn:
		t.Value, t.Mood = "Logged in", "good"
		if a.Email != "" {
			t.Value = a.Email
		}
		t.Lines = []string{"Kept in: " + storageWords(a.Storage)}
		t.Fixes = []fix{{Label: "Log out", Action: "sign-out"}}
	}
	return t
}

func storageWords(storage string) string {
	switch storage {
	case "file":
		return "a private file"
	case "memory":
		return "memory, until cursortray ends"
	case "":
		return "not known"
	}
	return "the " + storage
}

func planTile(s app.Snapshot) tile {
	t := tile{Title: "Plan", Value: s.Plan.Title, Mood: "idle", Meters: metersOf(s.Plan), Wide: true}
	if t.Value == "" {
		t.Value = "Not known"
		if s.Account.State == app.LoggedIn {
			t.Fixes = []fix{{Label: "Refresh", Action: "refresh"}}
		}
		return t
	}
	t.Mood = "good"
	for _, m := range t.Meters {
		if m.Mood == "bad" {
			t.Mood = "bad"
		}
	}
	if s.Plan.Age != "" {
		t.Lines = []string{"As of " + s.Plan.Age}
	}
	t.Fixes = []fix{{Label: "Details", Page: "spend"}}
	return t
}

func backendTile(s app.Snapshot) tile {
	b := s.Backend
	t := tile{Title: "Way to Cursor", Value: b.Name, Mood: "good"}
	if b.Name == "" {
		t.Value, t.Mood = "None yet", "idle"
	}
	if b.Problem != nil {
		t.Mood = "bad"
	}
	if b.Reason != "" {
		t.Lines = append(t.Lines, sentence(b.Reason))
	}
	if b.Account != "" {
		t.Lines = append(t.Lines, "Account "+b.Account)
	}
	if !b.Fixed {
		t.Fixes = append(t.Fixes, fix{Label: "Change", Page: "settings"})
	}
	if b.Problem != nil && b.Problem.Kind == chat.LoginRequired {
		t.Lines = append(t.Lines, "Not signed in.")
	}
	return t
}
