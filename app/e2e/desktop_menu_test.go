//go:build e2e && linux

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
	"cursortray/tray/traytest"
)

// pathModels is the call for the list of models.
const pathModels = "/aiserver.v1.AiService/AvailableModels"

// person sits at a desk with a real panel and uses the menu, over the same bus
// as the panel does.
type person struct {
	*desk
	session *session
	app     *trayApp
	item    *traytest.Item
	seen    map[string]bool // rows that could be chosen, by label
	clicked []string        // beginnings of labels
	pages   string          // the file that the browser writes addresses to
	opened  int             // how many of them were looked at
}

// sitDown starts a session with everything in it, and cursortray.
func sitDown(t *testing.T, binary string, kind panelKind) *person {
	t.Helper()
	s := startSession(t, kind)
	d := newDeskOn(t, s.bus).withKeyring()
	p := &person{desk: d, session: s, seen: make(map[string]bool), pages: filepath.Join(d.home, "pages")}
	bin := filepath.Join(d.home, "bin")
	// In the place of the program that asks the desktop for a browser: which one it
	// takes depends on what else is installed on the machine.
	p.program(bin, "xdg-open", `echo "$1" >>'`+p.pages+`'`)
	p.program(bin, "codex", "exit 0") // an editor to set up
	d.env = append(d.env, s.env...)
	d.env = append(d.env, "PATH="+bin+":"+os.Getenv("PATH"))
	p.app = startTrayIn(t, d.home, binary, d.env)
	p.item = s.bus.FindItem(t)
	return p
}

func (p *person) program(folder, name, script string) {
	p.t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// click chooses a row, and notes which there are.
func (p *person) click(text string) {
	p.t.Helper()
	p.look()
	p.clicked = append(p.clicked, text[strings.LastIndexByte(text, '/')+1:])
	p.item.Click(p.t, text)
}

// look notes the rows that can be chosen now.
func (p *person) look() {
	p.t.Helper()
	menu, err := p.item.Menu()
	if err != nil {
		p.t.Fatal(err)
	}
	var note func(rows []traytest.Row)
	note = func(rows []traytest.Row) {
		for _, r := range rows {
			if r.Visible && r.Enabled && !r.Separator && len(r.Rows) == 0 {
				p.seen[r.Label] = true
			}
			if r.Visible {
				note(r.Rows)
			}
		}
	}
	note(menu)
}

// missed are rows that could be chosen and were not, but for those that are one
// of a kind.
func (p *person) missed(kinds ...string) []string {
	var missed []string
	for label := range p.seen {
		known := func(start string) bool { return strings.HasPrefix(label, start) }
		if !slices.ContainsFunc(p.clicked, known) && !slices.ContainsFunc(kinds, func(kind string) bool { return strings.Contains(label, kind) }) {
			missed = append(missed, label)
		}
	}
	return missed
}

func (p *person) until(what string, cond func() bool) {
	p.t.Helper()
	traytest.Until(p.t, what, cond)
}

// copied waits until the clipboard holds something that good likes.
func (p *person) copied(what string, good func(text string) bool) {
	p.t.Helper()
	text := ""
	defer func() {
		if p.t.Failed() {
			p.t.Logf("on the clipboard is %q", text)
		}
	}()
	p.until(what+" is on the clipboard", func() bool {
		cmd := exec.CommandContext(p.t.Context(), "xclip", "-selection", "clipboard", "-out")
		cmd.Env = cleanEnv(p.home, p.session.env...)
		out, err := cmd.Output()
		text = string(out)
		return err == nil && good(text)
	})
}

// shown waits until the browser has been given another address, and returns it.
func (p *person) shown(what string) string {
	p.t.Helper()
	url := ""
	p.until(what+" is opened", func() bool {
		text, _ := os.ReadFile(p.pages)
		lines := strings.Fields(string(text))
		if len(lines) <= p.opened {
			return false
		}
		url = lines[p.opened]
		return true
	})
	p.opened++
	return url
}

// dashboard follows a link as a browser does and looks at the page.
func (p *person) dashboard(url, part string) {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := (&http.Client{Jar: jar, Timeout: 20 * time.Second}).Get(url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), part) {
		p.t.Errorf("the dashboard: %v, status %d, no %q in %d bytes", err, resp.StatusCode, part, len(text))
	}
	if !strings.HasPrefix(url, p.app.url+"/dashboard/") {
		p.t.Errorf("the dashboard is at %s", url)
	}
}

