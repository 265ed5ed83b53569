package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// linker makes links that tell their page.
type linker struct{}

func (linker) Link(page string) (string, error) {
	if page == "nonsense" {
		return "", chat.Errorf(chat.Invalid, "there is no such page")
	}
	return "/dashboard/open?page=" + page + "&token=secret-token", nil
}

func TestTheDashboardWaitsForThePort(t *testing.T) {
	opened := make(chan string, 8)
	cfg := Config{
		Addr: "127.0.0.1:0", Backend: chattest.New(), Keys: &fakeKeys{}, Dashboard: linker{},
		Open: func(_ context.Context, url string) error { opened <- url; return nil },
	}
	a := New(cfg)
	a.Do(OpenDashboard{Page: "start"}) // before there is a port
	ended := make(chan error, 1)
	go func() { ended <- a.Run(t.Context()) }()
	url := <-opened
	var s Snapshot
	for s = range a.Watch(t.Context()) {
		if s.Proxy.State == Running {
			break
		}
	}
	if want := strings.TrimSuffix(s.Proxy.BaseURL, "/v1") + "/dashboard/open?page=start&token=secret-token"; url != want {
		t.Errorf("it opens %q, want %q", url, want)
	}
	if link, err := a.DashboardLink(t.Context(), "models"); err != nil || !strings.Contains(link, "page=models") {
		t.Errorf("a link: %q, %v", link, err)
	}
	if _, err := a.DashboardLink(t.Context(), "nonsense"); err == nil || chat.AsError(err).Kind != chat.Invalid {
		t.Errorf("a page that is not there: %v", err)
	}
	a.Do(Quit{})
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(opened) > 0 {
		t.Errorf("it opens %q as well", <-opened)
	}
}

func TestTheDashboardNeedsThePort(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Dashboard = linker{}
		c.Open = func(context.Context, string) error { return nil }
	})
	r.in(t, Running)
	r.Do(StopProxy{})
	r.in(t, Stopped)
	r.Do(OpenDashboard{})
	r.until(t, "it says that the proxy has to run", func(s Snapshot) bool { return strings.Contains(s.Notice.Text, "start the proxy first") })
	if _, err := r.DashboardLink(t.Context(), ""); err == nil {
		t.Error("there is a link without a port")
	}
}

func TestABrowserThatDoesNotOpenTellsNoSecret(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	r := newRig(t, func(c *Config) {
		c.Dashboard = linker{}
		c.Open = func(_ context.Context, url string) error { return errors.New("exec: xdg-open " + url + ": not found") }
		c.Logger = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))
	})
	r.in(t, Running)
	r.Do(OpenDashboard{})
	r.until(t, "it says how to open it by hand", func(s Snapshot) bool { return strings.Contains(s.Notice.Text, "cursortray open --no-browser") })
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(log.String(), "secret-token") || !strings.Contains(log.String(), "could not be opened") {
		t.Errorf("the log says %s", log.String())
	}
}

type lockedWriter struct {
	mu  *sync.Mutex
	out *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// The first page has a field for an API key. Where it cannot be shown, the command
// is copied.
func TestTheKeyHasAPage(t *testing.T) {
	opened, copied := make(chan string, 1), make(chan string, 1)
	r := newRig(t, func(c *Config) {
		c.Dashboard = linker{}
		c.Open = func(_ context.Context, url string) error { opened <- url; return nil }
		c.Copy = func(_ context.Context, text string) error { copied <- text; return nil }
	})
	r.in(t, Running)
	r.Do(SignInWithKey{})
	if url := <-opened; !strings.Contains(url, "page=start") {
		t.Errorf("opened is %s", url)
	}
	r.Do(StopProxy{})
	r.in(t, Stopped)
	r.Do(SignInWithKey{})
	if text := <-copied; text != keyCommand {
		t.Errorf("copied is %q", text)
	}
}
