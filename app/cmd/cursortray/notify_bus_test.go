//go:build unix && !darwin

package main

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"cursortray/tray/traytest"
)

const notifications = "org.freedesktop.Notifications"

// notifier is the part of a desktop that shows notifications.
type notifier struct {
	conn *dbus.Conn

	mu     sync.Mutex
	titles []string
}

func (n *notifier) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions"}, nil }

func (n *notifier) Notify(_ string, _ uint32, _, title, _ string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.titles = append(n.titles, title)
	return uint32(len(n.titles)), nil
}

func (n *notifier) said() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.titles, "\n")
}

// PL-1, TD-1: a busy port and a missing tray host are told once each, and a
// click on the note about the port tries again.
func TestTD1_NotificationsLeadToTheFix(t *testing.T) {
	bus := traytest.StartBus(t)
	n := &notifier{conn: bus.Connect(t)}
	if err := n.conn.Export(n, "/org/freedesktop/Notifications", notifications); err != nil {
		t.Fatal(err)
	}
	if _, err := n.conn.RequestName(notifications, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	m := newMachine(t, "CURSORTRAY_TOKEN_STORE=memory")
	m.set("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	m.set("CURSORTRAY_ADDR", ln.Addr().String())
	s := m.start("tray", "--demo")
	until(t, "the busy port is told", func() bool { return n.said() == "The proxy is not running" })
	ln.Close()
	if err := n.conn.Emit("/org/freedesktop/Notifications", notifications+".ActionInvoked", uint32(1), "default"); err != nil {
		t.Fatal(err)
	}
	if line := s.line(); line != "listening on http://"+ln.Addr().String() {
		t.Errorf("%q", line)
	}
	until(t, "the missing host is told", func() bool {
		return n.said() == "The proxy is not running\ncursortray runs without an icon"
	})
	m.must("stop")
	m.must("start")
	s.stop()
	if got := n.said(); strings.Count(got, "\n") != 1 {
		t.Errorf("more was told:\n%s", got)
	}
}
