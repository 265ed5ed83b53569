//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// desk is a private desktop: a bus, a tray host, an unlocked keyring, and a
// simulated Cursor on the network.
type desk struct {
	t    *testing.T
	home string
	bus  *traytest.Bus
	host *traytest.Host
	sim  *simserver.Sim
	env  []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	d := newDeskOn(t, bus)
	d.host = host
	return d
}

// newDeskOn is a desk on a bus that has its tray host already.
func newDeskOn(t *testing.T, bus *traytest.Bus) *desk {
	t.Helper()
	d := &desk{t: t, home: newHome(t), bus: bus}
	var err error
	if d.sim, err = simserver.Start(context.Background(), simserver.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range d.sim.Violations() {
			t.Errorf("a rule of the wire is broken: %v", v)
		}
		if err := d.sim.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.sim.Change(func(s *simserver.Settings) { s.LiveCycle = true }); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	browser := filepath.Join(d.home, browserName)
	if err := os.Symlink(self, browser); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.sim.Env(), "DBUS_SESSION_BUS_ADDRESS="+d.bus.Address, "CURSORTRAY_LOG_LEVEL=debug",
		"BROWSER="+browser, "SIM_KEY_PIN="+d.sim.KeyPin())
	return d
}

// withoutBrowser makes the browser one that shows nothing.
func (d *desk) withoutBrowser() *desk {
	d.env = append(d.env, "BROWSER=true")
	return d
}

// confirming makes every login count as confirmed at once.
func (d *desk) confirming() *desk {
	d.t.Helper()
	if err := d.sim.Change(func(s *simserver.Settings) { s.AutoConfirm = true }); err != nil {
		d.t.Fatal(err)
	}
	return d
}

// withKeyring starts the daemon.
func (d *desk) withKeyring() *desk {
	d.startKeyring()
	return d
}

// startKeyring starts the daemon with its keyring unlocked, as after a login
// to the desktop.
func (d *desk) startKeyring() {
	d.t.Helper()
	cmd := d.command("gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock")
	cmd.Stdin = strings.NewReader("password of a test")
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	traytest.Until(d.t, "the keyring answers", func() bool {
		probe := d.command("secret-tool", "search", "--all", "service", "none")
		out, err := probe.CombinedOutput()
		return err == nil || len(out) == 0 && probe.ProcessState.ExitCode() == 1
	})
}

func (d *desk) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.t.Context(), name, args...)
	run := filepath.Join(d.home, "run")
	cmd.Env = cleanEnv(d.home, "XDG_RUNTIME_DIR="+run, "DBUS_SESSION_BUS_ADDRESS="+d.bus.Address)
	return cmd
}

// secrets is what secret-tool finds of cursortray.
func (d *desk) secrets() string {
	d.t.Helper()
	cmd := d.command("secret-tool", "search", "--all", "service", "cursortray")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && out.Len() > 0 {
		d.t.Fatalf("secret-tool: %v: %s", err, out.String())
	}
	return out.String()
}

// start starts the tray and waits for its icon.
func (d *desk) start(binary string) (*trayApp, *traytest.Item) {
	d.t.Helper()
	a := startTrayIn(d.t, d.home, binary, d.env)
	return a, d.host.Item(d.t)
}

// shows waits until the menu, submenus included, has rows that begin like this.
func shows(t *testing.T, item *traytest.Item, rows ...string) {
	t.Helper()
	var labels []string
	missing := ""
	deadline := time.Now().Add(traytest.Patience)
	for done := false; !done; {
		menu, err := item.Menu()
		labels, missing = traytest.Labels(menu), ""
		for _, want := range rows {
			if err != nil || !slices.ContainsFunc(labels, func(label string) bool { return strings.HasPrefix(label, want) }) {
				missing = want
			}
		}
		if done = missing == ""; !done && time.Now().After(deadline) {
			t.Fatalf("the menu has no %q: %q", missing, labels)
		}
	}
}

var accountRows = []string{
	"Logged in as ada@example.com", "Cursor Pro · resets ", "Cursor models 3.2%", "Other models 28.6%", "Included $12.88 of $20.00",
	"Auto - $1.25 / $6 - 200k", "Claude Opus 5.5 - $4 / $20 - 300k", "· claude-opus-5-5-high", "Log out",
}

func TestLoginFromTheTray(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withKeyring()
	a, item := d.start(binary)
	shows(t, item, "Not logged in to Cursor", "Log in to see the models")
	item.Click(t, "Log in…")
	shows(t, item, accountRows...)
	if d.secrets() == "" {
		t.Error("the login is not in the keyring")
	}
	var status struct {
		Account struct{ State, Email, Storage string }
	}
	if err := json.Unmarshal([]byte(a.command(t, "status", "--json")), &status); err != nil || status.Account.State != "in" || status.Account.Storage != "keychain" {
		t.Errorf("status: %v, %+v", err, status)
	}
	if text := a.command(t, "usage"); !strings.Contains(text, "28.6%") {
		t.Errorf("usage says %s", text)
	}
	for _, r := range d.sim.Requests() {
		if r.Proto != "HTTP/2.0" {
			t.Errorf("%s over %s", r.Path, r.Proto)
		}
	}
	d.nothingLeaks(a)
	item.Click(t, "Quit")
	a.exits(t)

	polls := d.sim.Calls(simserver.PathPoll)
	b, item := d.start(binary)
	shows(t, item, accountRows...)
	if n := d.sim.Calls(simserver.PathPoll); n != polls {
		t.Error("it logged in again after the restart")
	}
	item.Click(t, "Log out")
	shows(t, item, "Not logged in to Cursor", "Log in…", "Log in to see the models")
	if left := d.secrets(); left != "" {
		t.Errorf("after the logout the keyring holds\n%s", left)
	}
	if lists, _ := filepath.Glob(filepath.Join(d.home, ".cache", "cursortray", "account", "*")); len(lists) > 0 {
		t.Errorf("after the logout there is %v", lists)
	}
	if !b.serving() {
		t.Error("the port is closed after the logout")
	}
	d.nothingLeaks(a, b)
	item.Click(t, "Quit")
	b.exits(t)
}

