package tray

import (
	"fmt"
	"strings"

	"cursortray/app"
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
// groups cannot be hidden, and no submenu without a visible first one, because
// hosts drop those.
func Menu(s app.Snapshot) []Item {
	var items []Item
	items = append(items, statusRows(s)...)
	items = append(items, Item{Key: "line.account", Separator: true})
	items = append(items, accountRows(s)...)
	items = append(items, modelsMenu(s), defaultModelMenu(s), conversationsMenu(s), recentMenu(s))
	items = append(items, Item{Key: "line.proxy", Separator: true})
	items = append(items, toggle(s.Proxy.State), copyMenu(s), editorsMenu(s), backendMenu(s.Backend))
	items = append(items, Item{Key: "line.dashboard", Separator: true})
	items = append(items, dashboardRow(s), settingsMenu(s))
	items = append(items, Item{Key: "line.program", Separator: true})
	return append(items, programRows(s)...)
}

// backendMenu names what answers and why, and fixes it.
func backendMenu(b app.BackendStatus) Item {
	title, head := fmt.Sprintf(menuBackend, b.Name), backendNew
	if b.Choice != "" {
		title = fmt.Sprintf(menuBackendWhy, b.Name, b.Choice)
	}
	if b.Reason != "" {
		head = fmt.Sprintf(backendBecause, b.Reason)
	}
	row := func(setting, title string) Item {
		item := choice("backend."+setting, title, app.ChooseBackend{Setting: setting})
		item.Checkable, item.Checked = true, b.Choice == setting
		return enabledIf(!b.Fixed, item)
	}
	return submenu("backends", title, text("backend.why", head),
		row("auto", backendAuto), row("agent", backendAgent), row("cli", backendCLI))
}

// toggle is one row for start and stop, so that it never moves.
func toggle(state app.ProxyState) Item {
	switch state {
	case app.Running:
		return choice("proxy", doStop, app.StopProxy{})
	case app.Blocked:
		return choice("proxy", doTryAgain, app.StartProxy{})
	default:
		return enabledIf(state == app.Stopped, choice("proxy", doStart, app.StartProxy{}))
	}
}

// copyMenu has what editors ask for.
func copyMenu(s app.Snapshot) Item {
	usable := s.Proxy.State != app.Blocked
	url, key := usable && s.Proxy.BaseURL != "", usable && s.KeyProblem == ""
	return submenu("copy", menuCopy,
		enabledIf(url, choice("copy.url", copyOpenAI, app.CopyBaseURL{})),
		enabledIf(url, choice("copy.anthropic", copyAnthropic, app.CopyAnthropicURL{})),
		enabledIf(key, choice("copy.key", copyKey, app.CopyKey{})),
		enabledIf(url && key, choice("copy.env", copyEnvironment, app.CopyEnvironment{})))
}

// dashboardRow opens the page, which is on the proxy's port.
func dashboardRow(s app.Snapshot) Item {
	return enabledIf(s.Proxy.State == app.Running, choice("dashboard", doDashboard, app.OpenDashboard{}))
}

func programRows(s app.Snapshot) []Item {
	quit := doQuit
	if s.Proxy.Active > 0 {
		quit = fmt.Sprintf(quitWhileActive, requests(s.Proxy.Active))
	}
	return []Item{
		text("about", strings.TrimSpace(fmt.Sprintf(about, s.Version))),
		choice("quit", quit, app.Quit{}),
	}
}

func text(key, title string) Item { return Item{Key: key, Title: clip(title)} }

func choice(key, title string, action app.Action) Item {
	return Item{Key: key, Title: clip(title), Enabled: true, Action: action}
}

func submenu(key, title string, rows ...Item) Item {
	return Item{Key: key, Title: clip(title), Enabled: true, Items: rows}
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

func requests(n int) string {
	if n == 1 {
		return oneRequest
	}
	return fmt.Sprintf(manyRequests, n)
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