// checked waits until a row has, or lacks, its mark.
func (p *person) checked(row string, on bool) {
	p.t.Helper()
	p.until(fmt.Sprintf("the mark on %q is %v", row, on), func() bool { return p.item.Find(p.t, row).Checked == on })
}

// fileHas waits until a file in the home has, or lacks, a text.
func (p *person) fileHas(path, text string, has bool) {
	p.t.Helper()
	p.until(fmt.Sprintf("%s has %q: %v", path, text, has), func() bool {
		content, _ := os.ReadFile(filepath.Join(p.home, path))
		return strings.Contains(string(content), text) == has
	})
}

func TestEveryMenuItemInARealPanel(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	p := sitDown(t, binary, xfcePanel())
	p.logsIn()
	p.seesAccount()
	p.asksAndSees()
	p.copies()
	p.stopsAndStarts()
	p.choosesBackend()
	p.setsUpAnEditor()
	p.changesSettings()
	p.opensDashboard()
	p.session.openMenu(t)
	p.session.screenshot(t, "menu-everything.png")
	p.session.closeMenu(t)

	p.click("Log out")
	shows(t, p.item, "Not logged in to Cursor", "Log in…")
	if left := p.secrets(); strings.Contains(left, "account") {
		t.Errorf("after the logout the keyring holds\n%s", left)
	}
	p.session.screenshot(t, "icon-logged-out.png")
	p.click("Quit")
	p.app.exits(t)
	// One model, conversation and request stands for all, and one editor, too.
	for _, label := range p.missed("·", " - $", "●", " ctx", "- click copies", "k", "M") {
		t.Errorf("%q was never chosen", label)
	}
}

func (p *person) logsIn() {
	p.t.Helper()
	p.dashboard(p.shown("the page of the first start"), "cursortray")
	p.click("Log in with an API key…")
	p.dashboard(p.shown("the page with a field for the key"), "API key from cursor.com")
	p.click("Log in…")
	first := p.shown("the login page")
	p.click("Copy login link")
	p.copied("the login link", func(text string) bool { return text == first })
	p.click("Open the login page again")
	if again := p.shown("the login page"); again != first {
		p.t.Errorf("another page: %s", again)
	}
	p.session.screenshot(p.t, "icon-busy.png")
	p.click("Cancel login")
	shows(p.t, p.item, "○ Not logged in to Cursor")
	if err := p.sim.Change(func(s *simserver.Settings) { s.AutoConfirm = true }); err != nil {
		p.t.Fatal(err)
	}
	p.click("Log in…")
	shows(p.t, p.item, accountRows...)
	p.shown("the login page")
}

func (p *person) seesAccount() {
	p.t.Helper()
	before := p.sim.Calls(pathModels)
	p.click("Refresh")
	p.until("the models are asked for", func() bool { return p.sim.Calls(pathModels) > before })
	before = p.sim.Calls(pathModels)
	p.click("Models/Refresh list")
	p.until("the models are asked for again", func() bool { return p.sim.Calls(pathModels) > before })
	p.click("Manage account…")
	if url := p.shown("the account's page"); !strings.HasPrefix(url, "https://cursor.com/dashboard") {
		p.t.Errorf("the account's page is %s", url)
	}
	p.click("Models/Claude Opus 5.5")
	p.copied("a model's id", func(text string) bool { return strings.HasPrefix(text, "claude-opus-5-5") })
	p.choosesAModel()
}

