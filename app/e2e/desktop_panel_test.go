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

// session is a desktop of its own: an X server without a screen, a bus, a panel
// with a tray.
type session struct {
	kind  panelKind
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

// lxqtConfig is the same for the panel of LXQt.
const lxqtConfig = `[General]
panels=panel1
[panel1]
plugins=statusnotifier
position=Top
panelSize=32
iconSize=22
alignment=-1
width=100
width-percent=true
desktop=0
reserve-space=true
[statusnotifier]
type=statusnotifier
alignment=Left
`

// panelKind is a program that shows tray icons.
type panelKind struct {
	name    string
	argv    []string
	desktop string // XDG_CURRENT_DESKTOP
	file    string // of its settings, below .config
	config  string
	button  string // of the mouse that opens a menu
}

// xfcePanel draws with GTK, lxqtPanel with Qt; their menus come from different
// libraries.
func xfcePanel() panelKind {
	return panelKind{"xfce", []string{"xfce4-panel", "--disable-wm-check"}, "XFCE", "xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml", panelConfig, "3"}
}

func lxqtPanel() panelKind {
	return panelKind{"lxqt", []string{"lxqt-panel"}, "LXQt", "lxqt/panel.conf", lxqtConfig, "3"}
}

// startSession starts a desktop with that panel.
func startSession(t *testing.T, kind panelKind) *session {
	t.Helper()
	home, err := os.MkdirTemp("", "ct-"+kind.name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	config, services := filepath.Join(home, ".config", kind.file), filepath.Join(home, "services")
	for _, dir := range []string{filepath.Dir(config), services, filepath.Join(home, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(config, []byte(kind.config), 0o600); err != nil {
		t.Fatal(err)
	}
	// The settings daemon of Xfce is all that may be started over the bus.
	const xfconf = "org.xfce.Xfconf.service"
	if err := os.Symlink(filepath.Join("/usr/share/dbus-1/services", xfconf), filepath.Join(services, xfconf)); err != nil {
		t.Fatal(err)
	}
	s := &session{kind: kind, env: append(cleanEnv(home), "XDG_RUNTIME_DIR="+filepath.Join(home, "run"), "XDG_CONFIG_HOME="+filepath.Join(home, ".config"),
		"DISPLAY="+startX(t), "XDG_CURRENT_DESKTOP="+kind.desktop, "XDG_SESSION_TYPE=x11", "QT_QPA_PLATFORM=xcb", "NO_AT_BRIDGE=1", "GTK_A11Y=none")}
	s.bus = traytest.StartBusWith(t, traytest.BusConfig{Services: []string{services}, Env: s.env})
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS="+s.bus.Address)
	s.startPanel(t)
	// What the program under test gets must not lead back to the panel's home.
	s.env = []string{"DBUS_SESSION_BUS_ADDRESS=" + s.bus.Address, s.value("DISPLAY")}
	return s
}

func (s *session) value(name string) string {
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
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1100x760x24", "-nolisten", "tcp", "-dpi", "96")
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

func (s *session) startPanel(t *testing.T) {
	t.Helper()
	s.panel = exec.Command(s.kind.argv[0], s.kind.argv[1:]...)
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
func (s *session) restartPanel(t *testing.T) {
	t.Helper()
	env := s.panel.Env
	_ = s.panel.Process.Kill()
	_ = s.panel.Wait()
	keep := s.env
	s.env = env
	s.startPanel(t)
	s.env = keep
}

func (s *session) tool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = s.panel.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
}

// openMenu clicks the icon, which is the only thing on the panel.
func (s *session) openMenu(t *testing.T) {
	t.Helper()
	s.tool(t, "xdotool", "mousemove", "16", "16", "sleep", "0.5", "click", s.kind.button, "sleep", "0.7")
}

func (s *session) closeMenu(t *testing.T) {
	t.Helper()
	s.tool(t, "xdotool", "key", "Escape", "key", "Escape", "sleep", "0.3", "mousemove", "700", "400", "sleep", "0.5")
}

// openSubmenu opens the menu and, by the keyboard, the first submenu in it.
func (s *session) openSubmenu(t *testing.T) {
	t.Helper()
	s.openMenu(t)
	s.tool(t, "xdotool", "key", "Down", "sleep", "0.3", "key", "Right", "sleep", "0.7")
}

// screenshot keeps a picture of the desktop.
func (s *session) screenshot(t *testing.T, name string) {
	t.Helper()
	s.tool(t, "import", "-window", "root", artifact(t, s.kind.name+"-"+name))
}

// artifact is where a picture is kept.
func artifact(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(artifacts(t), name)
}

// artifacts is the folder for pictures: the one that CURSORTRAY_E2E_ARTIFACTS
// names, if it names one.
func artifacts(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("CURSORTRAY_E2E_ARTIFACTS")
	if folder == "" {
		return t.TempDir()
	}
	folder, err := filepath.Abs(folder)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
