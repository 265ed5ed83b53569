package simserver

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func inject(t *testing.T, s *Sim, faults ...Fault) {
	t.Helper()
	s.ClearFaults()
	for _, f := range faults {
		if err := s.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFaultsThatAnswer(t *testing.T) {
	s := start(t, Options{})
	token := logIn(t, s).Access
	for name, tc := range map[string]struct {
		fault  Fault
		status int
		says   string
		header string // and how it begins
		value  string
	}{
		"401":              {Fault{Kind: FaultStatus, Status: 401}, 401, "ERROR_NOT_LOGGED_IN", "Content-Type", "application/json"},
		"403":              {Fault{Kind: FaultStatus, Status: 403}, 403, `"permission_denied"`, "Content-Type", "application/json"},
		"429":              {Fault{Kind: FaultStatus, Status: 429, RetryAfter: "7"}, 429, `"resource_exhausted"`, "Retry-After", "7"},
		"500":              {Fault{Kind: FaultStatus, Status: 500}, 500, `"internal"`, "Content-Type", "application/json"},
		"503":              {Fault{Kind: FaultStatus, Status: 503}, 503, `"unavailable"`, "Content-Type", "application/json"},
		"own body":         {Fault{Kind: FaultStatus, Status: 418, Body: "tea"}, 418, "tea", "Content-Length", "3"},
		"404":              {Fault{Kind: FaultStatus, Status: 404}, 404, "not_found", "", ""},
		"400":              {Fault{Kind: FaultStatus, Status: 400}, 400, "invalid_argument", "", ""},
		"page":             {Fault{Kind: FaultHTML}, 200, "<!DOCTYPE html>", "Content-Type", "text/html"},
		"page of an error": {Fault{Kind: FaultHTML, Status: 502, Body: "<h1>Bad gateway</h1>"}, 502, "Bad gateway", "Content-Type", "text/html"},
		"half":             {Fault{Kind: FaultHalf}, 200, `{"billingCycleStart"`, "Content-Type", "application/json"},
		"empty":            {Fault{Kind: FaultEmpty}, 200, "", "Content-Length", "0"},
		"wrong type":       {Fault{Kind: FaultWrongType}, 200, `"limit":2000`, "Content-Type", "text/plain"},
		"latency":          {Fault{Kind: FaultLatency, Delay: 20 * time.Millisecond}, 200, `"limit":2000`, "Content-Type", "application/json"},
		"skew":             {Fault{Kind: FaultSkew, Skew: 24 * 365 * time.Hour}, 401, "ERROR_NOT_LOGGED_IN", "", ""},
	} {
		for proto, c := range map[string]*client{"HTTP/2.0": newClient(t, s), "HTTP/1.1": overHTTP1(t, s)} {
			t.Run(name+" "+proto, func(t *testing.T) {
				inject(t, s, tc.fault)
				began := time.Now()
				r := c.post(usage, token, "{}")
				r.want(t, tc.status, tc.says)
				if r.proto != proto || !strings.HasPrefix(r.header.Get(tc.header), tc.value) {
					t.Errorf("%s, %s: %q", r.proto, tc.header, r.header.Get(tc.header))
				}
				if tc.fault.Kind == FaultEmpty && r.body != "" || tc.fault.Kind == FaultHalf && strings.HasSuffix(r.body, "}}") {
					t.Errorf("body %s", r.body)
				}
				if time.Since(began) < tc.fault.Delay {
					t.Error("the answer came too early")
				}
			})
		}
	}
}

func TestFaultsThatBreak(t *testing.T) {
	s := start(t, Options{})
	token := logIn(t, s).Access
	for _, proto := range []string{"HTTP/2.0", "HTTP/1.1"} {
		connect := map[string]func(*testing.T, *Sim) *client{"HTTP/2.0": newClient, "HTTP/1.1": overHTTP1}[proto]
		for _, kind := range []FaultKind{FaultReset, FaultLost} {
			t.Run(string(kind)+" "+proto, func(t *testing.T) {
				inject(t, s, Fault{Kind: kind})
				c := connect(t, s)
				// net/http repeats a call on a new connection if an idle one
				// broke; a fresh one shows the fault as it is.
				c.http.CloseIdleConnections()
				before := s.Calls(usage)
				_, err := c.try(http.MethodPost, api+usage, token, "{}")
				if err == nil {
					t.Fatal("there was an answer")
				}
				// net/http at times reads a reset of HTTP/2 as an early end.
				if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("error: %v", err)
				}
				if s.Calls(usage) == before {
					t.Error("the call did not arrive")
				}
			})
		}
		t.Run("cut "+proto, func(t *testing.T) {
			inject(t, s, Fault{Kind: FaultCut})
			r, err := connect(t, s).try(http.MethodPost, api+usage, token, "{}")
			if err == nil || r.status != 200 || r.body == "" || strings.HasSuffix(r.body, "}") {
				t.Errorf("got %d %q, %v", r.status, r.body, err)
			}
		})
	}
	wantRules(t, s)
}

// What was lost on the way has happened all the same.
func TestLostAnswersAreDone(t *testing.T) {
	for _, kind := range []FaultKind{FaultLost, FaultCut, FaultHalf, FaultEmpty} {
		t.Run(string(kind), func(t *testing.T) {
			s := start(t, Options{})
			c := newClient(t, s)
			tokens := logIn(t, s)
			inject(t, s, Fault{Kind: kind, Route: PathExchange, Times: 1})
			_, _ = c.try(http.MethodPost, api+PathExchange, tokens.Refresh, "{}")
			c.post(PathExchange, tokens.Refresh, "{}").want(t, 401)
			wantRules(t, s, "refresh-reuse")
		})
	}
	for _, f := range []Fault{{Kind: FaultReset}, {Kind: FaultStatus, Status: 503}, {Kind: FaultHTML}} {
		t.Run(string(f.Kind), func(t *testing.T) {
			s := start(t, Options{})
			c := newClient(t, s)
			tokens := logIn(t, s)
			f.Route, f.Times = PathExchange, 1
			inject(t, s, f)
			_, _ = c.try(http.MethodPost, api+PathExchange, tokens.Refresh, "{}")
			c.post(PathExchange, tokens.Refresh, "{}").tokens(t)
			wantRules(t, s)
		})
	}
}

func TestFaultsAreForSomeCalls(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	ask := func(name string) int { return c.post(dashboardService+name, token, "{}").status }
	inject(t, s, Fault{Kind: FaultStatus, Status: 500, Route: dashboardService + "GetMe", Skip: 1, Times: 2})
	for i, want := range []int{200, 500, 500, 200} {
		if got := ask("GetMe"); got != want {
			t.Errorf("call %d: %d, want %d", i, got, want)
		}
		if got := ask("GetTeams"); got != 200 {
			t.Errorf("the fault of another call: %d", got)
		}
	}
	if got := s.Faults(); len(got) != 0 {
		t.Errorf("left over: %+v", got)
	}
	inject(t, s, Fault{Kind: FaultStatus, Status: 500, Route: dashboardService + "*"}, Fault{Kind: FaultStatus, Status: 502})
	if a, b := ask("GetMe"), c.do(http.MethodGet, api+"/auth/usage", token, "").status; a != 500 || b != 502 {
		t.Errorf("by beginning %d, everywhere %d", a, b)
	}
	if got := s.Faults(); len(got) != 2 {
		t.Errorf("switched on: %+v", got)
	}
	s.ClearFaults()
	if got := ask("GetMe"); got != 200 {
		t.Errorf("after all: %d", got)
	}
	for _, f := range []Fault{{}, {Kind: "flood"}, {Kind: FaultStatus}, {Kind: FaultStatus, Status: 200}, {Kind: FaultHTML, Status: 9}, {Kind: FaultHang, Times: -1}} {
		if s.Inject(f) == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
}

func TestSkewOfOneCall(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	inject(t, s, Fault{Kind: FaultSkew, Skew: -2 * time.Hour, Times: 1})
	r := c.post(PathExchange, DefaultKey, "{}")
	date, err := http.ParseTime(r.header.Get("Date"))
	if d := time.Until(date) + 2*time.Hour; err != nil || d < -time.Minute || d > time.Minute {
		t.Errorf("Date is %v, %v", date, err)
	}
	c.post(usage, r.tokens(t).Access, "{}").want(t, 401) // ran out an hour ago
	wantRules(t, s, "expired-token")
}

func TestHangUntilTheClientLeaves(t *testing.T) {
	s := start(t, Options{})
	inject(t, s, Fault{Kind: FaultHang, Times: 1})
	c := newClient(t, s)
	c.http = &http.Client{Transport: c.http.Transport, Timeout: 50 * time.Millisecond}
	if _, err := c.try(http.MethodGet, web+"/", "", ""); err == nil {
		t.Error("there was an answer")
	}
	c.http.Timeout = 0
	c.do(http.MethodGet, web+"/", "", "").want(t, 200)
	inject(t, s, Fault{Kind: FaultLatency, Delay: time.Hour})
	c.http.Timeout = 50 * time.Millisecond
	if _, err := c.try(http.MethodGet, web+"/", "", ""); err == nil {
		t.Error("there was an answer")
	}
}