func (p *person) choosesAModel() {
	p.t.Helper()
	const settings = ".config/cursortray/config.toml"
	p.click("Default model: automatic/Claude Opus 5.5")
	p.checked("Default model: Claude Opus 5.5/Claude Opus 5.5", true)
	p.fileHas(settings, `default_model = "claude-opus-5-5`, true)
	p.click("Default model: Claude Opus 5.5/Automatic: Cursor chooses")
	p.checked("Default model: automatic/Automatic: Cursor chooses", true)
	p.fileHas(settings, "claude-opus-5-5", false)
	p.click("Default model: automatic/Variants and more…")
	p.dashboard(p.shown("the dashboard"), "Models and prices")
}

// asksAndSees asks for an answer, which is recorded, and looks at what the menu
// tells of it.
func (p *person) asksAndSees() {
	p.t.Helper()
	p.click("Settings/Record the next request")
	shows(p.t, p.item, "Recording the next request (click to cancel)")
	p.click("Settings/Recording the next request (click to cancel)")
	shows(p.t, p.item, "Record the next request")
	p.click("Settings/Record the next request")
	shows(p.t, p.item, "Recording the next request (click to cancel)")
	if p.app.answerOf(p.t, "composer-2.5") == "" {
		p.t.Error("an empty answer")
	}
	shows(p.t, p.item, "Record the next request", "Conversations (1)", "Recorded: ")
	p.until("the tooltip tells the context", func() bool { return strings.Contains(p.item.ToolTip(p.t), "Context ") })
	p.click("Conversations (1)/○")
	p.dashboard(p.shown("the dashboard"), "onversation")
	p.click("Recent requests/" + time.Now().Format("15"))
	p.dashboard(p.shown("the dashboard"), "equest")
}

func (p *person) copies() {
	p.t.Helper()
	p.click("Copy/Base URL (OpenAI)")
	p.copied("the base URL", func(text string) bool { return text == p.app.url+"/v1" })
	p.click("Copy/Base URL (Anthropic)")
	p.copied("the base URL", func(text string) bool { return text == p.app.url })
	p.click("Copy/API key")
	p.copied("the key", func(text string) bool { return text == localKey })
	p.click("Copy/Environment variables")
	p.copied("the variables", func(text string) bool {
		return strings.Contains(text, "export OPENAI_BASE_URL="+p.app.url+"/v1\n") && strings.Contains(text, "ANTHROPIC_AUTH_TOKEN="+localKey)
	})
}

func (p *person) stopsAndStarts() {
	p.t.Helper()
	p.click("Stop proxy")
	p.until("the port is closed", func() bool { return !p.app.serving() })
	shows(p.t, p.item, "○ Stopped")
	p.click("Start proxy")
	p.until("the same port answers again", p.app.serving)
	shows(p.t, p.item, "● Running")
}

func (p *person) choosesBackend() {
	p.t.Helper()
	for _, choice := range []struct{ row, setting string }{{"cursor-agent", "cli"}, {"Cursor protocol", "agent"}, {"Automatic", "auto"}} {
		p.click("Back-end/" + choice.row)
		p.checked("Back-end/"+choice.row, true)
		p.fileHas(".config/cursortray/config.toml", `backend = "`+choice.setting+`"`, true)
		if choice.setting == "cli" { // which is not there
			shows(p.t, p.item, "! cursor-agent not found")
			p.click("Check again")
			p.click("How to install it…")
			if url := p.shown("how to install it"); url != "https://cursor.com/cli" {
				p.t.Errorf("opened was %s", url)
			}
		}
	}
	shows(p.t, p.item, "Back-end: Cursor protocol (auto)", "● Running")
}

func (p *person) setsUpAnEditor() {
	p.t.Helper()
	p.click("Set up an editor/Codex")
	p.fileHas(".codex/config.toml", p.app.url+"/v1", true)
	p.checked("Set up an editor/Codex - set up", true)
	p.click("Set up an editor/Codex - set up")
	shows(p.t, p.item, "Codex - switched off")
	p.click("Set up an editor/Codex - switched off")
	p.checked("Set up an editor/Codex - set up", true)
	p.click("Set up an editor/Keys and more…")
	p.dashboard(p.shown("the dashboard"), "Codex")
	p.click("Set up an editor/Undo Codex")
	p.fileHas(".codex/config.toml", p.app.url, false)
	p.checked("Set up an editor/Codex", false)
	p.until("what was undone cannot be undone again", func() bool {
		menu, err := p.item.Menu()
		return err == nil && !slices.Contains(traytest.Labels(menu), "Undo Codex")
	})
}

