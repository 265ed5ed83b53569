package app

import (
	"context"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// Dashboard makes links to the dashboard, which is served on the proxy's port.
type Dashboard interface {
	// Link returns a path with a query that opens the page, once and for a
	// minute, to whoever has it. "" is the first page. The error, a *chat.Error,
	// says that there is no such page.
	Link(page string) (path string, err error)
}

// pages is the machine's hold on the dashboard.
type pages struct {
	waiting bool   // for the port to be open
	wanted  string // the page
}

// openDashboard shows a page. While the port is being opened it waits for that.
func (m *machine) openDashboard(page string) {
	if m.portComes() {
		m.pages = pages{waiting: true, wanted: page}
		return
	}
	m.pages = pages{}
	url, err := m.app.dashboardLink(m.snap, page)
	if err != nil {
		m.notify("The dashboard did not open: " + chat.AsError(err).Message)
		return
	}
	open := m.app.cfg.Open
	if open == nil || m.quitting {
		return
	}
	m.show(open, url, func(m *machine, err error) {
		m.app.cfg.Logger.Warn("the browser could not be opened", "error", withoutLink(err, url))
		m.notify("The browser did not open: `cursortray open --no-browser` prints a link")
	})
}

// withoutLink keeps the link, which opens the dashboard, out of the log.
func withoutLink(err error, url string) string {
	return strings.ReplaceAll(err.Error(), url, "[link]")
}

// dashboardWaits opens the page that was asked for too early, once it is known
// whether the port could be opened.
func (m *machine) dashboardWaits() {
	if m.pages.waiting && !m.portComes() {
		m.openDashboard(m.pages.wanted)
	}
}

// portComes tells whether the port is being opened, or is about to be: what was
// asked for before Run is done before anything else.
func (m *machine) portComes() bool {
	s := m.snap.Proxy.State
	return s == Starting || s == Stopped && m.server.want
}

// startPatience is how long a link waits for the port to be opened.
const startPatience = 10 * time.Second

// DashboardLink returns an address that shows a page of the dashboard, once and
// for a minute: "overview", "conversations", "models", "spend", "requests",
// "editors", "settings", "diagnosis" or "start"; "" is the first one. While the
// port is being opened it waits. Errors are *chat.Error.
func (a *App) DashboardLink(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	snap := a.Snapshot()
	for next := range a.Watch(ctx) {
		if snap = next; snap.Proxy.State != Starting {
			break
		}
	}
	return a.dashboardLink(snap, page)
}

func (a *App) dashboardLink(snap Snapshot, page string) (string, error) {
	switch {
	case a.cfg.Dashboard == nil:
		return "", chat.Errorf(chat.Unavailable, "this cursortray runs without a dashboard")
	case snap.Proxy.State != Running:
		return "", chat.Errorf(chat.Unavailable, "the dashboard is on the proxy's port, which is %s; start the proxy first", closedWord(snap.Proxy.State))
	}
	path, err := a.cfg.Dashboard.Link(page)
	if err != nil {
		return "", chat.AsError(err)
	}
	return strings.TrimSuffix(snap.Proxy.BaseURL, "/v1") + path, nil
}

// closedWord says in a word why the port is not open.
func closedWord(s ProxyState) string {
	if s == Blocked {
		return "not free"
	}
	return "closed"
}
