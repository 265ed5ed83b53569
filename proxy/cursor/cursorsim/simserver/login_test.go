package simserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestLoginThroughTheBrowser(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	a := newAttempt()
	c.do(http.MethodGet, a.poll, "", "").want(t, 404) // nobody has opened the link
	if err := s.Visit(t.Context(), a.url); err != nil {
		t.Fatal(err)
	}
	c.do(http.MethodGet, a.poll, "", "").want(t, 404) // nobody has pressed a button
	if err := s.Confirm(t.Context(), a.url); err != nil {
		t.Fatal(err)
	}
	tokens := c.do(http.MethodGet, a.poll, "", "").tokens(t)
	if tokens.Refresh == "" || strings.Count(tokens.Access, ".") != 2 {
		t.Error("the tokens have not the shape of Cursor's")
	}
	c.post(dashboardService+"GetMe", tokens.Access, "{}").want(t, 200, `"email":"ada@example.com"`)
	c.do(http.MethodGet, a.poll, "", "").want(t, 410) // once only
	wantRules(t, s)
	secrets := strings.Join(s.Secrets(), " ")
	for _, secret := range []string{tokens.Access, tokens.Refresh, a.verifier, DefaultKey} {
		if !strings.Contains(secrets, secret) {
			t.Error("a secret is not listed")
		}
	}
}

func TestLoginEndsWithoutTokens(t *testing.T) {
	now := &clock{}
	s := start(t, Options{Now: now.now})
	c := newClient(t, s)
	c.now = now.now
	for name, tc := range map[string]struct {
		act    func(a attempt) error
		status int
	}{
		"denied":  {func(a attempt) error { return s.Deny(t.Context(), a.url) }, 403},
		"expired": {func(a attempt) error { _ = s.Visit(t.Context(), a.url); return s.Expire(a.url) }, 410},
		"too old": {func(a attempt) error {
			err := s.Visit(t.Context(), a.url)
			now.ahead += s.Settings().LoginLifetime + time.Second
			return err
		}, 410},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttempt()
			if err := tc.act(a); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				c.do(http.MethodGet, a.poll, "", "").want(t, tc.status)
			}
			if err := s.Confirm(t.Context(), a.url); err == nil {
				t.Error("it could be confirmed afterwards")
			}
		})
	}
	wantRules(t, s)
}

func TestVerifierBelongsToChallenge(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	a, other := newAttempt(), newAttempt()
	if err := s.Confirm(t.Context(), a.url); err != nil {
		t.Fatal(err)
	}
	c.do(http.MethodGet, strings.Replace(a.poll, a.verifier, other.verifier, 1), "", "").want(t, 403)
	wantRules(t, s, "login")
	c.do(http.MethodGet, a.poll, "", "").tokens(t) // the true one still works
	// The vector of RFC 7636, appendix B.
	if got := challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"); got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("challenge = %s", got)
	}
}

func TestPollsPendingAndAutoConfirm(t *testing.T) {
	s := start(t, Options{})
	if err := s.Change(func(t *Settings) { t.AutoConfirm, t.PollsPending = true, 2 }); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, s)
	for _, visit := range []bool{false, true} {
		a := newAttempt()
		if visit {
			if err := s.Visit(t.Context(), a.url); err != nil {
				t.Fatal(err)
			}
		}
		c.do(http.MethodGet, a.poll, "", "").want(t, 404)
		c.do(http.MethodGet, a.poll, "", "").want(t, 404)
		c.do(http.MethodGet, a.poll, "", "").tokens(t)
	}
	wantRules(t, s)
}

func TestBadLoginLinks(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	for name, edit := range map[string]func(url.Values){
		"no challenge":  func(q url.Values) { q.Del("challenge") },
		"short":         func(q url.Values) { q.Set("challenge", "abc") },
		"padded":        func(q url.Values) { q.Set("challenge", q.Get("challenge")+"=") },
		"method":        func(q url.Values) { q.Set("code_challenge_method", "S256") },
		"mode":          func(q url.Values) { q.Set("mode", "signup") },
		"target":        func(q url.Values) { q.Set("redirectTarget", "ide") },
		"uuid":          func(q url.Values) { q.Set("uuid", "00000000-0000-1000-8000-000000000000") },
		"two uuids":     func(q url.Values) { q.Add("uuid", newUUID()) },
		"not even that": func(q url.Values) { clear(q) },
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := url.Parse(newAttempt().url)
			q := u.Query()
			edit(q)
			u.RawQuery = q.Encode()
			c.do(http.MethodGet, u.String(), "", "").want(t, 400, "not complete")
			wantRules(t, s, "login")
		})
	}
	a, b := newAttempt(), newAttempt()
	if err := s.Visit(t.Context(), a.url); err != nil {
		t.Fatal(err)
	}
	c.do(http.MethodGet, strings.Replace(b.url, b.uuid, a.uuid, 1), "", "").want(t, 400, "used before")
	wantRules(t, s, "login")
	c.do(http.MethodPost, a.url, "", "decision=maybe").want(t, 400)
	c.do(http.MethodPost, a.url, "", "%zz").want(t, 400)
	c.do(http.MethodGet, api+PathPoll+"?uuid=x&verifier=y", "", "").want(t, 400)
	wantRules(t, s, "login")
	if err := s.Expire(newAttempt().url); err == nil {
		t.Error("a login that nobody visited could be expired")
	}
	if err := s.Confirm(t.Context(), "http://cursor.com/loginDeepControl"); err == nil {
		t.Error("a link without TLS was opened")
	}
}

func TestAccountsOfTheBrowser(t *testing.T) {
	s := start(t, Options{})
	if err := s.AddAccount(Account{User: "auth0|user_02", Email: "bob@example.com", Name: "Bob", Plan: "ultra"}); err != nil {
		t.Fatal(err)
	}
	if err := s.AddAccount(Account{User: "x", Plan: "no such plan"}); err == nil {
		t.Error("a plan that does not exist was accepted")
	}
	c := newClient(t, s)
	a := newAttempt()
	if err := s.Confirm(t.Context(), a.url); err != nil {
		t.Fatal(err)
	}
	tokens := c.do(http.MethodGet, a.poll, "", "").tokens(t)
	c.post(dashboardService+"GetMe", tokens.Access, "{}").want(t, 200, `"email":"bob@example.com"`, `"authId":"auth0|user_02"`)
	c.post(dashboardService+"GetPlanInfo", tokens.Access, "{}").want(t, 200, `"Ultra"`)
	if _, err := s.NewLogin("nobody", time.Hour); err == nil {
		t.Error("somebody unknown could log in")
	}
}
