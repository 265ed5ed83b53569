package simserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// control calls the control port as curl would.
func controlCall(t *testing.T, s *Sim, method, path, body string, edit func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.ControlURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	if edit != nil {
		edit(r)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestControlPort(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	ok := func(method, path, body string) string {
		t.Helper()
		status, text := controlCall(t, s, method, path, body, nil)
		if status != 200 && status != 204 {
			t.Fatalf("%s %s %s: %d %s", method, path, body, status, text)
		}
		return text
	}
	ok("POST", "/faults", `{"kind":"status","route":"/auth/usage","status":429,"retryAfter":"3","times":1}`)
	if r := c.do(http.MethodGet, api+"/auth/usage", token, ""); r.status != 429 || r.header.Get("Retry-After") != "3" {
		t.Errorf("status %d", r.status)
	}
	ok("POST", "/faults", `{"kind":"latency","delay":"1h"}`)
	ok("DELETE", "/faults", "")
	ok("PATCH", "/settings", `{"plan":"ultra","accessLifetime":"90s","renewPaths":["/auth/token"]}`)
	if got := s.Settings(); got.Plan != "ultra" || got.AccessLifetime != 90*time.Second || len(got.RenewPaths) != 1 || got.LoginLifetime != 30*time.Minute {
		t.Errorf("settings %+v", got)
	}
	a := newAttempt()
	ok("POST", "/login", `{"url":"`+a.url+`","decision":"allow"}`)
	tokens := c.do(http.MethodGet, a.poll, "", "").tokens(t)
	ok("POST", "/revoke", `{"what":"access"}`)
	c.post(usage, tokens.Access, "{}").want(t, 401)
	ok("POST", "/revoke", `{"what":"sessions"}`)
	c.post(PathToken, "", `{"refreshToken":"`+tokens.Refresh+`"}`).want(t, 401)
	denied, old := newAttempt(), newAttempt()
	ok("POST", "/login", `{"url":"`+denied.url+`","decision":"deny"}`)
	c.do(http.MethodGet, denied.poll, "", "").want(t, 403)
	if err := s.Visit(t.Context(), old.url); err != nil {
		t.Fatal(err)
	}
	ok("POST", "/login", `{"url":"`+old.url+`","decision":"expire"}`)
	c.do(http.MethodGet, old.poll, "", "").want(t, 410)

	var state State
	text := ok("GET", "/state", "")
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		t.Fatal(err)
	}
	if state.Calls["/auth/usage"] != 1 || len(state.Requests) == 0 || state.Settings.Plan != "ultra" || len(state.Cases) < 17 || len(state.Violations) != 0 {
		t.Errorf("state %s", text)
	}
	for _, secret := range s.Secrets() {
		if strings.Contains(text, secret) {
			t.Error("the state shows a secret")
		}
	}
	ok("DELETE", "/state", "")
	if n := len(s.AllCalls()) + len(s.Requests()); n != 0 {
		t.Errorf("%d entries after all was forgotten", n)
	}
	if text := ok("GET", "/ca.pem", ""); text != string(s.ca.pem) {
		t.Errorf("certificate: %s", text)
	}
	if text := ok("GET", "/", ""); !strings.Contains(text, "/faults") {
		t.Errorf("help: %s", text)
	}
}

func TestControlPortRefuses(t *testing.T) {
	s := start(t, Options{})
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/faults", `{"kind":"flood"}`},
		{"POST", "/faults", `{"kind":"hang","rout":"/auth/poll"}`},
		{"POST", "/faults", `{"kind":"latency","delay":"5"}`},
		{"POST", "/faults", `nonsense`},
		{"PATCH", "/settings", `{"plan":"gold"}`},
		{"PATCH", "/settings", `{"plan":"ultra","skew":5}`},
		{"PATCH", "/settings", `{"plan":"ultra","unknown":true}`},
		{"POST", "/login", `{"url":"x","decision":"maybe"}`},
		{"POST", "/login", `{"url":"https://example.com/","decision":"allow"}`},
		{"POST", "/revoke", `{"what":"all"}`},
	} {
		if status, text := controlCall(t, s, tc.method, tc.path, tc.body, nil); status != 400 || text == "" {
			t.Errorf("%s %s: %d %s", tc.path, tc.body, status, text)
		}
	}
	if got := s.Settings().Plan; got != "pro" || len(s.Faults()) != 0 {
		t.Errorf("something was changed: %s, %v", got, s.Faults())
	}
	for _, edit := range []func(*http.Request){
		func(r *http.Request) { r.Header.Set("Origin", "https://example.com") },
		func(r *http.Request) { r.Host = "rebound.example" },
	} {
		if status, _ := controlCall(t, s, "GET", "/state", "", edit); status != 403 {
			t.Errorf("a web page got %d", status)
		}
	}
}
