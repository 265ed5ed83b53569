package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy"
	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/choice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "the-key"

// fakeKeys is a key store; err makes it fail, which it tells until Reload.
type fakeKeys struct {
	mu   sync.Mutex
	err  error
	told error
}

func (k *fakeKeys) Key(context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.told == nil {
		k.told = k.err
	}
	return testKey, k.told
}

func (k *fakeKeys) Reload() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told = nil
}

func (k *fakeKeys) NewKey(ctx context.Context) (string, error) { return k.Key(ctx) }

func (k *fakeKeys) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
}

// rig is an App that runs, with what a test looks at.
type rig struct {
	*App
	backend *chattest.Backend
	keys    *fakeKeys
	copies  chan string
	stop    context.CancelFunc
	ended   chan error
}

func newRig(t *testing.T, change func(*Config), turns ...chattest.Turn) *rig {
	t.Helper()
	r := &rig{backend: chattest.New(turns...), keys: &fakeKeys{}, copies: make(chan string, 8), ended: make(chan error, 1)}
	cfg := Config{
		Addr: "127.0.0.1:0", Backend: r.backend, Chooser: &fakeChooser{now: choice.Choice{Setting: "auto", Name: "fake", Reason: "a test"}},
		Keys: r.keys, Version: "9.9", Logger: slog.New(slog.DiscardHandler),
		Copy: func(_ context.Context, text string) error { r.copies <- text; return nil },
	}
	if change != nil {
		change(&cfg)
	}
	r.App = New(cfg)
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		r.Do(Quit{})
		r.Do(Quit{})
		for range r.Watch(context.WithoutCancel(ctx)) {
		}
	})
	return r
}

// until waits for a snapshot that cond likes.
func (r *rig) until(t *testing.T, what string, cond func(Snapshot) bool) Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for s := range r.Watch(ctx) {
		if cond(s) {
			return s
		}
	}
	t.Fatalf("%s: it is %+v", what, r.Snapshot())
	return Snapshot{}
}

func (r *rig) in(t *testing.T, state ProxyState) Snapshot {
	t.Helper()
	return r.until(t, "the proxy is "+state.String(), func(s Snapshot) bool { return s.Proxy.State == state })
}

func (r *rig) ends(t *testing.T, atMost time.Duration) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(atMost):
		t.Fatalf("Run did not return within %v", atMost)
		return nil
	}
}

// get answers the status of a GET, 0 when nobody listens.
func get(t *testing.T, url string) int {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// ask starts a streamed answer and returns once its first text has come.
func ask(t *testing.T, base string) (rest func() string) {
	t.Helper()
	resp := post(t, base)
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "hello") {
	}
	return func() string {
		var b strings.Builder
		for lines.Scan() {
			b.WriteString(lines.Text() + "\n")
		}
		return b.String()
	}
}

func TestPL1_StopClosesThePortAndStartOpensTheSame(t *testing.T) {
	r := newRig(t, nil)
	url := r.in(t, Running).Proxy.BaseURL
	for range 3 {
		if code := get(t, url+"/models"); code != http.StatusOK {
			t.Fatalf("GET models: %d", code)
		}
		r.Do(StopProxy{})
		r.in(t, Stopped)
		if code := get(t, url+"/models"); code != 0 {
			t.Fatalf("the port still answers with %d", code)
		}
		r.Do(StartProxy{})
		if again := r.in(t, Running).Proxy.BaseURL; again != url {
			t.Fatalf("the proxy moved from %s to %s", url, again)
		}
	}
}

func TestPL1_BusyPortIsNamedAndTakenWhenFree(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := other.Addr().String()
	var attempts atomic.Int32
	r := newRig(t, func(c *Config) {
		c.Addr = addr
		c.Listen = func(at string) (net.Listener, error) {
			if at == addr { // others are looked at as what to move to
				defer attempts.Add(1)
			}
			return net.Listen("tcp", at)
		}
	})
	s := r.in(t, Blocked)
	if want := fmt.Sprintf("port %d is used by ", portOf(addr)); !strings.HasPrefix(s.Proxy.Problem, want) {
		t.Errorf("problem %q", s.Proxy.Problem)
	}
	if p := s.Problems(); len(p) != 1 || p[0].Area != "port" {
		t.Errorf("problems %v", p)
	}
	r.Do(StartProxy{})
	for attempts.Load() < 2 {
		runtime.Gosched()
	}
	r.until(t, "still busy", func(s Snapshot) bool { return s.Proxy.State == Blocked && s.Proxy.Addr == addr })
	other.Close()
	r.Do(StartProxy{})
	if s := r.in(t, Running); s.Proxy.Addr != addr || s.Proxy.Problem != "" || s.Proxy.Owner != "" {
		t.Errorf("after the retry: %+v", s.Proxy)
	}
}

