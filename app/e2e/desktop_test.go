//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cursortray/tray/traytest"
)

// trayApp is a running "cursortray", the tray application.
type trayApp struct {
	binary string
	url    string // without /v1
	env    []string
	cmd    *exec.Cmd
	log    *lockedBuffer
	ended  chan error
}

// startTray starts cursortray in a home of its own and waits until its proxy
// accepts requests.
func startTray(t *testing.T, binary string, env []string, args ...string) *trayApp {
	t.Helper()
	return startTrayIn(t, newHome(t), binary, env, args...)
}

// newHome returns a folder with a short path, because the control socket's
// must be.
func newHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "ct-tray-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if err := os.Mkdir(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

// startTrayIn starts cursortray in a home where it may have run before.
func startTrayIn(t *testing.T, home, binary string, env []string, args ...string) *trayApp {
	t.Helper()
	run := filepath.Join(home, "run")
	a := &trayApp{binary: binary, log: &lockedBuffer{}, ended: make(chan error, 1)}
	a.env = append(cleanEnv(home, "XDG_RUNTIME_DIR="+run, "CURSORTRAY_ADDR=127.0.0.1:0", "CURSORTRAY_API_KEY="+localKey), env...)
	a.cmd = exec.Command(binary, args...)
	a.cmd.Env, a.cmd.Stderr = a.env, a.log
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("log of cursortray:\n%s", tail(a.log.String()))
		}
	})
	a.url = listening(t, stdout, a.log)
	go func() {
		a.ended <- a.cmd.Wait()
		close(a.ended)
	}()
	return a
}

// exits waits for a clean end.
func (a *trayApp) exits(t *testing.T) {
	t.Helper()
	select {
	case err := <-a.ended:
		if err != nil {
			t.Errorf("cursortray ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("cursortray did not end")
	}
	if strings.Contains(a.log.String(), localKey) {
		t.Error("the log holds the local key")
	}
}

// command runs another cursortray in the same home.
func (a *trayApp) command(t *testing.T, args ...string) string {
	t.Helper()
	r := command{argv: append([]string{a.binary}, args...), env: a.env, limit: 30 * time.Second}.run(t)
	if r.err != nil {
		t.Errorf("cursortray %v: %v\n%s", args, r.err, r.stderr)
	}
	return r.stdout
}

// serving tells whether the port answers.
func (a *trayApp) serving() bool {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := client.Get(a.url + "/health")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// answer asks the proxy for an answer and returns its text.
func (a *trayApp) answer(t *testing.T) string {
	t.Helper()
	return a.answerOf(t, "demo-small")
}

func (a *trayApp) answerOf(t *testing.T, model string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/v1/chat/completions",
		strings.NewReader(`{"model":"`+model+`","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+localKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || len(body.Choices) != 1 {
		t.Fatalf("the answer: %v, status %d", err, resp.StatusCode)
	}
	return body.Choices[0].Message.Content
}

// stopAndStart chooses both in the menu and looks at the port.
func (a *trayApp) stopAndStart(t *testing.T, item *traytest.Item) {
	t.Helper()
	item.Click(t, "Stop proxy")
	traytest.Until(t, "the port is closed", func() bool { return !a.serving() })
	item.Find(t, "○ Stopped")
	item.Click(t, "Start proxy")
	traytest.Until(t, "the same port answers again", a.serving)
	item.Find(t, "● Running")
}

func TestTrayDemoOnAPrivateBus(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	a := startTray(t, binary, []string{"DBUS_SESSION_BUS_ADDRESS=" + bus.Address}, "--demo")
	item := host.Item(t)
	item.Find(t, "● Running on "+strings.TrimPrefix(a.url, "http://"))
	item.Find(t, "Demo: answers are simulated, nothing is real")
	if a.answer(t) == "" {
		t.Error("an empty answer")
	}
	a.stopAndStart(t, item)
	if a.answer(t) == "" {
		t.Error("an empty answer after the restart")
	}
	if out := a.command(t); !strings.Contains(out, "already running") { // TD-3
		t.Errorf("a second start says %q", out)
	}
	if host.Extra() {
		t.Error("a second icon")
	}
	item.Click(t, "Quit")
	a.exits(t)
}

func TestTD1_TrayWithoutADesktop(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	a := startTray(t, binary, []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus"}, "--demo")
	traytest.Until(t, "the missing tray is named", func() bool { return strings.Contains(a.log.String(), "no tray") })
	if a.answer(t) == "" {
		t.Error("an empty answer")
	}
	if out := a.command(t, "status"); !strings.Contains(out, strings.TrimPrefix(a.url, "http://")) {
		t.Errorf("status says %q", out)
	}
	if n := strings.Count(a.log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, a.log.String())
	}
	a.command(t, "quit")
	a.exits(t)
}

func TestTrayInXfcePanel(t *testing.T) {
	t.Parallel()
	binary, _ := buildPrograms(t)
	s := startSession(t, xfcePanel())
	a := startTray(t, binary, s.env, "--demo")
	item := s.bus.FindItem(t)
	item.Find(t, "● Running")
	s.openMenu(t)
	s.screenshot(t, "menu-running.png")
	a.stopAndStart(t, item)
	item.Click(t, "Stop proxy")
	item.Find(t, "○ Stopped")
	s.screenshot(t, "menu-stopped.png")
	s.closeMenu(t)
	s.screenshot(t, "icon-stopped.png")
	rows, err := item.Menu()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Start proxy", "Copy", "Base URL (OpenAI)", "API key", "Quit"}
	for _, label := range want {
		if !slices.Contains(traytest.Labels(rows), label) {
			t.Errorf("no %q in %q", label, traytest.Labels(rows))
		}
	}
	s.restartPanel(t)
	s.bus.FindItem(t).Click(t, "Quit")
	a.exits(t)
}
