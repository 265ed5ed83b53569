//go:build e2e && linux

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/tray/traytest"
)

// xfce is a desktop of its own: an X server without a screen, a bus, a panel
// with a tray.
type xfce struct {
	bus   *traytest.Bus
	env   []string // of programs on this desktop
	panel *exec.Cmd
}

// panelConfig has one panel at the top left with nothing but the tray.
const panelConfig = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
`

func startXfce(t *testing.T) *xfce {
	t.Helper()
	home, err := os.MkdirTemp("", "ct-xfce-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	config := filepath.Join(home, ".config", "xfce4", "xfconf", "xfce-perchannel-xml")
	services := filepath.Join(home, "services")
	for _, dir := range []string{config, services, filepath.Join(home, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(config, "xfce4-panel.xml"), []byte(panelConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	// The panel's settings daemon is all that may be started over the bus.
	const xfconf = "org.xfce.Xfconf.service"
	if err := os.Symlink(filepath.Join("/usr/share/dbus-1/services", xfconf), filepath.Join(services, xfconf)); err != nil {
		t.Fatal(err)
	}
	s := &xfce{env: append(cleanEnv(home), "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"DISPLAY="+startX(t), "XDG_CURRENT_DESKTOP=XFCE", "XDG_SESSION_TYPE=x11", "NO_AT_BRIDGE=1", "GTK_A11Y=none")}
	s.bus = traytest.StartBusWith(t, traytest.BusConfig{Services: []string{services}, Env: s.env})
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS="+s.bus.Address)
	s.startPanel(t)
	// What the program under test gets must not lead back to the panel's home.
	s.env = []string{"DBUS_SESSION_BUS_ADDRESS=" + s.bus.Address, "XDG_CURRENT_DESKTOP=XFCE", s.value("DISPLAY")}
	return s
}

func (s *xfce) value(name string) string {
	for _, v := range s.env {
		if strings.HasPrefix(v, name+"=") {
			return v
		}
	}
	return ""
}

// startX starts an X server on a free display.
func startX(t *testing.T) (display string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x480x24", "-nolisten", "tcp", "-dpi", "96")
	cmd.ExtraFiles = []*os.File{w}
	endWith(t, cmd)
	w.Close()
	n, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	return ":" + strings.TrimSpace(n)
}

// endWith starts a process that is ended with the test.
func endWith(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func (s *xfce) startPanel(t *testing.T) {
	t.Helper()
	s.panel = exec.Command("xfce4-panel", "--disable-wm-check")
	s.panel.Env = s.env
	endWith(t, s.panel)
	conn := s.bus.Connect(t)
	traytest.Until(t, "the panel shows a tray", func() bool {
		var here bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&here)
		return err == nil && here
	})
}

// restartPanel takes the tray host away and brings it back.
func (s *xfce) restartPanel(t *testing.T) {
	t.Helper()
	env := s.panel.Env
	_ = s.panel.Process.Kill()
	_ = s.panel.Wait()
	keep := s.env
	s.env = env
	s.startPanel(t)
	s.env = keep
}

func (s *xfce) tool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = s.panel.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// openMenu clicks the icon, which is the only thing on the panel.
func (s *xfce) openMenu(t *testing.T) {
	t.Helper()
	s.tool(t, "xdotool", "mousemove", "16", "16", "sleep", "1", "click", "3", "sleep", "1")
}

func (s *xfce) closeMenu(t *testing.T) {
	t.Helper()
	s.tool(t, "xdotool", "key", "Escape", "sleep", "0.3", "mousemove", "700", "400", "sleep", "0.5")
}

// screenshot keeps a picture of the desktop in the folder that
// CURSORTRAY_E2E_ARTIFACTS names, if it names one.
func (s *xfce) screenshot(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("CURSORTRAY_E2E_ARTIFACTS")
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	s.tool(t, "import", "-window", "root", filepath.Join(folder, name))
}
