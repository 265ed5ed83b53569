package tray

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Item is one row of the menu as data.
type Item struct {
	Key       string // stable name of the row; unique in the menu
	Title     string // at most 60 characters, plain text
	Enabled   bool   // false: text that cannot be chosen
	Checkable bool   // has a box for a check mark
	Checked   bool
	Hidden    bool
	Separator bool       // a line between groups; nothing else is set but Key
	Action    app.Action // what a click asks for; nil with Enabled false
	Items     []Item     // the rows of a submenu
}

// Menu is the menu that shows s. It always has the same rows in the same
// order, because hosts lose rows that come and go: what does not apply is
// hidden. No group is ever without a visible row, because the lines between
// groups cannot be hidden.
func Menu(s app.Snapshot) []Item {
	var items []Item
	items = append(items, statusRows(s)...)
	items = append(items, Item{Key: "line.account", Separator: true})
	items = append(items, accountRows(s)...)
	items = append(items, Item{Key: "line.proxy", Separator: true})
	items = append(items, proxyRows(s)...)
	items = append(items, Item{Key: "line.program", Separator: true})
	return append(items, programRows(s)...)
}

func statusRows(s app.Snapshot) []Item {
	rows := []Item{text("status", statusTitle(s))}
	rows = append(rows, problemRows(s)...)
	rows = append(rows, backendRows(s.Backend)...)
	rows = append(rows, hiddenIf(!s.Demo, text("demo", "Demo: answers are simulated, nothing is real")))
	return append(rows, hiddenIf(s.Notice.Text == "", text("notice", s.Notice.Text)))
}

func statusTitle(s app.Snapshot) string {
	p := s.Proxy
	switch p.State {
	case app.Starting:
		return "○ Starting..."
	case app.Running:
		title := "● Running on " + p.Addr
		if p.Active > 0 {
			title += " - " + requests(p.Active)
		}
		return title
	case app.Stopping:
		if p.Active > 0 {
			return "○ Stopping (" + requests(p.Active) + ")..."
		}
		return "○ Stopping..."
	case app.Blocked:
		if p.Owner != "" {
			return fmt.Sprintf("! Port %s is used by %s", port(p.Addr), p.Owner)
		}
		return "! Not running"
	default:
		return "○ Stopped"
	}
}

// problemLines is how many rows a message may fill.
const problemLines = 4

// problemRows tell the most urgent problem: a heading, the message with its
// remedy, and what a click can do about it.
func problemRows(s app.Snapshot) []Item {
	heading, message, fix := problem(s)
	rows := []Item{hiddenIf(heading == "", text("problem", heading))}
	rows = append(rows, noteRows("problem", problemLines, message)...)
	again := choice("recheck", "Check again", app.Recheck{})
	again.Hidden = !fix
	return append(rows, again)
}

// problem picks what to show. fix is false where another row is the way out.
func problem(s app.Snapshot) (heading, message string, fix bool) {
	switch {
	case s.Proxy.State == app.Blocked && s.Proxy.Owner != "":
		return "", "End that program or choose another port in the settings, then try again.", false
	case s.Proxy.State == app.Blocked:
		return "", sentence(s.Proxy.Problem), false
	case s.KeyProblem != "":
		return "! The API key cannot be read", sentence(s.KeyProblem), true
	case s.Account.State == app.LoginEnded && s.Account.Problem != nil:
		return "! Session expired", sentence(s.Account.Problem.Message), false
	case s.Account.Deleting:
		return "! The login cannot be deleted", sentence(s.Account.Problem.Message), true
	case s.Account.Problem != nil:
		return "! The saved login cannot be read", sentence(s.Account.Problem.Message), true
	case s.Backend.Problem != nil:
		return problemHeading(s.Backend.Problem), sentence(s.Backend.Problem.Message), true
	default:
		return "", "", false
	}
}

func problemHeading(err *chat.Error) string {
	switch err.Kind {
	case chat.LoginRequired:
		return "! Not logged in to Cursor"
	case chat.QuotaSpent:
		return "! Usage limit reached"
	case chat.NotInPlan:
		return "! Not in your Cursor plan"
	case chat.BadGateway, chat.Timeout:
		return "! Cursor is not reachable"
	case chat.Unavailable:
		return "! Requests cannot be answered"
	default:
		return "! Something is wrong"
	}
}

// backendRows name what answers, the setting that chose it and why; the reason
// gets a row of its own where one is too short.
func backendRows(b app.BackendStatus) []Item {
	title, reason := "Back-end: "+b.Name, b.Reason
	if b.Choice != "" {
		title += " (" + b.Choice + ")"
	}
	if one := title + " - " + reason; reason != "" && utf8.RuneCountInString(one) <= maxTitle {
		title, reason = one, ""
	}
	return []Item{text("backend", title), hiddenIf(reason == "", text("reason", sentence(reason)))}
}

// backendMenu fixes the way to Cursor.
func backendMenu(b app.BackendStatus) Item {
	row := func(setting, title string) Item {
		item := choice("backend."+setting, title, app.ChooseBackend{Setting: setting})
		item.Checkable, item.Checked = true, b.Choice == setting
		return enabledIf(!b.Fixed, item)
	}
	return Item{Key: "backends", Title: "Back-end for new conversations", Enabled: true, Items: []Item{
		row("auto", "Automatic: whichever is logged in"),
		row("agent", "Cursor protocol"),
		row("cli", "cursor-agent"),
	}}
}

func proxyRows(s app.Snapshot) []Item {
	usable := s.Proxy.State != app.Blocked
	return []Item{
		toggle(s.Proxy.State),
		enabledIf(usable && s.Proxy.BaseURL != "", choice("copy.url", "Copy base URL", app.CopyBaseURL{})),
		enabledIf(usable && s.KeyProblem == "", choice("copy.key", "Copy API key", app.CopyKey{})),
		backendMenu(s.Backend),
	}
}

// toggle is one row for start and stop, so that it never moves.
func toggle(state app.ProxyState) Item {
	switch state {
	case app.Running:
		return choice("proxy", "Stop proxy", app.StopProxy{})
	case app.Blocked:
		return choice("proxy", "Try again", app.StartProxy{})
	default:
		return enabledIf(state == app.Stopped, choice("proxy", "Start proxy", app.StartProxy{}))
	}
}

func programRows(s app.Snapshot) []Item {
	quit := "Quit"
	if s.Proxy.Active > 0 {
		quit += " (" + requests(s.Proxy.Active) + " running)"
	}
	return []Item{
		text("about", strings.TrimSpace("cursortray "+s.Version)),
		choice("quit", quit, app.Quit{}),
	}
}

func text(key, title string) Item { return Item{Key: key, Title: clip(title)} }

func choice(key, title string, action app.Action) Item {
	return Item{Key: key, Title: clip(title), Enabled: true, Action: action}
}

func hiddenIf(hidden bool, item Item) Item {
	item.Hidden = hidden || item.Title == ""
	return item
}

func enabledIf(enabled bool, item Item) Item {
	if !enabled {
		item.Enabled, item.Action = false, nil
	}
	return item
}

func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
