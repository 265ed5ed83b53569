package simserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// renewals are the three ways to renew a login.
var renewals = map[string]func(c *client, refresh string) reply{
	PathExchange: func(c *client, refresh string) reply { return c.post(PathExchange, refresh, "{}") },
	PathToken:    func(c *client, refresh string) reply { return c.post(PathToken, "", `{"refreshToken":"`+refresh+`"}`) },
	PathRefresh:  func(c *client, refresh string) reply { return c.post(PathRefresh, refresh, "{}") },
}

func TestRenewalByAllPaths(t *testing.T) {
	for path, renew := range renewals {
		t.Run(path, func(t *testing.T) {
			s := start(t, Options{})
			c := newClient(t, s)
			first := logIn(t, s)
			second := renew(c, first.Refresh).tokens(t)
			if second.Refresh == "" || second.Refresh == first.Refresh || second.Access == first.Access {
				t.Error("the tokens were not replaced")
			}
			c.post(usage, second.Access, "{}").want(t, 200)
			wantRules(t, s)
			renew(c, first.Refresh).want(t, 401, "Invalid User API Key")
			wantRules(t, s, "refresh-reuse")
			renew(c, second.Access).want(t, 401, "Invalid User API Key")
			renew(c, "unknown").want(t, 401)
			wantRules(t, s)

			mustChange(t, s, func(t *Settings) { t.KeepRefresh = true })
			if kept := renew(c, second.Refresh).tokens(t); kept.Refresh != "" {
				t.Error("a refresh token that stays valid was repeated")
			}
			renew(c, second.Refresh).tokens(t)

			mustChange(t, s, func(t *Settings) { t.ShouldLogout = true })
			renew(c, second.Refresh).want(t, 200, `"shouldLogout":true`)
			mustChange(t, s, func(t *Settings) { t.ShouldLogout = false })
			renew(c, second.Refresh).want(t, 401)
			c.post(usage, second.Access, "{}").want(t, 401)
			wantRules(t, s)

			last := logIn(t, s)
			mustChange(t, s, func(t *Settings) { t.RenewPaths, t.RenewRefusal = nil, 405 })
			renew(c, last.Refresh).want(t, 405)
			wantRules(t, s)
		})
	}
}

func mustChange(t *testing.T, s *Sim, edit func(*Settings)) {
	t.Helper()
	if err := s.Change(edit); err != nil {
		t.Fatal(err)
	}
}

func TestOneRenewalWins(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	refresh := logIn(t, s).Refresh
	var won, lost int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r := c.post(PathExchange, refresh, "{}")
			mu.Lock()
			defer mu.Unlock()
			if r.status == http.StatusOK {
				won++
			} else {
				lost++
			}
		})
	}
	all.Wait()
	if won != 1 || lost != 19 || s.Calls(PathExchange) != 20 || len(s.Violations()) != 19 {
		t.Errorf("won %d, lost %d, calls %d, violations %d", won, lost, s.Calls(PathExchange), len(s.Violations()))
	}
}

func TestKeys(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	tokens := c.post(PathExchange, DefaultKey, "{}").tokens(t)
	c.post(usage, tokens.Access, "{}").want(t, 200)
	c.post(PathExchange, "crsr_unknown", "{}").want(t, 401, "Invalid User API Key")
	if s.AddKey("sk-foreign", DefaultUser) == nil || s.AddKey("crsr_x", "nobody") == nil {
		t.Error("a key of the wrong kind was accepted")
	}
	if err := s.AddKey("crsr_second", DefaultUser); err != nil {
		t.Fatal(err)
	}
	c.post(PathExchange, "crsr_second", "{}").tokens(t)
	s.RemoveKey("crsr_second")
	c.post(PathExchange, "crsr_second", "{}").want(t, 401)
	wantRules(t, s)
	c.post(PathExchange, DefaultKey, "").tokens(t)
	wantRules(t, s, "body")
	c.post(PathToken, "", "").want(t, 400)
	c.post(PathRefresh, "", "{}").want(t, 401)
	wantRules(t, s, "body", "bearer")
}

func TestTokensAreJWTs(t *testing.T) {
	now := &clock{}
	s := start(t, Options{Now: now.now})
	for _, lifetime := range []time.Duration{time.Minute, -48 * time.Hour} {
		tokens, err := s.NewLogin(DefaultUser, lifetime)
		if err != nil {
			t.Fatal(err)
		}
		middle, err := base64.RawURLEncoding.DecodeString(strings.Split(tokens.Access, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		var claims struct {
			Sub string
			Exp int64
		}
		if err := json.Unmarshal(middle, &claims); err != nil {
			t.Fatal(err)
		}
		if d := time.Until(time.Unix(claims.Exp, 0)) - lifetime; claims.Sub != DefaultUser || d < -time.Minute || d > time.Minute {
			t.Errorf("claims %+v for a lifetime of %v", claims, lifetime)
		}
	}
}

func TestCredentialsOfCalls(t *testing.T) {
	now := &clock{}
	s := start(t, Options{Now: now.now})
	c := newClient(t, s)
	good := logIn(t, s)
	for name, tc := range map[string]struct{ token, rule string }{
		"none":          {"", "bearer"},
		"unknown":       {"a.b.c", ""},
		"API key":       {DefaultKey, "raw-key"},
		"cookie":        {"user_01EXAMPLE::" + good.Access, "bearer"},
		"refresh token": {good.Refresh, "bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			c.post(usage, tc.token, "{}").want(t, 401, "ERROR_NOT_LOGGED_IN")
			if tc.rule == "" {
				wantRules(t, s)
				return
			}
			wantRules(t, s, tc.rule)
		})
	}
	c.post(usage, good.Access, "{}").want(t, 200)
	s.RevokeAccess(DefaultUser)
	c.post(usage, good.Access, "{}").want(t, 401)
	fresh := c.post(PathExchange, good.Refresh, "{}").tokens(t)
	c.post(usage, fresh.Access, "{}").want(t, 200)
	wantRules(t, s)
	now.ahead = 61 * time.Minute
	c.post(usage, fresh.Access, "{}").want(t, 401)
	wantRules(t, s, "expired-token")
	fresh = c.post(PathExchange, fresh.Refresh, "{}").tokens(t)
	s.EndSessions(DefaultUser)
	c.post(usage, fresh.Access, "{}").want(t, 401)
	c.post(PathExchange, fresh.Refresh, "{}").want(t, 401)
	wantRules(t, s)
}

func TestSkewOfTheServer(t *testing.T) {
	s := start(t, Options{})
	mustChange(t, s, func(t *Settings) { t.Skew = -3 * time.Hour })
	c := newClient(t, s)
	r := c.post(PathExchange, DefaultKey, "{}")
	date, err := http.ParseTime(r.header.Get("Date"))
	if d := time.Until(date) + 3*time.Hour; err != nil || d < -time.Minute || d > time.Minute {
		t.Errorf("Date is %v, %v", date, err)
	}
	// Two hours ago by the true time, but not by the server's.
	c.post(usage, r.tokens(t).Access, "{}").want(t, 200)
	wantRules(t, s)
}
