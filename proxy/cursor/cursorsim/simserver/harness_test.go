package simserver

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	api   = "https://api2.cursor.sh"
	web   = "https://cursor.com"
	agent = "https://agentn.us.api5.cursor.sh"
	usage = dashboardService + "GetCurrentPeriodUsage"
)

func TestMain(m *testing.M) {
	if target := os.Getenv("SIMSERVER_TEST_FETCH"); target != "" {
		os.Exit(fetchAsChild(target))
	}
	goleak.VerifyTestMain(m)
}

// fetchAsChild is a program that knows nothing of the simulation: it calls a
// URL with Go's defaults and prints what it gets.
func fetchAsChild(target string) int {
	r, err := http.Get(target)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	defer r.Body.Close()
	_, _ = io.Copy(os.Stdout, r.Body)
	fmt.Println(r.Proto, r.StatusCode)
	return 0
}

func start(t *testing.T, o Options) *Sim {
	t.Helper()
	s, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// clock is a time that tests move.
type clock struct{ ahead time.Duration }

func (c *clock) now() time.Time { return time.Now().Add(c.ahead) }

// client is a well-behaved Cursor client on net/http.
type client struct {
	t    *testing.T
	http *http.Client
	now  func() time.Time
	edit func(*http.Request) // spoils a request before it leaves
}

func newClient(t *testing.T, s *Sim) *client {
	return &client{t: t, http: s.HTTPClient(), now: time.Now}
}

// overHTTP1 is a client that does not speak HTTP/2, on its own connections.
func overHTTP1(t *testing.T, s *Sim) *client {
	transport := s.HTTPClient().Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = false
	transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	transport.TLSClientConfig.NextProtos = nil
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, http: &http.Client{Transport: transport}, now: time.Now}
}

const device = "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9/3424b72ee104e99be183dc60a7b751a058f3ff95747d04922fb59889f7e032b1"

// checksum writes the header's time as Cursor's clients do.
func checksum(at time.Time) string {
	n := at.UnixMilli() / 1_000_000
	b := []byte{byte(n >> 8), byte(n), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	a := byte(165)
	for i := range b {
		b[i] = (b[i] ^ a) + byte(i)
		a = b[i]
	}
	return base64.StdEncoding.EncodeToString(b)
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&15|64, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// reply is an answer, read in full.
type reply struct {
	status int
	proto  string
	header http.Header
	body   string
}

func (c *client) request(method, target, token, body string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	h := r.Header
	h.Set("X-Cursor-Client-Type", "cli")
	h.Set("X-Cursor-Client-Version", "cli-2026.08.25-3e8eec8")
	h.Set("X-Ghost-Mode", "true")
	h.Set("X-Cursor-Timezone", "Europe/Berlin")
	h.Set("X-Request-Id", newUUID())
	h.Set("X-Cursor-Checksum", checksum(c.now())+device)
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPost {
		h.Set("Content-Type", "application/json")
		if strings.Contains(target, "/aiserver.v1.") || strings.Contains(target, "/agent.v1.") {
			h.Set("Connect-Protocol-Version", "1")
		}
	}
	if c.edit != nil {
		c.edit(r)
	}
	return r
}

func (c *client) try(method, target, token, body string) (reply, error) {
	c.t.Helper()
	r, err := c.http.Do(c.request(method, target, token, body))
	if err != nil {
		return reply{}, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return reply{r.StatusCode, r.Proto, r.Header, string(text)}, err
}

func (c *client) do(method, target, token, body string) reply {
	c.t.Helper()
	r, err := c.try(method, target, token, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, target, err)
	}
	return r
}

func (c *client) post(path, token, body string) reply {
	c.t.Helper()
	return c.do(http.MethodPost, api+path, token, body)
}

// want fails unless the answer has a status and holds some texts.
func (r reply) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d; body %.300s", r.status, status, r.body)
	}
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			t.Errorf("the body lacks %q: %.300s", text, r.body)
		}
	}
}

func (r reply) tokens(t *testing.T) Tokens {
	t.Helper()
	var tokens Tokens
	if err := json.Unmarshal([]byte(r.body), &tokens); err != nil || r.status != http.StatusOK || tokens.Access == "" {
		t.Fatalf("no tokens: status %d, %v", r.status, err)
	}
	return tokens
}

// logIn gives tokens of the default account.
func logIn(t *testing.T, s *Sim) Tokens {
	t.Helper()
	tokens, err := s.NewLogin(DefaultUser, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// wantRules fails unless exactly these rules were broken, and forgets them.
func wantRules(t *testing.T, s *Sim, rules ...string) {
	t.Helper()
	var got []string
	for _, v := range s.Violations() {
		got = append(got, v.Rule)
	}
	if !slices.Equal(got, rules) {
		t.Errorf("broken rules: %q, want %q\n%v", got, rules, s.Violations())
	}
	s.Forget()
}

// awaitCalls returns when a route was called n times.
func awaitCalls(t *testing.T, s *Sim, path string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.Calls(path) < n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d calls of %s in 30 s, want %d", s.Calls(path), path, n)
		}
	}
}

// attempt is a login as a client begins it.
type attempt struct{ uuid, verifier, url, poll string }

func newAttempt() attempt {
	var random [32]byte
	_, _ = rand.Read(random[:])
	a := attempt{uuid: newUUID(), verifier: base64.RawURLEncoding.EncodeToString(random[:])}
	a.url = web + "/loginDeepControl?" + url.Values{
		"challenge": {challengeOf(a.verifier)}, "uuid": {a.uuid}, "mode": {"login"}, "redirectTarget": {"cli"},
	}.Encode()
	a.poll = api + PathPoll + "?" + url.Values{"uuid": {a.uuid}, "verifier": {a.verifier}}.Encode()
	return a
}
