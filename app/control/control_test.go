package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"cursortray/app"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// holdVariable makes the test binary a process that claims the folder it
// names, says so and waits to be killed.
const holdVariable = "CONTROL_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		if _, err := Hold(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		select {}
	}
	goleak.VerifyTestMain(m)
}

// fakeApp is an App whose proxy does at once what it is told, except that a
// busy port stays blocked.
type fakeApp struct {
	mu       sync.Mutex
	snapshot app.Snapshot
	changed  chan struct{} // closed and replaced at each change
	actions  []app.Action
	busy     bool
	quit     func()
}

func newFakeApp(s app.Snapshot) *fakeApp {
	return &fakeApp{snapshot: s, changed: make(chan struct{}), quit: func() {}}
}

func (f *fakeApp) Snapshot() app.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot
}

func (f *fakeApp) Watch(ctx context.Context) <-chan app.Snapshot {
	out := make(chan app.Snapshot)
	go func() {
		defer close(out)
		for {
			f.mu.Lock()
			s, changed := f.snapshot, f.changed
			f.mu.Unlock()
			select {
			case out <- s:
			case <-ctx.Done():
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (f *fakeApp) Do(action app.Action) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.actions = append(f.actions, action)
	switch action.(type) {
	case app.StartProxy:
		f.snapshot.Proxy.State = app.Running
		if f.busy {
			f.snapshot.Proxy.State, f.snapshot.Proxy.Problem = app.Blocked, "port 1 is used by nginx"
		}
	case app.StopProxy:
		f.snapshot.Proxy.State = app.Stopped
	case app.Quit:
		f.quit()
	}
	f.browse(action)
	close(f.changed)
	f.changed = make(chan struct{})
}

type fakeKeys struct {
	key string
	err error
}

func (k *fakeKeys) Key(context.Context) (string, error) { return k.key, k.err }

func (k *fakeKeys) Reload() {}

func (k *fakeKeys) NewKey(context.Context) (string, error) {
	if k.err == nil {
		k.key += "-new"
	}
	return k.key, k.err
}

// serve runs a server on dir until the test ends or stop is called.
func serve(t *testing.T, dir string, cfg Config) (stop func()) {
	t.Helper()
	h, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Keys == nil {
		cfg.Keys = &fakeKeys{}
	}
	if cfg.Instance == nil {
		cfg.Instance = newFakeApp(app.Snapshot{})
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.Serve(ctx, cfg); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestStatusTellsEverything(t *testing.T) {
	dir := t.TempDir()
	noon := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	percent := 41.3
	var cost cursor.Money
	if err := cost.UnmarshalText([]byte("1.391")); err != nil {
		t.Fatal(err)
	}
	serve(t, dir, Config{Instance: newFakeApp(app.Snapshot{
		Version: "1.2.3", Demo: true, KeyProblem: "the keychain is locked",
		Proxy:   app.ProxyStatus{State: app.Blocked, Addr: "127.0.0.1:9", BaseURL: "http://127.0.0.1:9/v1", Owner: "nginx", Problem: "port 9 is used by nginx", Active: 2},
		Backend: app.BackendStatus{Name: "cursor-agent", Choice: "auto", Reason: "why", Account: "a@b.test", Problem: chat.Errorf(chat.LoginRequired, "log in")},
		Account: app.AccountStatus{State: app.LoginEnded, Email: "b@c.test", Storage: "file", Problem: chat.Errorf(chat.LoginRequired, "log in again")},
		Conversations: &app.ConversationList{All: []app.Conversation{
			{N: 2, Model: "m", Turns: 3, Last: noon, Cost: cost, Rough: true, Context: &chat.Context{
				Used: 41250, Max: 100000, Stale: true, Parts: []chat.ContextPart{{ID: "tools", Label: "Tools", Tokens: 9000}},
			}},
			{N: 1, Model: "n", Last: noon},
		}},
	})})
	got, err := NewClient(dir).Status(t.Context())
	want := Status{
		Running: true, Version: "1.2.3", PID: os.Getpid(), Demo: true,
		Proxy:   Proxy{State: "blocked", Address: "127.0.0.1:9", BaseURL: "http://127.0.0.1:9/v1", Owner: "nginx", Problem: "port 9 is used by nginx", Active: 2},
		Backend: Backend{Name: "cursor-agent", Choice: "auto", Reason: "why", Account: "a@b.test", Problem: "log in"},
		Account: Account{State: "expired", Email: "b@c.test", Storage: "file", Problem: "log in again"},
		Editors: []Editor{},
		Conversations: []Conversation{
			{N: 2, Model: "m", Turns: 3, Last: noon, Cost: "1.391", AtLeast: true, Context: &Context{
				Used: 41250, Max: 100000, Percent: &percent, Stale: true, Parts: []Part{{"tools", "Tools", 9000}},
			}},
			{N: 1, Model: "n", Last: noon},
		},
		Problems: []Problem{{"port", "port 9 is used by nginx"}, {"key", "the keychain is locked"}, {"login", "log in again"}, {"login", "log in"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, status (-want +got):\n%s", err, diff)
	}
}

func TestStartAndStopAnswerWhenItHasHappened(t *testing.T) {
	dir := t.TempDir()
	fake := newFakeApp(app.Snapshot{})
	serve(t, dir, Config{Instance: fake})
	c := NewClient(dir)
	for _, step := range []struct {
		ask  func(context.Context) (Status, error)
		want string
	}{{c.Start, "running"}, {c.Start, "running"}, {c.Stop, "stopped"}, {c.Stop, "stopped"}} {
		if s, err := step.ask(t.Context()); err != nil || s.Proxy.State != step.want {
			t.Errorf("state %q (%v), want %s", s.Proxy.State, err, step.want)
		}
	}
	fake.busy = true
	for range 2 { // from stopped, then from blocked
		if s, err := c.Start(t.Context()); err != nil || s.Proxy.State != "blocked" || s.Proxy.Problem == "" {
			t.Errorf("status %+v (%v), want blocked and why", s.Proxy, err)
		}
	}
}

func TestQuitReturnsWhenTheInstanceIsGone(t *testing.T) {
	dir := t.TempDir()
	fake := newFakeApp(app.Snapshot{})
	stop := serve(t, dir, Config{Instance: fake})
	var quitting sync.WaitGroup
	fake.quit = func() { quitting.Go(stop) }
	if err := NewClient(dir).Quit(t.Context()); err != nil {
		t.Fatal(err)
	}
	quitting.Wait()
	h, err := Hold(dir)
	if err != nil {
		t.Fatalf("after Quit the folder cannot be claimed: %v", err)
	}
	h.Close()
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	keys := &fakeKeys{key: "ct-1"}
	serve(t, dir, Config{Keys: keys})
	c := NewClient(dir)
	if key, err := c.Key(t.Context()); err != nil || key != "ct-1" {
		t.Errorf("Key gives %q, %v", key, err)
	}
	if key, err := c.NewKey(t.Context()); err != nil || key != "ct-1-new" {
		t.Errorf("NewKey gives %q, %v", key, err)
	}
	keys.err = chat.Errorf(chat.Unavailable, "the keychain is locked")
	_, err := c.Key(t.Context())
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != chat.Unavailable || e.Message != "the keychain is locked" {
		t.Errorf("error %v, want the instance's own", err)
	}
}

func TestModels(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, Config{Models: func(context.Context) ([]chat.Model, error) {
		return []chat.Model{{ID: "a", Name: "A", ContextWindow: 5, Default: true}}, nil
	}})
	got, err := NewClient(dir).Models(t.Context())
	if diff := cmp.Diff([]Model{{ID: "a", Name: "A", ContextWindow: 5, Default: true}}, got); err != nil || diff != "" {
		t.Errorf("error %v, models (-want +got):\n%s", err, diff)
	}
}

func TestNotRunning(t *testing.T) {
	tests := map[string]func(t *testing.T, dir string){
		"no folder": func(t *testing.T, dir string) { os.Remove(dir) },
		"no socket": func(*testing.T, string) {},
		"a file where the folder should be": func(t *testing.T, dir string) {
			if err := errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
		"a socket without a process": func(t *testing.T, dir string) {
			ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: socketPath(dir), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			ln.SetUnlinkOnClose(false)
			ln.Close()
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			prepare(t, dir)
			if _, err := NewClient(dir).Status(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("error %v, want ErrNotRunning", err)
			}
			if err := NewClient(dir).Quit(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("Quit: error %v, want ErrNotRunning", err)
			}
		})
	}
}

func TestAnInstanceOfAnotherVersionIsTold(t *testing.T) {
	dir := t.TempDir()
	h, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	done := make(chan error)
	go func() { done <- server.Serve(h.ln) }()
	_, err = NewClient(dir).Models(t.Context())
	if err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "another version") {
		t.Errorf("error %v", err)
	}
	server.Close()
	<-done
	h.Close()
}

func TestTD3_OneHolder(t *testing.T) {
	dir := t.TempDir()
	first, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("a second holder in this process: %v", err)
	}
	if out, err := holderProcess(t, dir).CombinedOutput(); err == nil || !strings.Contains(string(out), ErrHeld.Error()) {
		t.Errorf("a second holder in another process: %s (%v)", out, err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Errorf("Close: %v", err)
	}
	second, err := Hold(dir)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	second.Close()
}

func holderProcess(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+dir)
	return cmd
}

func TestPL1_AKilledHolderIsReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	cmd := holderProcess(t, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "held\n" {
		t.Fatalf("the process says %q (%v)", line, err)
	}
	if _, err := Hold(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // says that it was killed
	if _, err := os.Lstat(socketPath(dir)); err != nil {
		t.Fatalf("this test wants a socket that was left behind: %v", err)
	}
	serve(t, dir, Config{})
	if _, err := NewClient(dir).Status(t.Context()); err != nil {
		t.Errorf("the new holder does not answer: %v", err)
	}
}

func TestSE1_OnlyThisUserGetsIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	h, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for path, want := range map[string]fs.FileMode{dir: 0o700, socketPath(dir): 0o600, filepath.Join(dir, "lock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestSE1_AForeignLinkIsNotTrusted(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "run")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if h, err := Hold(link); err == nil {
		h.Close()
		t.Error("a link passed for the private folder")
	}
}

func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	path := socketPath(dir)
	if len(path) > maxSocketPath || path == socketPath(dir+"x") {
		t.Fatalf("socket path %s", path)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(path)) })
	stop := serve(t, dir, Config{})
	if _, err := NewClient(dir).Status(t.Context()); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A request that hangs does not keep the server from ending.
func TestServeEndsInSpiteOfAHangingRequest(t *testing.T) {
	dir := t.TempDir()
	entered := make(chan struct{})
	stop := serve(t, dir, Config{Models: func(ctx context.Context) ([]chat.Model, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	asked := make(chan error)
	go func() {
		_, err := NewClient(dir).Models(t.Context())
		asked <- err
	}()
	<-entered
	began := time.Now()
	stop()
	if err := <-asked; err == nil {
		t.Error("the request that was cut off got an answer")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("stopping took %v", took)
	}
}
