package dashboard

import "cursortray/app"

// bar is what every page shows: how things are, in a word, and what came of the
// last action.
type bar struct {
	Mood     string // good, busy or bad
	State    string // in words
	Problems int
	Notice   string
}

func barOf(v *visit) bar {
	s := v.snap
	b := bar{Mood: "good", State: "Running", Problems: len(s.Problems()), Notice: s.Notice.Text}
	switch {
	case s.Proxy.State != app.Running:
		b.Mood, b.State = "busy", stateWords[s.Proxy.State]
	case b.Problems > 0:
		b.Mood, b.State = "bad", "Needs attention"
	case s.Proxy.Active > 0:
		b.State = plural(s.Proxy.Active, "request", "requests") + " running"
	}
	return b
}

var stateWords = map[app.ProxyState]string{
	app.Stopped: "Stopped", app.Starting: "Starting…", app.Running: "Running", app.Stopping: "Stopping…", app.Blocked: "Port not free",
}
