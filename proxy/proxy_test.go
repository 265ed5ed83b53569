package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey = "local-key-0123456789"
	ask     = `{"model":"fake-model","messages":[{"role":"user","content":"hi"}]}`
	askLive = `{"model":"fake-model","stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

// port is a server that runs on a port of 127.0.0.1.
type port struct {
	t       *testing.T
	server  *Server
	backend *chattest.Backend
	addr    string
	client  *http.Client
	stop    context.CancelFunc
	log     *logBuffer

	once   sync.Once
	result error
	ended  chan struct{}
}

// logBuffer collects a log that is read when its writers may still run.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve starts a server with a fake back-end that plays turn, and the test's
// key. adjust may change both before the start.
func serve(t *testing.T, turn chattest.Turn, adjust func(*Config)) *port {
	t.Helper()
	return serveOn(t, "127.0.0.1:0", turn, adjust, nil)
}

func serveOn(t *testing.T, addr string, turn chattest.Turn, adjust func(*Config), tune func(*Server)) *port {
	t.Helper()
	p := &port{t: t, backend: chattest.New(turn), log: &logBuffer{}, ended: make(chan struct{})}
	cfg := Config{
		Backend:   p.backend,
		Authorize: func(_ context.Context, key string) (Caller, bool, error) { return Caller{}, key == testKey, nil },
		Health:    func(context.Context) Health { return Health{Status: "ok", Version: "1.2.3", Backend: "fake"} },
		Logger:    slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Grace:     10 * time.Second,
	}
	if adjust != nil {
		adjust(&cfg)
	}
	p.server = New(cfg)
	if tune != nil {
		tune(p.server)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	p.stop = cancel
	p.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go func() {
		defer close(p.ended)
		p.result = p.server.Serve(ctx, ln)
	}()
	t.Cleanup(p.close)
	return p
}

// close stops the server and waits for its end, which must be clean.
func (p *port) close() {
	p.once.Do(func() {
		p.stop()
		select {
		case <-p.ended:
		case <-time.After(20 * time.Second):
			p.t.Fatal("Serve does not return")
		}
		p.client.CloseIdleConnections()
		if p.result != nil {
			p.t.Errorf("Serve: %v", p.result)
		}
	})
}

// request makes a request with the key and JSON content; set may change it.
func (p *port) request(method, path, body string, set func(*http.Request)) *http.Request {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	if set != nil {
		set(r)
	}
	return r
}

func (p *port) do(r *http.Request) *http.Response {
	p.t.Helper()
	response, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return response
}

// call makes a request and reads the whole answer.
func (p *port) call(method, path, body string, set func(*http.Request)) (*http.Response, string) {
	p.t.Helper()
	response := p.do(p.request(method, path, body, set))
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response, string(text)
}

// errorCode returns the code of an error object, and complains about anything
// that is not a whole one.
func errorCode(t *testing.T, response *http.Response, body string) string {
	t.Helper()
	var out struct {
		Error *struct {
			Message, Type, Code string
			Param               *string
		}
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || out.Error == nil ||
		out.Error.Message == "" || out.Error.Type == "" || out.Error.Code == "" {
		t.Fatalf("status %d, not a whole error object: %q (%v)", response.StatusCode, body, err)
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("an error of type %q", got)
	}
	if response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers of an error: %v", response.Header)
	}
	return out.Error.Code
}

// eventually polls until what holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		<-tick.C
	}
}

func hello() chattest.Turn { return chattest.Turn{chattest.Text("Hello"), chattest.Finish(chat.Stop)} }

func without(header string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Del(header) }
}

func with(header, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(header, value) }
}
