//go:build e2e

package tray

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"cursortray/app"
	"cursortray/proxy/chat/chattest"
	choosing "cursortray/proxy/choice"
	"cursortray/tray/traytest"
)

// The tray library runs once in a process and talks to the bus of the
// environment, so each test runs its tray in a child: this test binary again.
const childVariable = "CURSORTRAY_TRAY_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "app":
		os.Exit(runChild(childApp))
	case "storm":
		os.Exit(runChild(childStorm))
	case "churn":
		os.Exit(runChild(childChurn))
	}
	goleak.VerifyTestMain(m)
}

// runChild exits with 3 when goroutines are left.
func runChild(child func(*slog.Logger) error) int {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := child(logger); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := goleak.Find(goleak.IgnoreAnyFunction("os/signal.loop")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

type fixedKey struct{}

func (fixedKey) Key(context.Context) (string, error)    { return "secret", nil }
func (fixedKey) NewKey(context.Context) (string, error) { return "secret", nil }
func (fixedKey) Reload()                                {}

type fakeChooser struct{}

func (fakeChooser) Now() choosing.Choice {
	return choosing.Choice{Setting: "auto", Name: "fake_backend"}
}
func (fakeChooser) Fix(string) {}

// childApp is a whole App with a fake back-end; it prints its base URL.
func childApp(logger *slog.Logger) error {
	a := app.New(app.Config{
		Addr: "127.0.0.1:0", Backend: chattest.New(), Chooser: fakeChooser{}, Keys: fixedKey{}, Logger: logger, Version: "0.0.1",
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	trayCtx, endTray := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	var err error
	tasks.Go(func() {
		defer endTray()
		err = a.Run(ctx)
	})
	tasks.Go(func() {
		for s := range a.Watch(trayCtx) {
			if s.Proxy.State == app.Running {
				fmt.Println(s.Proxy.BaseURL)
			}
		}
	})
	trayErr := Run(trayCtx, a, logger)
	tasks.Wait()
	if err == nil {
		err = trayErr
	}
	return err
}

// childStorm shows 1,000 states from 8 goroutines when "Copy base URL" is
// chosen, and ends stopped.
func childStorm(logger *slog.Logger) error {
	ctl := &stormController{fakeController: newFakeController()}
	ctl.onQuit = true
	ctl.set(base())
	err := Run(context.Background(), ctl, logger)
	ctl.storm.Wait()
	return err
}

type stormController struct {
	*fakeController
	storm sync.WaitGroup
}

func (c *stormController) Do(a app.Action) {
	if (a != app.CopyBaseURL{}) {
		c.fakeController.Do(a)
		return
	}
	c.storm.Go(func() {
		var writers sync.WaitGroup
		for i := range 8 {
			writers.Go(func() {
				for n := range 125 {
					c.set(proxyIn(app.ProxyState((i+n)%5), n))
				}
			})
		}
		writers.Wait()
		c.set(proxyIn(app.Stopped, 0))
	})
}

// child is a running tray.
type child struct {
	cmd    *exec.Cmd
	urls   chan string
	stderr *syncBuffer
	ended  chan error
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func startChild(t *testing.T, mode string, env ...string) *child {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PATH=" + os.Getenv("PATH"), childVariable + "=" + mode,
		"GORACE=exitcode=0", // see ownRace
	}, env...)
	c := &child{cmd: cmd, urls: make(chan string, 16), stderr: new(syncBuffer), ended: make(chan error, 1)}
	cmd.Stderr = c.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.urls <- lines.Text()
		}
	})
	go func() {
		read.Wait()
		c.ended <- cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range c.ended {
		}
		if t.Failed() {
			t.Logf("the child said:\n%s", c.stderr)
		}
	})
	return c
}

func (c *child) url(t *testing.T) string {
	t.Helper()
	select {
	case url := <-c.urls:
		return url
	case <-t.Context().Done():
	case err := <-c.ended:
		t.Fatalf("the child ended: %v\n%s", err, c.stderr)
	}
	return ""
}

// exits waits for a clean end.
func (c *child) exits(t *testing.T) {
	t.Helper()
	if err := <-c.ended; err != nil {
		t.Errorf("the child ended with %v", err)
	}
	if race := ownRace(c.stderr.String()); race != "" {
		t.Errorf("data race:\n%s", race)
	}
}

// ownRace returns a report of the race detector that our code has a part in.
// Version 1.12.2 of the tray library races with itself over the number of the
// menu's revision.
func ownRace(stderr string) string {
	for i, report := range strings.Split(stderr, "==================") {
		if i%2 == 1 && strings.Contains(report, "cursortray/") {
			return report
		}
	}
	return ""
}

