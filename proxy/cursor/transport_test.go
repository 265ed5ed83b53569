package cursor

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

func newClient(f *fakeCursor, cfg Config, s *TokenSource) *http.Client {
	return &http.Client{Transport: &Transport{
		Base: f.Client().Transport, Tokens: s, Hosts: cfg.Hosts, Identity: &Identity{version: "cli-1.0", privacy: true},
	}}
}

func TestAU2_A401IsRetriedOnce(t *testing.T) {
	tests := []struct {
		name   string
		body   io.Reader
		revoke func(f *fakeCursor, c Credentials) // before the call
		status int
		code   string // of the error, "" if there is an answer
		calls  int
	}{
		{"good token", strings.NewReader("hello"), func(*fakeCursor, Credentials) {}, 200, "", 1},
		{"token refused", strings.NewReader("hello"), func(f *fakeCursor, c Credentials) { delete(f.valid, c.access) }, 200, "", 2},
		{"no body", nil, func(f *fakeCursor, c Credentials) { delete(f.valid, c.access) }, 200, "", 2},
		{"body that cannot be sent again", io.MultiReader(strings.NewReader("hello")),
			func(f *fakeCursor, c Credentials) { delete(f.valid, c.access) }, 401, "", 1},
		{"refused for ever", strings.NewReader("hello"),
			func(f *fakeCursor, c Credentials) { f.faults["/call"] = status(401) }, 401, "", 2},
		{"login ended", strings.NewReader("hello"),
			func(f *fakeCursor, c Credentials) { delete(f.valid, c.access); f.refresh = "other" }, 0, CodeLoginEnded, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeCursor(t)
			c := f.login(time.Hour)
			cfg := f.config(t, storeOf(c))
			s := newSource(t, cfg)
			f.set(func() { tt.revoke(f, c) })
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL+"/call", tt.body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := newClient(f, cfg, s).Do(req)
			if tt.code != "" {
				wantCode(t, err, chat.LoginRequired, tt.code)
			} else if err != nil {
				t.Fatal(err)
			} else if _, _ = io.Copy(io.Discard, resp.Body); resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if resp != nil {
				resp.Body.Close()
			}
			f.wantCalls(t, "/call", tt.calls)
			if n := f.count(exchangePath); n > 1 {
				t.Errorf("%d renewals", n)
			}
			if req.Header.Get("Authorization") != "" {
				t.Error("the caller's request was changed")
			}
			for _, body := range f.seenBody {
				if tt.body != nil && body != "hello" {
					t.Errorf("body %q was sent", body)
				}
			}
		})
	}
}

func TestAServerThatRefusesEverythingIsNotFlooded(t *testing.T) {
	f := newFakeCursor(t)
	f.faults["/call"] = status(401)
	cfg := f.config(t, storeOf(f.login(time.Hour)))
	client := newClient(f, cfg, newSource(t, cfg))
	for range 20 {
		resp, err := client.Get(f.URL + "/call")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	f.wantCalls(t, exchangePath, 1)
	f.wantCalls(t, "/call", 21)
}

func TestFiftyCallsAtExpiry(t *testing.T) {
	f := newFakeCursor(t)
	c := f.login(time.Hour)
	delete(f.valid, c.access) // looks good, but Cursor no longer takes it
	cfg := f.config(t, storeOf(c))
	client := newClient(f, cfg, newSource(t, cfg))
	results := inParallel(t, 50, func() (string, error) {
		resp, err := client.Post(f.URL+"/call", "text/plain", bytes.NewReader([]byte("x")))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		return resp.Status, nil
	})
	if len(results) != 1 {
		t.Errorf("results: %v", results)
	}
	f.wantCalls(t, exchangePath, 1)
	ids := map[string]bool{}
	for _, h := range f.seen {
		ids[h.Get("X-Request-Id")] = true
	}
	if len(ids) != len(f.seen) {
		t.Errorf("%d request ids for %d calls", len(ids), len(f.seen))
	}
}

func TestSE3_TokenGoesToCursorOnly(t *testing.T) {
	f := newFakeCursor(t)
	cfg := f.config(t, storeOf(f.login(time.Hour)))
	s := newSource(t, cfg)
	for text, want := range map[string]bool{
		f.URL + "/call":                            true,
		"https://agentn.us.api5.cursor.sh/run":     true,
		"https://api2.cursor.sh/x":                 true,
		"http://api2.cursor.sh/x":                  false,
		"https://cursor.sh.evil.com/":              false,
		"https://evilcursor.sh/":                   false,
		"https://user@api2.cursor.sh/":             false,
		strings.Replace(f.URL, "https", "http", 1): false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Hosts.mayHaveToken(u); got != want {
			t.Errorf("mayHaveToken(%s) = %v", text, got)
		}
	}
	sent := false
	transport := &Transport{Tokens: s, Hosts: cfg.Hosts, Identity: &Identity{}, Base: roundTripper(func(*http.Request) { sent = true })}
	_, err := (&http.Client{Transport: transport}).Get("https://cursor.sh.evil.com/")
	wantCode(t, err, chat.Internal, "")
	if sent {
		t.Error("the call was made")
	}
}

type roundTripper func(*http.Request)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	f(req)
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}