func TestFailFastReturnsTheFirstError(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, c := range map[string]struct{ addr, want string }{
		"busy":    {other.Addr().String(), "is used by"},
		"remote":  {"0.0.0.0:0", "allow_remote"},
		"nothing": {"nonsense", "HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(cfg *Config) { cfg.Addr, cfg.FailFast = c.addr, true })
			if err := r.ends(t, 20*time.Second); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run: %v, want %q", err, c.want)
			}
		})
	}
}

func TestRemoteAddressIsRefusedWithoutLeave(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Addr = "0.0.0.0:0"
		c.Listen = func(string) (net.Listener, error) { t.Error("it listens"); return nil, errors.New("no") }
	})
	if s := r.in(t, Blocked); !strings.Contains(s.Proxy.Problem, "allow_remote = true") {
		t.Errorf("problem %q", s.Proxy.Problem)
	}
}

func TestPL2_ProxyRunsThoughTheBackendCannot(t *testing.T) {
	problem := chat.Errorf(chat.Unavailable, "cursor-agent was not found")
	r := newRig(t, func(c *Config) { c.Backend.(*chattest.Backend).SetCheck(problem) })
	s := r.until(t, "the problem shows", func(s Snapshot) bool { return s.Backend.Problem != nil && s.Proxy.State == Running })
	h := s.Health()
	if h.Status != "problem" || len(h.Problems) != 1 || h.Problems[0].Area != "backend" || h.Problems[0].Message != problem.Message {
		t.Errorf("health %+v", h)
	}
	if code := get(t, strings.TrimSuffix(s.Proxy.BaseURL, "/v1")+"/health"); code != http.StatusOK {
		t.Errorf("GET /health: %d", code)
	}
	r.backend.SetCheck(nil)
	r.Do(Recheck{})
	s = r.until(t, "the problem goes", func(s Snapshot) bool { return s.Backend.Problem == nil })
	if h := s.Health(); h.Status != "ok" || h.Version != "9.9" || h.Backend != "fake" || h.Choice != "auto" || h.Reason != "a test" {
		t.Errorf("health %+v", h)
	}
}

func TestFailedRequestShowsAndSuccessClears(t *testing.T) {
	good := chattest.Turn{chattest.Text("hello"), chattest.Finish(chat.Stop)}
	r := newRig(t, nil, chattest.Turn{chattest.Fail(chat.Errorf(chat.QuotaSpent, "the allowance is used up"))}, good)
	url := r.in(t, Running).Proxy.BaseURL
	_, _ = io.Copy(io.Discard, post(t, url).Body)
	s := r.until(t, "the quota shows", func(s Snapshot) bool { return s.Backend.Problem != nil })
	if p := s.Problems(); p[0].Area != "plan" {
		t.Errorf("problems %v", p)
	}
	_, _ = io.Copy(io.Discard, post(t, url).Body)
	r.until(t, "the quota goes", func(s Snapshot) bool { return s.Backend.Problem == nil })
}

func TestActivityShowsRunningRequests(t *testing.T) {
	gate := make(chan struct{})
	r := newRig(t, nil, chattest.Turn{chattest.Text("hello"), chattest.Wait(gate), chattest.Finish(chat.Stop)})
	rest := ask(t, r.in(t, Running).Proxy.BaseURL)
	r.until(t, "one runs", func(s Snapshot) bool { return s.Proxy.Active == 1 })
	close(gate)
	if got := rest(); !strings.Contains(got, "[DONE]") {
		t.Errorf("the answer ended with %q", got)
	}
	r.until(t, "none runs", func(s Snapshot) bool { return s.Proxy.Active == 0 })
}

func TestQuitLetsRunningAnswersEnd(t *testing.T) {
	gate := make(chan struct{})
	r := newRig(t, nil, chattest.Turn{chattest.Text("hello"), chattest.Wait(gate), chattest.Text("bye"), chattest.Finish(chat.Stop)})
	url := r.in(t, Running).Proxy.BaseURL
	rest := ask(t, url)
	r.Do(Quit{})
	r.in(t, Stopping)
	waitClosed(t, url)
	close(gate)
	if got := rest(); !strings.Contains(got, "bye") || !strings.Contains(got, "[DONE]") {
		t.Errorf("the answer was cut: %q", got)
	}
	if err := r.ends(t, 4*time.Second); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func waitClosed(t *testing.T, url string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); get(t, url+"/models") == http.StatusOK; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("new requests are still served")
		}
	}
}

