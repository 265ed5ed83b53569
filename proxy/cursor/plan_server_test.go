package cursor

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

const service = "/aiserver.v1.DashboardService/"

// planServer is the part of Cursor that tells about plans: its API, and the
// website, which takes the token in a cookie.
type planServer struct {
	*httptest.Server
	token string // that is accepted

	mu      sync.Mutex
	answers map[string]planAnswer // by path, with "?" and the team's id for a team
	forbid  bool                  // a wrong token is answered with 403
	calls   []string
	serial  int
}

type planAnswer struct {
	status int
	body   string
	header map[string]string
}

func answered(body string) planAnswer { return planAnswer{status: 200, body: body} }

func newPlanServer(t *testing.T, answers map[string]planAnswer) *planServer {
	t.Helper()
	s := &planServer{answers: answers, token: planToken(0)}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func planToken(serial int) string {
	return makeJWT(fmt.Sprintf(`{"sub":"auth0|user_01EXAMPLE","exp":%d,"n":%d}`, time.Now().Add(time.Hour).Unix(), serial))
}

func (s *planServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	key := r.URL.Path
	var asked struct{ TeamID json.Number }
	_ = json.Unmarshal(body, &asked)
	if asked.TeamID != "" {
		key += "?" + asked.TeamID.String()
	}
	s.calls = append(s.calls, key)
	w.Header().Set("Content-Type", "application/json")
	if key == exchangePath {
		s.serial++
		s.token = planToken(s.serial)
		fmt.Fprintf(w, `{"accessToken":%q,"refreshToken":"refresh-secret"}`, s.token)
		return
	}
	if !s.allowed(r) {
		w.WriteHeader(401)
		fmt.Fprint(w, `{"error":"not_authenticated"}`)
		return
	}
	if s.forbid && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(403)
		fmt.Fprint(w, `{}`)
		return
	}
	a, ok := s.answers[key]
	if !ok {
		a = planAnswer{404, `{"code":"unimplemented"}`, nil}
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.body)
}

// allowed holds calls to the way of their host: a bearer token for the API, a
// cookie for the website.
func (s *planServer) allowed(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		user := r.URL.Query().Get("user")
		return r.Method == "GET" && r.Header.Get("Authorization") == "" && (user == "" || user == "user_01EXAMPLE") &&
			r.Header.Get("Cookie") == "WorkosCursorSessionToken=user_01EXAMPLE%3A%3A"+s.token
	}
	return (s.forbid || r.Header.Get("Authorization") == "Bearer "+s.token) && r.Header.Get("Cookie") == "" &&
		(r.Method == "GET") == strings.HasPrefix(r.URL.Path, "/auth/")
}

func (s *planServer) set(key string, a planAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[key] = a
}

func (s *planServer) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, call := range s.calls {
		if call == key {
			n++
		}
	}
	return n
}

// account returns an account that is logged in to s.
func (s *planServer) account(t *testing.T) *Account {
	t.Helper()
	hosts, err := ParseHosts(s.URL, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAccount(AccountConfig{
		Config:   Config{Client: s.Client(), Hosts: hosts, Store: storeOf(newCredentials(s.token, "refresh-secret", ""))},
		Identity: &Identity{version: "cli-1.0", privacy: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// planCase is one of testdata/plan/answers.json.
type planCase struct {
	Name    string
	Request struct {
		Path string
		Auth string
		Body struct{ TeamID int }
	}
	Status int
	Body   json.RawMessage
	Expect map[string]any
}

func loadPlanCases(t testing.TB) map[string]planCase {
	t.Helper()
	text, err := os.ReadFile("testdata/plan/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []planCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	byName := map[string]planCase{}
	for _, c := range cases {
		byName[c.Name] = c
	}
	return byName
}

func (c planCase) key() string {
	path, _, _ := strings.Cut(c.Request.Path, "?")
	if c.Request.Body.TeamID != 0 {
		path += fmt.Sprintf("?%d", c.Request.Body.TeamID)
	}
	return path
}

func (c planCase) answer() planAnswer { return planAnswer{status: c.Status, body: string(c.Body)} }
