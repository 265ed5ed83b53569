package tray

import (
	"fmt"
	"strings"
	"time"

	"cursortray/app"
	"cursortray/assets"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// condition is what matters most in a Snapshot: what the first row and the icon
// tell.
type condition struct {
	title   string
	message string // more about it, with the remedy; may be empty
	fix     string // the key of the row that a click mends it with; may be empty
	recheck bool   // it may have passed, which a check would find
	icon    assets.State
	// proxy says that the title tells what the proxy does, so that no other row
	// has to.
	proxy bool
}

// The names of other packages that make a difference here.
const (
	idCLI        = "cli"                  // the way that needs no login of ours
	codeOutdated = "client_outdated"      // Cursor wants a newer version of its client
	codeNoCLI    = "cursor_cli_not_found" // cursor-agent is not there
	codeDevices  = "too_many_devices"     // Cursor counts too many computers
)

// conditionOf picks what matters most: a port that is not there before a login
// that cannot be read, that before one that is missing, that before limits, those
// before a network that is down.
func conditionOf(s app.Snapshot) condition {
	account, problem := s.Account, s.Backend.Problem
	// Where the CLI answers no request needs the login.
	needed := s.Backend.ID != idCLI
	switch {
	case s.Proxy.State == app.Blocked:
		return blocked(s)
	case s.KeyProblem != "":
		return keyProblem(s)
	case needed && account.Deleting:
		return alert(sayNotDeleted, account.Problem, "fix.logout")
	case needed && account.State == app.LoggedOut && account.Problem != nil:
		return unreadable(account)
	case needed && account.State == app.LoginEnded && account.Problem != nil:
		return alert(sayExpired, account.Problem, "fix.login")
	case s.Proxy.State == app.Starting || s.Proxy.State == app.Stopping:
		return condition{title: proxyTitle(s.Proxy), icon: assets.Busy, proxy: true}
	case account.State == app.LoginPending:
		return condition{title: sayPending, fix: "fix.page", icon: assets.Busy}
	case needed && account.State == app.LoggedOut && problem != nil && problem.Kind == chat.LoginRequired:
		return condition{title: sayLoggedOut, icon: assets.Stopped}
	case s.Guard.Reached != "":
		return guardReached(s.Guard)
	case problem != nil:
		return backendProblem(s)
	}
	return condition{title: proxyTitle(s.Proxy), icon: proxyIcon(s.Proxy), proxy: true}
}

// alert is a condition that needs the user.
func alert(title string, problem *chat.Error, fix string) condition {
	c := condition{title: title, fix: fix, icon: assets.Problem}
	if problem != nil {
		c.message = problem.Message
	}
	return c
}

func blocked(s app.Snapshot) condition {
	p := s.Proxy
	c := condition{title: sayNotRunning, message: p.Problem, icon: assets.Problem, proxy: true}
	if p.Owner != "" {
		c.title, c.message = fmt.Sprintf(sayPortUsed, port(p.Addr), p.Owner), adviseOwner
	}
	if p.Next != "" {
		c.fix = "fix.port"
	}
	return c
}

func keyProblem(s app.Snapshot) condition {
	c := condition{title: sayKeyProblem, message: s.KeyProblem, icon: assets.Problem}
	if s.KeyKeyring == app.KeyringLocked {
		c.title, c.fix = sayLocked, "fix.unlock"
		return c
	}
	c.recheck = true
	return c
}

// unreadable is a store of secrets that does not tell whether there is a login.
func unreadable(account app.AccountStatus) condition {
	c := alert(sayUnreadable, account.Problem, "")
	switch account.Keyring {
	case app.KeyringLocked:
		c.title, c.fix = sayLocked, "fix.unlock"
		return c
	case app.KeyringAbsent:
		c.title, c.fix = sayNoKeyring, "fix.keyring"
	case app.KeyringDamaged:
		c.title, c.fix = sayDamaged, "fix.login"
	}
	c.recheck = true
	return c
}

func guardReached(g app.GuardStatus) condition {
	c := condition{title: fmt.Sprintf(sayGuard, g.Reached), fix: "fix.guard", icon: assets.Problem}
	if !g.Until.IsZero() {
		c.message = fmt.Sprintf(adviseGuard, g.Until.Local().Format("15:04"))
	}
	return c
}

// backendProblem is what requests would fail with.
func backendProblem(s app.Snapshot) condition {
	p := s.Backend.Problem
	c := alert(sayTrouble, p, "")
	c.recheck = true
	switch {
	case p.Code == codeOutdated:
		c.title, c.fix = sayOutdated, "fix.settings"
	case p.Code == codeNoCLI:
		c.title, c.fix = sayNoCLI, "fix.install"
	case p.Kind == chat.LoginRequired && s.Backend.ID == idCLI:
		c.title = sayCLIOut
	case p.Kind == chat.LoginRequired:
		c.title = "! " + accountOut
	case p.Code == codeDevices:
		c.title = sayComputers
	case p.Kind == chat.QuotaSpent:
		c.title, c.fix = sayQuota, "fix.usage"
		if reset := planReset(s.Plan); reset != "" {
			c.title += " - " + reset
		}
	case p.Kind == chat.NotInPlan:
		c.title = sayNotInPlan
	case p.Kind == chat.BadGateway || p.Kind == chat.Timeout:
		return unreachable(s, c)
	case p.Kind == chat.Unavailable:
		c.title = sayNoAnswers
	}
	return c
}

// unreachable is a Cursor that does not answer, which mostly passes by itself.
// Where there is something to do, it is a problem like others.
func unreachable(s app.Snapshot, c condition) condition {
	switch s.Backend.Problem.Code {
	case cursor.CodeClock, cursor.CodeCertificate, cursor.CodeEnvironment:
		c.title = sayNoAnswers
		return c
	}
	c.title, c.icon, c.proxy = sayOffline, assets.Offline, true
	if s.Proxy.State == app.Stopped {
		c.title, c.icon = proxyTitle(s.Proxy), assets.Stopped
	}
	return c
}

// planReset is when the plan begins anew: "resets 9 Nov", "" if that is not
// known.
func planReset(p app.PlanStatus) string {
	for part := range strings.SplitSeq(p.Title, "·") {
		if part = strings.TrimSpace(part); strings.HasPrefix(part, "resets ") {
			return part
		}
	}
	return ""
}

func proxyTitle(p app.ProxyStatus) string {
	switch p.State {
	case app.Starting:
		return sayStarting
	case app.Running:
		if p.Active > 0 {
			return fmt.Sprintf(sayRunningBusy, p.Addr, requests(p.Active))
		}
		return fmt.Sprintf(sayRunning, p.Addr)
	case app.Stopping:
		if p.Active > 0 {
			return fmt.Sprintf(sayStoppingFor, requests(p.Active))
		}
		return sayStopping
	case app.Blocked:
		return sayNotRunning
	default:
		return sayStopped
	}
}

func proxyIcon(p app.ProxyStatus) assets.State {
	switch {
	case p.State == app.Running && p.Active > 0:
		return assets.Busy
	case p.State == app.Running:
		return assets.Running
	default:
		return assets.Stopped
	}
}

// messageLines is how many rows a message may fill.
const messageLines = 4

// statusRows tell what matters most, and what a click can do about it. Each
// remedy has a row of its own: in one row that changes its meaning, a click for
// one of them could do another.
func statusRows(s app.Snapshot) []Item {
	c := conditionOf(s)
	rows := []Item{text("status", c.title), hiddenIf(c.proxy, text("status.proxy", proxyTitle(s.Proxy)))}
	rows = append(rows, noteRows("problem", messageLines, sentence(c.message))...)
	for _, fix := range fixes(s) {
		fix.Hidden = fix.Key != c.fix
		rows = append(rows, fix)
	}
	again := choice("recheck", fixCheck, app.Recheck{})
	again.Hidden = !c.recheck
	rows = append(rows, again)
	rows = append(rows, glanceRows(s)...)
	rows = append(rows, hiddenIf(!s.Demo, text("demo", noteDemo)))
	return append(rows, hiddenIf(s.Notice.Text == "", text("notice", s.Notice.Text)))
}

func fixes(s app.Snapshot) []Item {
	return []Item{
		choice("fix.port", fmt.Sprintf(fixPort, port(s.Proxy.Next)), app.UseNextPort{}),
		choice("fix.unlock", fixUnlock, app.Recheck{}),
		choice("fix.keyring", fixKeyring, app.OpenDashboard{Page: "diagnosis"}),
		choice("fix.login", fixLogin, app.SignIn{}),
		choice("fix.logout", fixLogout, app.SignOut{}),
		choice("fix.page", fixPage, app.OpenLoginPage{}),
		choice("fix.usage", fixUsage, app.OpenLink{Page: app.UsagePage}),
		choice("fix.install", fixInstall, app.OpenLink{Page: app.InstallPage}),
		choice("fix.settings", fixSettings, app.OpenSettingsFile{}),
		choice("fix.guard", fixGuard, app.AllowSpending{For: allowance}),
	}
}

// glanceRows are the figures that people look for first.
func glanceRows(s app.Snapshot) []Item {
	context := ""
	if newest, ok := s.Conversations.Newest(); ok && newest.Context != nil {
		context = contextLine(newest)
	}
	again := choice("guard.end", endAllowance, app.AllowSpending{})
	again.Hidden = s.Guard.AllowedUntil.IsZero()
	return []Item{
		hiddenIf(false, text("usage", usageLine(s.Plan))),
		hiddenIf(false, text("context", context)),
		hiddenIf(false, text("guard", guardLine(s.Guard))),
		again,
	}
}

// guardLine is what the spend guard has counted.
func guardLine(g app.GuardStatus) string {
	switch {
	case !g.AllowedUntil.IsZero():
		return fmt.Sprintf(guardOff, g.AllowedUntil.Local().Format("15:04"))
	case g.RunsHour == 0 && g.SpentDay == "":
		return ""
	}
	line := fmt.Sprintf(guardNow, requests(g.RunsHour))
	if g.SpentDay != "" && g.SpentDay != "$0.00" {
		line += fmt.Sprintf(guardSpent, g.SpentDay)
	}
	return line
}

// usageLine is the plan in one row: the percentages, and when they begin anew.
// Old figures tell their age instead.
func usageLine(p app.PlanStatus) string {
	var parts []string
	for _, line := range p.Lines {
		if strings.HasSuffix(line.Value, "%") {
			parts = append(parts, line.Label+" "+line.Value)
		}
	}
	if len(parts) == 0 {
		if p.Lines[0].Value == "" {
			return ""
		}
		parts = []string{p.Lines[0].Label + " " + p.Lines[0].Value}
	}
	tail := planReset(p)
	if p.Age != "" {
		tail = p.Age
	}
	if tail != "" {
		tail = " · " + tail
	}
	return shorten(strings.Join(parts, " · "), maxTitle-len([]rune(tail))) + tail
}

// allowance is for how long the spend guard is opened by a click.
const allowance = time.Hour