func TestSecondQuitDoesNotWait(t *testing.T) {
	r := newRig(t, nil, chattest.Turn{chattest.Text("hello"), chattest.Silence()})
	ask(t, r.in(t, Running).Proxy.BaseURL)
	r.Do(Quit{})
	r.in(t, Stopping)
	began := time.Now()
	r.Do(Quit{})
	if err := r.ends(t, 4*time.Second); err != nil {
		t.Errorf("Run: %v", err)
	}
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestEndOfContextQuits(t *testing.T) {
	r := newRig(t, nil)
	url := r.in(t, Running).Proxy.BaseURL
	r.stop()
	if err := r.ends(t, 10*time.Second); err != nil {
		t.Errorf("Run: %v", err)
	}
	if code := get(t, url+"/models"); code != 0 {
		t.Errorf("the port answers %d after the end", code)
	}
	if err := r.backend.Check(t.Context()); err == nil {
		t.Error("the back-end was not closed")
	}
}

func TestStopBeforeRunStartsNothing(t *testing.T) {
	a := New(Config{
		Addr: "127.0.0.1:0", Backend: chattest.New(), Keys: &fakeKeys{},
		Listen: func(string) (net.Listener, error) { t.Error("it listens"); return nil, errors.New("no") },
	})
	a.Do(StopProxy{})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(t.Context()) }()
	a.Do(Quit{})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := a.Run(t.Context()); err == nil {
		t.Error("an App ran twice")
	}
	a.Do(StartProxy{}) // dropped
}

func TestCopy(t *testing.T) {
	r := newRig(t, nil)
	url := r.in(t, Running).Proxy.BaseURL
	r.Do(CopyBaseURL{})
	if got := <-r.copies; got != url {
		t.Errorf("copied %q", got)
	}
	r.until(t, "a notice", func(s Snapshot) bool { return s.Notice == Notice{"Base URL copied", 1} })
	r.Do(CopyKey{})
	if got := <-r.copies; got != testKey {
		t.Errorf("copied %q", got)
	}
	s := r.until(t, "a second notice", func(s Snapshot) bool { return s.Notice.N == 2 })
	if strings.Contains(fmt.Sprintf("%+v", s), testKey) {
		t.Error("the key is in the snapshot")
	}
	r.keys.fail(chat.Errorf(chat.Unavailable, "the keychain is locked"))
	r.Do(CopyKey{})
	r.until(t, "a third notice", func(s Snapshot) bool {
		return s.Notice == Notice{"API key not copied: the keychain is locked", 3}
	})
	r.Do(Recheck{})
	r.until(t, "the key's problem", func(s Snapshot) bool { return s.KeyProblem == "the keychain is locked" })
	r.keys.fail(nil)
	r.Do(Recheck{})
	r.until(t, "no problem", func(s Snapshot) bool { return s.KeyProblem == "" })
}

// A keychain that was unlocked elsewhere shows with the next request.
func TestRequestEndsTheProblemOfTheKey(t *testing.T) {
	r := newRig(t, nil)
	r.keys.fail(chat.Errorf(chat.Unavailable, "the keychain is locked"))
	r.Do(Recheck{})
	r.until(t, "the key's problem", func(s Snapshot) bool { return s.KeyProblem != "" })
	r.keys.fail(nil)
	r.keys.Reload()
	if _, ok, err := r.authorize(t.Context(), testKey); !ok || err != nil {
		t.Fatalf("authorize: %v, %v", ok, err)
	}
	r.until(t, "no problem", func(s Snapshot) bool { return s.KeyProblem == "" })
}

func TestAuthorizeComparesTheKey(t *testing.T) {
	keys := &fakeKeys{}
	a := New(Config{Keys: keys})
	for key, want := range map[string]bool{testKey: true, "": false, "the-kez": false, testKey + "x": false} {
		if who, ok, err := a.authorize(t.Context(), key); ok != want || err != nil || who != (proxy.Caller{}) {
			t.Errorf("%q: %v %v, %v", key, who, ok, err)
		}
	}
	keys.fail(chat.Errorf(chat.Unavailable, "locked"))
	if _, ok, err := a.authorize(t.Context(), testKey); ok || err == nil {
		t.Errorf("without a store: %v, %v", ok, err)
	}
}

func TestManyActionsFromManyGoroutines(t *testing.T) {
	r := newRig(t, nil)
	r.in(t, Running)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for range 20 {
				r.Do(StopProxy{})
				r.Do(StartProxy{})
				r.Do(Recheck{})
				_ = r.Snapshot().Problems()
			}
		})
	}
	users.Wait()
	r.Do(StopProxy{})
	r.Do(StartProxy{})
	r.in(t, Running)
}
