package app

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestWatchGivesTheLatestToSlowReaders(t *testing.T) {
	var h hub
	ctx, cancel := context.WithCancel(t.Context())
	ch := h.watch(ctx)
	for n := range 1000 {
		h.publish(Snapshot{Notice: Notice{N: n + 1}})
	}
	if s := <-ch; s.Notice.N != 1000 {
		t.Errorf("got %d", s.Notice.N)
	}
	select {
	case s := <-ch:
		t.Errorf("a second snapshot: %+v", s)
	default:
	}
	cancel()
	if _, open := <-ch; open {
		t.Error("open after the end of its context")
	}
	h.publish(Snapshot{Version: "later"})
	h.close()
	late := h.watch(t.Context())
	if s := <-late; s.Version != "later" {
		t.Errorf("got %+v", s)
	}
	if _, open := <-late; open {
		t.Error("open after the end of the App")
	}
}

func TestWatchRaces(t *testing.T) {
	var h hub
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 500 {
				h.publish(Snapshot{Notice: Notice{N: n}})
			}
		})
		all.Go(func() {
			for range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				ch := h.watch(ctx)
				<-ch
				cancel()
				for range ch {
				}
			}
		})
	}
	all.Wait()
	h.close()
}

// silent is a listener in memory that nobody connects to.
type silent struct {
	once sync.Once
	end  chan struct{}
}

func (s *silent) Accept() (net.Conn, error) { <-s.end; return nil, net.ErrClosed }
func (s *silent) Close() error              { s.once.Do(func() { close(s.end) }); return nil }
func (s *silent) Addr() net.Addr            { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765} }

// counting counts checks.
type counting struct {
	chat.Backend
	checks atomic.Int32
	err    atomic.Pointer[chat.Error]
}

func (b *counting) Check(context.Context) error {
	b.checks.Add(1)
	if err := b.err.Load(); err != nil {
		return err
	}
	return nil
}

// quiet runs an App in a bubble of fake time.
func quiet(t *testing.T, b *counting) (a *App, finish func()) {
	t.Helper()
	a = New(Config{
		Addr: "127.0.0.1:8765", Backend: b, Keys: &fakeKeys{}, Copy: func(context.Context, string) error { return nil },
		Listen: func(string) (net.Listener, error) { return &silent{end: make(chan struct{})}, nil },
	})
	ended := make(chan error, 1)
	go func() { ended <- a.Run(t.Context()) }()
	time.Sleep(firstCheck)
	synctest.Wait()
	return a, func() {
		a.Do(Quit{})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestBackendIsCheckedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &counting{Backend: chattest.New()}
		a, finish := quiet(t, b)
		if n := b.checks.Load(); n != 1 {
			t.Errorf("%d checks at the start", n)
		}
		b.err.Store(chat.Errorf(chat.LoginRequired, "logged out"))
		time.Sleep(checkInterval + time.Second)
		if p := a.Snapshot().Backend.Problem; p == nil || p.Kind != chat.LoginRequired {
			t.Errorf("problem %v", p)
		}
		shown := a.Snapshot()
		time.Sleep(3 * checkInterval)
		if n := b.checks.Load(); n != 5 {
			t.Errorf("%d checks", n)
		}
		if a.Snapshot() != shown {
			t.Error("the same problem is a new snapshot")
		}
		finish()
	})
}

func TestFailingRequestsCauseAFewChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &counting{Backend: chattest.New(chattest.Turn{chattest.Fail(chat.Errorf(chat.BadGateway, "no answer"))})}
		a, finish := quiet(t, b)
		seen := observed{Backend: b, app: a}
		for range 100 {
			for _, err := range seen.Chat(t.Context(), &chat.Request{}) {
				_ = err
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(checkSpacing)
		if n := b.checks.Load(); n < 2 || n > 4 {
			t.Errorf("%d checks for 100 failed requests within 10 s", n)
		}
		finish()
	})
}

func TestNoticeGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, finish := quiet(t, &counting{Backend: chattest.New()})
		a.Do(CopyBaseURL{})
		synctest.Wait()
		if n := a.Snapshot().Notice; n.Text == "" {
			t.Error("no notice")
		}
		time.Sleep(noticeTime + time.Second)
		if n := a.Snapshot().Notice; n.Text != "" || n.N != 1 {
			t.Errorf("notice %+v", n)
		}
		finish()
	})
}

func TestActivityIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, finish := quiet(t, &counting{Backend: chattest.New()})
		changes := 0
		ctx, stop := context.WithCancel(t.Context())
		var reader sync.WaitGroup
		reader.Go(func() {
			for range a.Watch(ctx) {
				changes++
			}
		})
		for n := range 1000 {
			a.setActive(n % 7)
			time.Sleep(time.Millisecond)
		}
		a.setActive(3)
		time.Sleep(time.Second)
		if n := a.Snapshot().Proxy.Active; n != 3 {
			t.Errorf("%d active", n)
		}
		stop()
		reader.Wait()
		if changes > 10 {
			t.Errorf("%d snapshots for 1 s of changes", changes)
		}
		finish()
	})
}

func TestBrokenListenerIsAState(t *testing.T) {
	ln := make(chan net.Listener, 4)
	r := newRig(t, func(c *Config) {
		c.Listen = func(addr string) (net.Listener, error) {
			l, err := net.Listen("tcp", addr)
			if err == nil {
				ln <- l
			}
			return l, err
		}
	})
	url := r.in(t, Running).Proxy.BaseURL
	(<-ln).Close()
	if s := r.in(t, Blocked); s.Proxy.Problem == "" {
		t.Error("no problem is shown")
	}
	r.Do(StartProxy{})
	r.in(t, Running)
	if code := get(t, url+"/models"); code != http.StatusOK {
		t.Errorf("GET models: %d", code)
	}
}
