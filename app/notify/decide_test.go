package notify

import (
	"slices"
	"testing"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

const everything = "login,signed-in,port,proxy,plan,limit,tray"

// running is a Snapshot of a program that works.
func running() app.Snapshot {
	return app.Snapshot{
		Notifications: everything,
		Proxy:         app.ProxyStatus{State: app.Running, Addr: "127.0.0.1:8765"},
		Account:       app.AccountStatus{State: app.LoggedIn, Email: "ada@example.com"},
		Backend:       app.BackendStatus{Choice: "auto"},
	}
}

func with(edits ...func(*app.Snapshot)) app.Snapshot {
	s := running()
	for _, edit := range edits {
		edit(&s)
	}
	return s
}

func busy(s *app.Snapshot) {
	s.Proxy.State, s.Proxy.Owner, s.Proxy.Problem, s.Proxy.Next = app.Blocked, "nginx", "port 8765 is used by nginx", "127.0.0.1:8766"
}
func starting(s *app.Snapshot) { s.Proxy.State = app.Starting }
func broke(s *app.Snapshot) {
	s.Proxy.State, s.Proxy.Broke, s.Proxy.Problem = app.Blocked, true, "the proxy broke: the listener was closed"
}
func ended(s *app.Snapshot)   { s.Account.State = app.LoginEnded }
func pending(s *app.Snapshot) { s.Account.State = app.LoginPending }
func out(s *app.Snapshot) {
	s.Account.State = app.LoggedOut
	s.Backend.Problem = chat.Errorf(chat.LoginRequired, "nobody is logged in")
}
func cliOut(s *app.Snapshot) {
	out(s)
	s.Backend.Choice = "cli"
	s.Backend.Problem = chat.Errorf(chat.LoginRequired, "run `cursor-agent login`")
}
func spent(s *app.Snapshot) {
	s.Backend.Problem = chat.Errorf(chat.QuotaSpent, "the included usage is used up until 3 Dec")
}
func computers(s *app.Snapshot) {
	s.Backend.Problem = &chat.Error{Kind: chat.QuotaSpent, Code: "too_many_devices", Message: "too many computers within 24 hours"}
}
func offline(s *app.Snapshot) {
	s.Backend.Problem = chat.Errorf(chat.BadGateway, "Cursor does not answer")
}
func limited(s *app.Snapshot) { s.Guard.Reached = "600 runs an hour" }
func noTray(s *app.Snapshot)  { s.NoTray = "nothing on this desktop shows tray icons" }

func TestDecide(t *testing.T) {
	fresh := app.Snapshot{Notifications: everything, Account: app.AccountStatus{State: app.Unread}}
	tests := []struct {
		name    string
		was, is app.Snapshot
		kind    Kind // "" is none
		title   string
		click   app.Action
	}{
		{"a start that works", fresh, running(), "", "", nil},
		{"port busy at the start", fresh, with(busy), Port, "The proxy is not running", app.StartProxy{}},
		{"still busy", with(busy), with(busy), "", "", nil},
		{"held by another", with(busy), with(busy, func(s *app.Snapshot) { s.Proxy.Owner = "ollama" }), Port, "The proxy is not running", app.StartProxy{}},
		{"the proxy broke", running(), with(broke), Proxy, "The proxy is not running", app.StartProxy{}},
		{"session expired", running(), with(ended), Login, "Cursor has ended your login", app.SignIn{}},
		{"and known already", with(ended), with(ended, noTray), Tray, "cursortray runs without an icon", app.OpenDashboard{}},
		{"the CLI needs no login", running(), with(ended, func(s *app.Snapshot) { s.Backend.Choice = "cli" }), "", "", nil},
		{"logged out", fresh, with(out), Login, "You are not logged in to Cursor", app.SignIn{}},
		{"a demo needs no login", fresh, with(out, func(s *app.Snapshot) { s.Demo = true }), "", "", nil},
		{"the CLI is logged out", fresh, with(cliOut), Login, "cursor-agent is signed out", app.Recheck{}},
		{"logging in", with(out), with(pending), "", "", nil},
		{"logged in", with(pending), running(), SignedIn, "Logged in as ada@example.com", app.OpenDashboard{Page: "editors"}},
		{"cancelled", with(pending), with(func(s *app.Snapshot) { s.Account.State = app.LoggedOut }), "", "", nil},
		{"plan used up", running(), with(spent), Plan, "Your Cursor plan is used up", app.OpenDashboard{Page: "spend"}},
		{"too many computers", running(), with(computers), Plan, "Cursor counts too many computers", app.OpenDashboard{Page: "spend"}},
		{"a limit is reached", running(), with(limited), Limit, "A limit of yours is reached", app.OpenDashboard{Page: "spend"}},
		{"offline passes by itself", running(), with(offline), "", "", nil},
		{"no tray", running(), with(noTray), Tray, "cursortray runs without an icon", app.OpenDashboard{}},
	}
	for _, test := range tests {
		notes := Decide(test.was, test.is)
		if test.kind == "" {
			if len(notes) != 0 {
				t.Errorf("%s: %+v", test.name, notes)
			}
			continue
		}
		if len(notes) != 1 || notes[0].Kind != test.kind || notes[0].Title != test.title || notes[0].Click != test.click {
			t.Errorf("%s: %+v", test.name, notes)
		}
		for _, n := range notes {
			if n.Body == "" || n.Cause == "" || n.Label == "" || !slices.Contains(Kinds(), n.Kind) {
				t.Errorf("%s: %+v", test.name, n)
			}
		}
	}
	n := Decide(running(), with(busy))[0]
	if n.Body != "Port 8765 is used by nginx." || !slices.Equal(n.Buttons, []Button{{"Use port 8766", app.UseNextPort{}}}) {
		t.Errorf("%+v", n)
	}
}

// sieve feeds a story to a teller and returns the kinds that were shown.
func sieve(now func() time.Time, story ...app.Snapshot) []Kind {
	t := teller{told: map[Kind]string{}, now: now}
	var was app.Snapshot
	var kinds []Kind
	for _, is := range story {
		for _, n := range t.sift(was, is) {
			kinds = append(kinds, n.Kind)
		}
		was = is
	}
	return kinds
}

func still() time.Time { return time.Unix(1e9, 0) }

func TestEachCauseIsToldOnce(t *testing.T) {
	only := func(kinds string) func(*app.Snapshot) {
		return func(s *app.Snapshot) { s.Notifications = kinds }
	}
	tests := []struct {
		name  string
		story []app.Snapshot
		want  []Kind
	}{
		{"tried again in vain", []app.Snapshot{with(busy), with(starting), with(busy), with(starting), with(busy)}, []Kind{Port}},
		{"busy, then free, then busy", []app.Snapshot{with(busy), running(), with(busy)}, []Kind{Port, Port}},
		{"login ended, tried, ended", []app.Snapshot{with(ended), with(pending), with(ended)}, []Kind{Login}},
		{"login ended twice", []app.Snapshot{with(ended), with(pending), running(), with(ended)}, []Kind{Login, SignedIn, Login}},
		{"spent, another trouble, spent", []app.Snapshot{with(spent), with(offline), with(spent)}, []Kind{Plan, Plan}},
		{"a limit, lifted, reached again", []app.Snapshot{with(limited), with(limited), running(), with(limited)}, []Kind{Limit, Limit}},
		{"the tray comes and goes", []app.Snapshot{with(noTray), running(), with(noTray)}, []Kind{Tray}},
		{"switched off", []app.Snapshot{with(busy, only("login,plan")), with(ended, only("login,plan"))}, []Kind{Login}},
		{"all switched off", []app.Snapshot{with(busy, only("none")), with(spent, only("none"))}, nil},
		{"switched on later", []app.Snapshot{with(busy, only("none")), with(busy)}, nil},
	}
	for _, test := range tests {
		if got := sieve(still, test.story...); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNotTooManyInARow(t *testing.T) {
	var story []app.Snapshot
	for range 20 {
		story = append(story, running(), with(spent))
	}
	if got := len(sieve(still, story...)); got != maxNotes {
		t.Errorf("%d notes at once, want %d", got, maxNotes)
	}
	clock := time.Unix(1e9, 0)
	hourly := func() time.Time { clock = clock.Add(time.Hour); return clock }
	if got := len(sieve(hourly, story...)); got != 20 {
		t.Errorf("%d notes over 20 hours, want 20", got)
	}
}

func TestTextsAreNoPartOfScripts(t *testing.T) {
	n := Note{Title: `$(rm) "x" & 'y'`, Body: "`z` \\"}
	args := appleScript(n)
	if got := args[len(args)-2:]; !slices.Equal(got, []string{n.Title, n.Body}) {
		t.Errorf("%q", got)
	}
	for _, arg := range args[:len(args)-2] {
		if arg != "-e" && arg != "on run argv" && arg != "end run" && arg != "display notification (item 2 of argv) with title (item 1 of argv)" {
			t.Errorf("%q", arg)
		}
	}
}