func TestLoginIsCancelledAndRefused(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withKeyring().withoutBrowser()
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	shows(t, item, "○ Confirm the login in the browser", "Copy login link")
	item.Click(t, "Cancel login")
	shows(t, item, "Not logged in to Cursor", "Log in…")

	item.Click(t, "Log in…")
	shows(t, item, "Cancel login")
	// The command joins the login of the menu and tells its address.
	url := make(chan string, 1)
	joined := exec.CommandContext(t.Context(), binary, "login", "--no-browser")
	joined.Env = a.env
	joined.Stdout = lineWriter(url)
	if err := joined.Start(); err != nil {
		t.Fatal(err)
	}
	if err := d.sim.Deny(t.Context(), <-url); err != nil {
		t.Fatal(err)
	}
	if err := joined.Wait(); err == nil {
		t.Error("the command says that it has logged in")
	}
	shows(t, item, "Login failed: the login was refused; start it again", "Log in…")
	item.Click(t, "Quit")
	a.exits(t)
}

// lineWriter gives the first line that is written to it.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	select {
	case w <- strings.TrimSpace(string(line)):
	default:
	}
	return len(line), nil
}

// Without a keyring a login works, and the menu says how long. (KC-2)
func TestKC2_TrayWithoutAKeyring(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withoutBrowser().confirming()
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	shows(t, item, "Logged in as ada@example.com", "The login lasts until cursortray ends, because the keychain")
	d.nothingLeaks(a)
	item.Click(t, "Quit")
	a.exits(t)
	b, item := d.start(binary)
	shows(t, item, "! No keyring found", "Log in…", "Keep secrets in private files instead")
	item.Click(t, "Quit")
	b.exits(t)
}

func TestKilledTrayKeepsTheOldOrTheNewLogin(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withKeyring().withoutBrowser()
	kill := func(a *trayApp) {
		t.Helper()
		_ = a.cmd.Process.Kill()
		<-a.ended
	}
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	shows(t, item, "Cancel login")
	kill(a)
	d.confirming()
	a, item = d.start(binary)
	shows(t, item, "Not logged in to Cursor")
	item.Click(t, "Log in…")
	shows(t, item, "Log out")
	kill(a)
	a, item = d.start(binary)
	shows(t, item, "Logged in as ada@example.com")
	item.Click(t, "Log out")
	kill(a) // at once: the logout may have happened or not
	a, item = d.start(binary)
	found := ""
	traytest.Until(t, "the login is there or not", func() bool {
		menu, err := item.Menu()
		labels := traytest.Labels(menu)
		for _, state := range []string{"Logged in as ada@example.com", "Not logged in to Cursor"} {
			if err == nil && slices.Contains(labels, state) {
				found = state
			}
		}
		return found != ""
	})
	t.Logf("after a kill in the logout: %s", found)
	item.Click(t, "Quit")
	a.exits(t)
}

func TestManyModelsInTheMenu(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withKeyring().withoutBrowser()
	catalog := d.sim.Catalog()
	for i := range 300 {
		var err error
		if catalog, err = catalog.With(fmt.Sprintf("made-up_%d", i), fmt.Sprintf("Made Up %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.sim.SetCatalog(catalog), d.sim.Change(func(s *simserver.Settings) { s.AutoConfirm = true })); err != nil {
		t.Fatal(err)
	}
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	slowest := time.Duration(0)
	traytest.Until(t, "the list is there", func() bool {
		began := time.Now()
		menu, err := item.Menu()
		slowest = max(slowest, time.Since(began))
		return err == nil && slices.ContainsFunc(traytest.Labels(menu), func(label string) bool { return strings.HasPrefix(label, "200 of ") })
	})
	t.Logf("while the list was filled the menu took at most %v", slowest)
	if slowest > 2*time.Second {
		t.Errorf("the menu stalled for %v", slowest)
	}
	item.Click(t, "Stop proxy")
	shows(t, item, "○ Stopped")
	item.Click(t, "Quit")
	a.exits(t)
}

// nothingLeaks looks for secrets in all that was written: logs, at the level
// debug, and files. (SE-2)
func (d *desk) nothingLeaks(apps ...*trayApp) {
	d.t.Helper()
	for _, a := range apps {
		if d.leaks([]byte(a.log.String())) {
			d.t.Error("the log holds a secret")
		}
	}
	err := filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		// The keyring's own file is encrypted, and its folder is its own.
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if d.leaks(text) {
			d.t.Errorf("%s holds a secret", strings.TrimPrefix(path, d.home))
		}
		return err
	})
	if err != nil {
		d.t.Error(err)
	}
}

// leaks says whether a token, key or verifier, or much of one, is in the text.
func (d *desk) leaks(text []byte) bool {
	for _, secret := range append(d.sim.Secrets(), localKey) {
		// The first part of an access token is the same in all.
		end := secret[len(secret)/2:]
		if bytes.Contains(text, []byte(end)) {
			return true
		}
	}
	return false
}