// serving tells whether the port answers.
func serving(url string) bool {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(strings.TrimSuffix(url, "/v1") + "/health")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

func TestTrayMenuStopsAndStartsTheProxy(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	item := host.Item(t)
	url := c.url(t)

	if id := item.Text(t, "Id"); id != "cursortray" {
		t.Errorf("the icon's id is %q", id)
	}
	item.Find(t, "● Running on "+strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1"))
	item.Find(t, "Back-end: fake_backend (auto)")
	if w, h, _ := item.Icon(t); w != 48 || h != 48 {
		t.Errorf("the icon has %d x %d pixels", w, h)
	}
	_, _, running := item.Icon(t)
	if tip := item.ToolTip(t); !strings.Contains(tip, "Running on 127.0.0.1") {
		t.Errorf("tooltip %q", tip)
	}
	before, err := item.Menu()
	if err != nil {
		t.Fatal(err)
	}

	item.Click(t, "Stop proxy")
	traytest.Until(t, "the port is closed", func() bool { return !serving(url) })
	item.Find(t, "○ Stopped")
	if _, _, stopped := item.Icon(t); stopped == running {
		t.Error("the icon did not change")
	}
	item.Click(t, "Start proxy")
	traytest.Until(t, "the same port answers again", func() bool { return serving(url) })
	item.Find(t, "● Running")
	sameRows(t, item, before)

	item.Click(t, "Quit")
	c.exits(t)
	if host.Extra() {
		t.Error("the icon registered more than once")
	}
}

func sameRows(t *testing.T, item *traytest.Item, before []traytest.Row) {
	t.Helper()
	after, err := item.Menu()
	if err != nil {
		t.Fatal(err)
	}
	ids := func(rows []traytest.Row) (all []int32) {
		for _, r := range rows {
			all = append(all, r.ID)
		}
		return all
	}
	if !slices.Equal(ids(before), ids(after)) {
		t.Errorf("rows were made anew: ids %v, then %v", ids(before), ids(after))
	}
}

func TestTD2_StormOfUpdatesOnARealBus(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	c := startChild(t, "storm", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	item := host.Item(t)
	item.Find(t, "● Running")
	before, err := item.Menu()
	if err != nil {
		t.Fatal(err)
	}
	item.Click(t, "Copy/Base URL (OpenAI)")
	item.Find(t, "○ Stopped")
	sameRows(t, item, before)
	item.Click(t, "Quit")
	c.exits(t)
}

func TestTD1_HostThatIsLateAndRestarts(t *testing.T) {
	bus := traytest.StartBus(t)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	url := c.url(t)
	traytest.Until(t, "the missing host is named", func() bool { return strings.Contains(c.stderr.String(), "shows tray icons") })
	if !serving(url) {
		t.Error("the proxy does not run without a tray host")
	}
	for range 3 {
		host := bus.StartHost(t)
		host.Item(t).Find(t, "● Running")
		host.Stop()
	}
	if n := strings.Count(c.stderr.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, c.stderr)
	}
	bus.StartHost(t).Item(t).Click(t, "Quit")
	c.exits(t)
}

// Some hosts take their name before they answer to it, when the library has
// asked already.
func TestTD1_HostThatAnswersLate(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartSlowHost(t)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	c.url(t)
	bus.AwaitIcon(t, c.cmd.Process.Pid)
	host.Answer(t, true)
	host.Item(t).Find(t, "● Running")
	host.Stop()

	host = bus.StartSlowHost(t)
	host.Answer(t, true)
	item := host.Item(t)
	item.Click(t, "Quit")
	c.exits(t)
	if host.Extra() {
		t.Error("the icon registered more than once")
	}
}

// A watcher alone draws no icons.
func TestTD1_WatcherThatNobodyDrawsFor(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartSlowHost(t)
	host.Answer(t, false)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	c.url(t)
	traytest.Until(t, "that nothing draws is named", func() bool { return strings.Contains(c.stderr.String(), "shows tray icons") })
	host.Draw(t)
	traytest.Until(t, "that something draws is told", func() bool { return strings.Contains(c.stderr.String(), "shows tray icons now") })
	host.Item(t).Click(t, "Quit")
	c.exits(t)
	if n := strings.Count(c.stderr.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, c.stderr)
	}
}

func TestTD1_NoBus(t *testing.T) {
	cases := map[string][]string{
		"unreachable": {"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent/bus"},
		"nonsense":    {"DBUS_SESSION_BUS_ADDRESS=nonsense"},
	}
	if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err != nil {
		// Elsewhere these would find the bus of whoever runs the test.
		cases["unset"] = nil
		cases["autolaunch"] = []string{"DBUS_SESSION_BUS_ADDRESS=autolaunch:"}
	}
	for name, env := range cases {
		t.Run(name, func(t *testing.T) {
			mark, path := decoys(t)
			c := startChild(t, "app", append(env, "PATH="+path)...)
			url := c.url(t)
			traytest.Until(t, "the missing tray is named", func() bool { return strings.Contains(c.stderr.String(), "no tray") })
			if !serving(url) {
				t.Error("the proxy does not run without a bus")
			}
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			c.exits(t)
			if n := strings.Count(c.stderr.String(), "level=WARN"); n != 1 {
				t.Errorf("%d warnings, want one:\n%s", n, c.stderr)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("a bus was started")
			}
		})
	}
}

// decoys are programs that leave a mark when somebody tries to start a bus.
func decoys(t *testing.T) (mark, path string) {
	t.Helper()
	dir := t.TempDir()
	mark = filepath.Join(dir, "started")
	for _, name := range []string{"dbus-launch", "dbus-daemon"} {
		script := fmt.Sprintf("#!/bin/sh\n: > '%s'\nexit 1\n", mark)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return mark, dir + string(filepath.ListSeparator) + os.Getenv("PATH")
}

func TestTD1_LostBusEndsCleanly(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	host.Item(t).Find(t, "● Running")
	bus.Kill()
	c.exits(t)
}

func TestTD1_SignalEndsCleanly(t *testing.T) {
	bus := traytest.StartBus(t)
	host := bus.StartHost(t)
	c := startChild(t, "app", "DBUS_SESSION_BUS_ADDRESS="+bus.Address)
	host.Item(t).Find(t, "● Running")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.exits(t)
}
