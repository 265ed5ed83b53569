//go:build e2e && linux

package keychain

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// These tests run gnome-keyring-daemon on a session bus of their own, with a
// home of their own: never the user's.

const testService = "cursortray-test"

// session is a private session bus, perhaps with a keyring daemon on it.
type session struct {
	t       *testing.T
	dir     string
	environ []string
	bus     *exec.Cmd
	keyring *exec.Cmd
}

const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=%s</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`

func newSession(t *testing.T) *session {
	t.Helper()
	dir, err := os.MkdirTemp("", "kc") // short: a socket's path may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &session{t: t, dir: dir}
	address := "unix:path=" + filepath.Join(dir, "bus")
	s.environ = []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "XDG_DATA_HOME=" + dir + "/data", "XDG_CONFIG_HOME=" + dir + "/config",
		"XDG_CACHE_HOME=" + dir + "/cache", "DBUS_SESSION_BUS_ADDRESS=" + address, "DISPLAY=", "WAYLAND_DISPLAY=",
	}
	config := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, busConfig, filepath.Join(dir, "bus")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.bus = s.command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile", "--print-address")
	stdout, err := s.bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.start(s.bus)
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("the bus does not start: %v", err)
	}
	return s
}

func (s *session) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.environ...)
	return cmd
}

func (s *session) start(cmd *exec.Cmd) {
	s.t.Helper()
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("%v (these tests need the packages dbus-daemon, gnome-keyring and libsecret-tools)", err)
	}
	s.t.Cleanup(func() { stop(cmd) })
}

func stop(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// startKeyring starts the daemon and unlocks its only keyring, or leaves it
// locked.
func (s *session) startKeyring(unlock bool) {
	s.t.Helper()
	s.keyring = s.command("gnome-keyring-daemon", "--foreground", "--components=secrets")
	if unlock {
		s.keyring.Args = append(s.keyring.Args, "--unlock")
		s.keyring.Stdin = strings.NewReader("password of a test")
	}
	s.start(s.keyring)
	for deadline := time.Now().Add(20 * time.Second); ; {
		_, err := order{Service: testService, Do: "read"}.run(s.t, s.environ...)
		if !errors.Is(err, ErrUnavailable) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the keyring daemon does not come up: %v", err)
		}
	}
}

// search returns what secret-tool finds of the service.
func (s *session) search() string {
	s.t.Helper()
	cmd := s.command("secret-tool", "search", "--all", "service", testService)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out // attributes go to standard error
	if err := cmd.Run(); err != nil && out.Len() > 0 {
		s.t.Fatalf("secret-tool: %v: %s", err, out.String())
	}
	return out.String()
}

func (s *session) want(do string, serial int, want error) {
	s.t.Helper()
	start := time.Now()
	out, err := order{Service: testService, Do: do, Serial: serial}.run(s.t, s.environ...)
	if !errors.Is(err, want) {
		s.t.Fatalf("%s: %v, want %v", do, err, want)
	}
	if want == nil && do == "read" && out != strconv.Itoa(serial) {
		s.t.Fatalf("value %s is stored, want %d", out, serial)
	}
	if want != nil && !strings.Contains(err.Error(), "; ") && want != ErrNotFound {
		s.t.Errorf("the error gives no remedy: %v", err)
	}
	s.t.Logf("%s of value %d took %v: %v", do, serial, time.Since(start).Round(time.Millisecond), err)
}

// silentPrompter is a password prompt that nobody answers.
type silentPrompter struct{ asked chan struct{} }

func (p silentPrompter) BeginPrompting(dbus.ObjectPath) *dbus.Error {
	p.asked <- struct{}{}
	return nil
}

func (s *session) startPrompter() silentPrompter {
	s.t.Helper()
	conn, err := dbus.Connect("unix:path=" + filepath.Join(s.dir, "bus"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	p := silentPrompter{make(chan struct{}, 10)}
	if err := conn.Export(p, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter"); err != nil {
		s.t.Fatal(err)
	}
	if reply, err := conn.RequestName("org.gnome.keyring.SystemPrompter", 0); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		s.t.Fatalf("no name for the prompter: %v, %v", reply, err)
	}
	return p
}
