//go:build e2e && linux

package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"cursortray/proxy/cursor/cursorsim/simserver"
	"cursortray/tray/traytest"
)

const keyringPassword = "password of a test"

// keyring starts the daemon: unlocked, or as after a login to the desktop that
// knew no password.
func (d *desk) keyring(unlocked bool) *exec.Cmd {
	d.t.Helper()
	cmd := d.command("gnome-keyring-daemon", "--foreground", "--components=secrets")
	if unlocked {
		cmd.Args = append(cmd.Args, "--unlock")
		cmd.Stdin = strings.NewReader(keyringPassword)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { stopCommand(cmd) })
	service := d.service()
	traytest.Until(d.t, "the keyring answers", func() bool {
		login := service.Call("org.freedesktop.Secret.Service.ReadAlias", 0, "default")
		var path dbus.ObjectPath
		return login.Store(&path) == nil && path != "/"
	})
	return cmd
}

func stopCommand(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (d *desk) service() dbus.BusObject {
	d.t.Helper()
	conn, err := dbus.Connect(d.bus.Address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	return conn.Object("org.freedesktop.secrets", "/org/freedesktop/secrets")
}

// unlock gives the password, as the daemon's own prompt does.
func (d *desk) unlock() {
	d.t.Helper()
	service := d.service()
	var output dbus.Variant
	var session dbus.ObjectPath
	if err := service.Call("org.freedesktop.Secret.Service.OpenSession", 0, "plain", dbus.MakeVariant("")).Store(&output, &session); err != nil {
		d.t.Fatal(err)
	}
	type secret struct {
		Session           dbus.ObjectPath
		Parameters, Value []byte
		ContentType       string
	}
	err := service.Call("org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface.UnlockWithMasterPassword", 0,
		dbus.ObjectPath("/org/freedesktop/secrets/collection/login"), secret{session, []byte{}, []byte(keyringPassword), "text/plain"}).Err
	if err != nil {
		d.t.Fatal(err)
	}
}

// A login in a keyring that is locked is found after a click when it is not any
// more, without a restart.
func TestKC2_LockedKeyringIsUnlocked(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withoutBrowser().confirming()
	keyring := d.keyring(true)
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	shows(t, item, "Logged in as ada@example.com")
	item.Click(t, "Quit")
	a.exits(t)
	stopCommand(keyring)

	d.keyring(false)
	b, item := d.start(binary)
	shows(t, item, "! Keyring is locked", "Unlock and try again", "Log in to see the models")
	polls := d.sim.Calls(simserver.PathPoll)
	d.unlock()
	item.Click(t, "Unlock and try again")
	shows(t, item, accountRows...)
	if d.sim.Calls(simserver.PathPoll) != polls {
		t.Error("it logged in again")
	}
	item.Click(t, "Quit")
	b.exits(t)
}

// A keyring that starts after the program is used after a click, too.
func TestKC2_AbsentKeyringComesLater(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withoutBrowser().confirming()
	a, item := d.start(binary)
	shows(t, item, "! No keyring found")
	d.keyring(true)
	item.Click(t, "Check again")
	shows(t, item, "Not logged in to Cursor", "Log in…")
	item.Click(t, "Log in…")
	shows(t, item, "Logged in as ada@example.com")
	if d.secrets() == "" {
		t.Error("the login is not in the keyring")
	}
	item.Click(t, "Quit")
	a.exits(t)
}

// Where there is none, a click keeps the login in a private file, and the next
// start finds it there.
func TestKC2_LoginIsKeptInAFileByAClick(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	d := newDesk(t).withoutBrowser().confirming()
	a, item := d.start(binary)
	item.Click(t, "Log in…")
	shows(t, item, "Logged in as ada@example.com", "The login lasts until cursortray ends")
	item.Click(t, "Keep secrets in private files instead")
	traytest.Until(t, "the login lasts", func() bool {
		menu, err := item.Menu()
		return err == nil && !slices.ContainsFunc(traytest.Labels(menu), func(label string) bool {
			return strings.HasPrefix(label, "The login lasts until cursortray ends")
		})
	})
	item.Click(t, "Quit")
	a.exits(t)
	b, item := d.start(binary)
	shows(t, item, "Logged in as ada@example.com")
	item.Click(t, "Log out")
	shows(t, item, "Not logged in to Cursor")
	item.Click(t, "Quit")
	b.exits(t)
}
