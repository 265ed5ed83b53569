package cursor

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

// fakeCursor is the part of Cursor's API that this package calls, over TLS.
type fakeCursor struct {
	*httptest.Server

	mu       sync.Mutex
	calls    map[string]int // by path
	serial   int            // of the tokens given out
	valid    map[string]bool
	refresh  string // the one that is accepted
	key      string
	polls    int           // answers "not yet" before the login is confirmed
	life     time.Duration // of new access tokens
	rotate   bool          // a renewal gives a new refresh token
	opaque   bool          // access tokens do not tell their end
	faults   map[string]func(w http.ResponseWriter)
	skew     time.Duration // of the server's clock
	hold     chan struct{} // calls wait for it to be closed, if set
	arrived  chan struct{} // and tell that they do
	seen     []http.Header
	seenBody []string
}

func newFakeCursor(t *testing.T) *fakeCursor {
	t.Helper()
	f := &fakeCursor{
		calls: map[string]int{}, valid: map[string]bool{}, refresh: "refresh-secret-0", key: "crsr_secret",
		life: time.Hour, rotate: true, faults: map[string]func(http.ResponseWriter){},
	}
	f.Server = httptest.NewUnstartedServer(f)
	f.Server.EnableHTTP2 = true
	f.Server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	f.Server.StartTLS()
	t.Cleanup(f.Server.Close)
	return f
}

func (f *fakeCursor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls[r.URL.Path]++
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		f.arrived <- struct{}{}
		<-hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(f.skew).UTC().Format(http.TimeFormat))
	if fault := f.faults[r.URL.Path]; fault != nil {
		fault(w)
		return
	}
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch r.Method + " " + r.URL.Path {
	case "GET /auth/poll":
		if f.polls--; f.polls >= 0 {
			w.WriteHeader(404)
			return
		}
		f.answer(w, true)
	case "POST /auth/exchange_user_api_key":
		f.answerIf(w, bearer == f.refresh || bearer == f.key, bearer == f.key)
	case "POST /auth/refresh":
		f.answerIf(w, bearer == f.refresh, false)
	case "POST /auth/token":
		var in struct{ RefreshToken string }
		_ = json.Unmarshal(body, &in)
		f.answerIf(w, in.RefreshToken == f.refresh, false)
	default:
		f.seen = append(f.seen, r.Header.Clone())
		f.seenBody = append(f.seenBody, string(body))
		if !f.valid[bearer] {
			w.WriteHeader(401)
			return
		}
		fmt.Fprint(w, `{"ok":true}`)
	}
}

func (f *fakeCursor) answerIf(w http.ResponseWriter, ok, isKey bool) {
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(401)
		fmt.Fprint(w, `{"error":"Invalid User API Key"}`)
		return
	}
	f.answer(w, f.rotate || isKey)
}

// answer gives new tokens. It needs f.mu.
func (f *fakeCursor) answer(w http.ResponseWriter, refresh bool) {
	f.serial++
	access := f.access(f.life)
	out := map[string]string{"accessToken": access, "extra": "ignored"}
	if refresh {
		f.refresh = fmt.Sprintf("refresh-secret-%d", f.serial)
		out["refreshToken"] = f.refresh
	}
	_ = json.NewEncoder(w).Encode(out)
}

// access makes a token that is good. It needs f.mu, or a server at rest.
func (f *fakeCursor) access(life time.Duration) string {
	f.serial++
	token := makeJWT(fmt.Sprintf(`{"sub":"auth0|user_secret","exp":%d,"n":%d}`, time.Now().Add(f.skew+life).Unix(), f.serial))
	if f.opaque {
		token = fmt.Sprintf("opaque-secret-%d", f.serial)
	}
	f.valid[token] = true
	return token
}

// holdCalls lets calls wait until release; arrived yields one value per call.
func (f *fakeCursor) holdCalls() (arrived <-chan struct{}, release func()) {
	hold := make(chan struct{})
	f.set(func() { f.hold, f.arrived = hold, make(chan struct{}, 100) })
	return f.arrived, func() {
		f.set(func() { f.hold = nil })
		close(hold)
	}
}

// login returns credentials that the server accepts for a while.
func (f *fakeCursor) login(life time.Duration) Credentials {
	f.mu.Lock()
	defer f.mu.Unlock()
	return newCredentials(f.access(life), f.refresh, "")
}

func (f *fakeCursor) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// count returns the number of calls to a path.
func (f *fakeCursor) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[path]
}

func (f *fakeCursor) wantCalls(t *testing.T, path string, want int) {
	t.Helper()
	if n := f.count(path); n != want {
		t.Errorf("%d calls of %s, want %d", n, path, want)
	}
}

func (f *fakeCursor) config(t *testing.T, store Store) Config {
	t.Helper()
	hosts, err := ParseHosts(f.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Client: f.Client(), Hosts: hosts, Store: store, LockFile: t.TempDir() + "/login.lock"}
}

func newSource(t *testing.T, cfg Config) *TokenSource {
	t.Helper()
	s := NewTokenSource(cfg)
	t.Cleanup(func() { s.Close() })
	return s
}

func makeJWT(payload string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part([]byte(payload)) + ".secret"
}

// memStore is a Store in memory that can fail.
type memStore struct {
	mu             sync.Mutex
	values         map[string][]byte
	getErr, setErr error
	delErr         error // and the value stays
	gets, sets     int
}

func storeOf(c Credentials) *memStore {
	return &memStore{values: map[string][]byte{loginName: c.encode()}}
}

func (m *memStore) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	if m.getErr != nil {
		return nil, m.getErr
	}
	value, ok := m.values[name]
	if !ok {
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	return bytes.Clone(value), nil
}

func (m *memStore) Set(_ context.Context, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sets++
	if m.setErr != nil {
		return m.setErr
	}
	if m.values == nil {
		m.values = map[string][]byte{}
	}
	m.values[name] = bytes.Clone(value)
	return nil
}

func (m *memStore) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.delErr != nil {
		return m.delErr
	}
	delete(m.values, name)
	return m.setErr
}

func (m *memStore) stored(t *testing.T) (Credentials, bool) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.values[loginName]
	if !ok {
		return Credentials{}, false
	}
	c, err := decodeCredentials(text)
	if err != nil {
		t.Fatal(err)
	}
	return c, true
}

func wantCode(t *testing.T, err error, kind chat.Kind, code string) {
	t.Helper()
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code {
		t.Errorf("err = %v, want kind %v, code %s", err, kind, code)
	}
}

// Answers of a Cursor that does not work.
func status(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}

func said(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func page(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		fmt.Fprint(w, "<html>Log in to the hotel's network</html>")
	}
}

func cutBody(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "500")
	fmt.Fprint(w, `{"accessToken":"cut-secr`)
	panic(http.ErrAbortHandler)
}