func (p *person) changesSettings() {
	p.t.Helper()
	const settings = ".config/cursortray/config.toml"
	entry := filepath.Join(p.home, ".config", "autostart", "cursortray.desktop")
	there := func() bool { _, err := os.Stat(entry); return err == nil }
	p.click("Settings/Start at login")
	p.until("the entry is there", there)
	p.checked("Settings/Start at login", true)
	p.click("Settings/Start at login")
	p.until("the entry is gone", func() bool { return !there() })
	p.click("Settings/Start proxy at launch")
	p.fileHas(settings, "start_proxy = false", true)
	p.checked("Settings/Start proxy at launch", false)
	p.click("Settings/Start proxy at launch")
	p.fileHas(settings, "start_proxy = true", true)
	before := p.item.Find(p.t, "Settings/Notifications").Checked
	p.click("Settings/Notifications")
	p.checked("Settings/Notifications", !before)
	p.fileHas(settings, "notifications = ", true)
	p.click("Settings/Open the settings file")
	if path := p.shown("the settings file"); !strings.HasSuffix(path, settings) {
		p.t.Errorf("opened was %s", path)
	}
	if p.item.Find(p.t, "Settings/Open the log file").Enabled {
		p.click("Settings/Open the log file")
		if path := p.shown("the log"); !strings.Contains(path, "cursortray") {
			p.t.Errorf("opened was %s", path)
		}
	}
}

func (p *person) opensDashboard() {
	p.t.Helper()
	p.click("Open dashboard")
	url := p.shown("the dashboard")
	p.dashboard(url, "cursortray")
	if resp, err := http.Get(url); err != nil {
		p.t.Error(err)
	} else if resp.Body.Close(); resp.StatusCode == http.StatusOK {
		p.t.Error("the link works twice")
	}
	p.click("Open dashboard")
	p.photograph(p.shown("the dashboard"), "page.png")
}

// photograph keeps a picture of a page.
func (p *person) photograph(url, name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1100,900",
		"--user-data-dir="+filepath.Join(p.home, "chromium"), "--screenshot="+artifact(p.t, name), "--timeout=5000", url)
	cmd.Env = cleanEnv(p.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("a picture of the page: %v\n%s", err, out)
	}
}

// The same menu looks and works the same in hosts whose menus come from
// different libraries.
func TestTheSameMenuUnderTwoHosts(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	var menus [][]string
	for _, kind := range []panelKind{xfcePanel(), lxqtPanel()} {
		t.Run(kind.name, func(t *testing.T) {
			s := startSession(t, kind)
			a := startTray(t, binary, append(s.env, "CURSORTRAY_ADDR=127.0.0.1:0"), "--demo")
			item := s.bus.FindItem(t)
			shows(t, item, "Demo Large, simulated")
			if a.answer(t) == "" {
				t.Error("an empty answer")
			}
			shows(t, item, "Conversations (1)")
			s.openMenu(t)
			s.screenshot(t, "menu.png")
			a.stopAndStart(t, item)
			s.screenshot(t, "menu-again.png")
			s.closeMenu(t)
			s.openSubmenu(t)
			s.screenshot(t, "submenu.png")
			s.closeMenu(t)
			menu, err := item.Menu()
			if err != nil {
				t.Fatal(err)
			}
			menus = append(menus, traytest.Labels(menu))
			s.restartPanel(t)
			s.bus.FindItem(t).Click(t, "Quit")
			a.exits(t)
		})
	}
	if len(menus) == 2 {
		same := func(label string) string { // but for what differs by chance
			if strings.Contains(label, "127.0.0.1:") || strings.Contains(label, " ctx") {
				return "…"
			}
			return label
		}
		for i := range menus {
			for j := range menus[i] {
				menus[i][j] = same(menus[i][j])
			}
		}
		if !slices.Equal(menus[0], menus[1]) {
			t.Errorf("the menus differ:\n%q\n%q", menus[0], menus[1])
		}
	}
}
