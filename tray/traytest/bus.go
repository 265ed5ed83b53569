// Package traytest plays the desktop's part in tests of the tray: a private
// session bus, a host that icons register with, and a user who reads the menu
// and clicks. It needs dbus-daemon. Its goroutines and processes end with the
// test that started them.
package traytest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// Patience is how long Until waits; a loaded machine is slow.
const Patience = 30 * time.Second

// Until waits until cond holds.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, Patience)
		}
		<-tick.C
	}
}

// Bus is a session bus of its own.
type Bus struct {
	Address string

	cmd  *exec.Cmd
	once sync.Once
}

// BusConfig is what a bus may start by itself.
type BusConfig struct {
	Services []string // folders with .service files
	Env      []string // the environment of what is started
}

// StartBus starts a bus that starts nothing by itself and ends with the test.
func StartBus(t testing.TB) *Bus {
	t.Helper()
	return StartBusWith(t, BusConfig{})
}

// StartBusWith starts a bus that ends with the test.
func StartBusWith(t testing.TB, cfg BusConfig) *Bus {
	t.Helper()
	// Not t.TempDir: the path of a socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, []byte(busConfig(dir, cfg.Services)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nosyslog", "--print-address")
	cmd.Env = append(os.Environ(), cfg.Env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("dbus-daemon: %v", err)
	}
	b := &Bus{cmd: cmd}
	t.Cleanup(b.Kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("dbus-daemon did not tell its address: %v", err)
	}
	b.Address = strings.TrimSpace(line)
	return b
}

func busConfig(dir string, services []string) string {
	var b strings.Builder
	for _, folder := range services {
		fmt.Fprintf(&b, "  <servicedir>%s</servicedir>\n", folder)
	}
	return fmt.Sprintf(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path=%s/bus</listen>
  <auth>EXTERNAL</auth>
%s  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`, dir, b.String())
}

// Kill ends the bus, as the end of a desktop session does.
func (b *Bus) Kill() {
	b.once.Do(func() {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
	})
}

// AwaitIcon waits until a program has an icon, whether a host knows it or not.
func (b *Bus) AwaitIcon(t testing.TB, pid int) {
	t.Helper()
	conn := b.Connect(t)
	Until(t, "the program has an icon", func() bool {
		var here bool
		name := fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", pid)
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&here)
		return err == nil && here
	})
}

// Connect returns a connection that ends with the test.
func (b *Bus) Connect(t testing.TB) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(b.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
