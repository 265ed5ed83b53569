package simserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// ask calls whatever a case answers, as an account would.
func (c *client) ask(path string, team int, token string) reply {
	c.t.Helper()
	if !strings.HasPrefix(path, "/api/") {
		body := "{}"
		if team != 0 {
			body = `{"teamId":4711}`
		}
		return c.post(path, token, body)
	}
	method := http.MethodGet
	c.edit = func(r *http.Request) {
		withCookie(r, token)
		if strings.HasPrefix(path, "/api/dashboard/") {
			r.Header.Set("Origin", "https://cursor.com")
		}
	}
	defer func() { c.edit = nil }()
	if path == "/api/usage" {
		path += "?user=user_01EXAMPLE"
	}
	if strings.HasPrefix(path, "/api/dashboard/") {
		method = http.MethodPost
	}
	return c.do(method, web+path, "", "{}")
}

func withCookie(r *http.Request, token string) {
	r.Header.Set("Cookie", cookieName+"="+url.PathEscape("user_01EXAMPLE::"+token))
}

func TestEveryPlanCase(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	for _, name := range s.CaseNames() {
		t.Run(name, func(t *testing.T) {
			found, _ := s.plans.find(name)
			mustChange(t, s, func(t *Settings) { t.Cases = []string{name} })
			r := c.ask(found.Path, found.TeamID, token)
			if want := max(found.Status, 200); found.Status == 0 && r.status != 200 || found.Status != 0 && r.status != want {
				t.Errorf("status %d", r.status)
			}
			if r.body != string(found.Body) {
				t.Errorf("body %s", r.body)
			}
			if r.header.Get("Content-Type") != "application/json" {
				t.Errorf("type %q", r.header.Get("Content-Type"))
			}
		})
	}
	wantRules(t, s)
}

func TestPlans(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	for plan, tc := range map[string]struct{ info, usage, member, summary string }{
		"free":           {`"planName":"Free"`, `"autoPercentUsed":6,`, `"membershipType":"free"`, `{}`},
		"pro":            {`"planName":"Pro"`, `"includedSpend":1288`, `"subscriptionStatus":"active"`, `"membershipType":"pro"`},
		"pro_over_limit": {`"planName":"Pro"`, `"bonusSpend":1461`, `"membershipType":"pro"`, `"pro"`},
		"ultra":          {`"planName":"Ultra"`, `"limit":40000`, `"membershipType":"ultra"`, `"isUnlimited":false`},
		"team":           {`"planName":"Team"`, `"displayThreshold":100`, `"teamId":4711`, `{}`},
		"enterprise":     {`"planName":"Enterprise"`, `"displayThreshold":100`, `"enterprise"`, `"pooled`},
		"legacy":         {`"planName":"Pro"`, `"displayThreshold":100`, `"pro"`, `{}`},
	} {
		t.Run(plan, func(t *testing.T) {
			if err := s.SetPlan(plan); err != nil {
				t.Fatal(err)
			}
			c.post(dashboardService+"GetPlanInfo", token, "{}").want(t, 200, tc.info)
			c.post(usage, token, "{}").want(t, 200, tc.usage)
			c.do(http.MethodGet, api+"/auth/full_stripe_profile", token, "").want(t, 200, tc.member)
			if plan != "enterprise" {
				c.ask("/api/usage-summary", 0, token).want(t, 200, tc.summary)
			}
			c.post(dashboardService+"GetHardLimit", token, "{}").want(t, 200)
			c.do(http.MethodGet, api+"/auth/usage", token, "").want(t, 200, `"startOfMonth"`)
		})
	}
	if err := s.SetPlan("team"); err != nil {
		t.Fatal(err)
	}
	c.post(dashboardService+"GetTeams", token, "{}").want(t, 200, `"id":4711`)
	c.post(usage, token, `{"teamId":4711}`).want(t, 200, `"pooledLimit":50000`)
	c.post(usage, token, `{"teamId":1}`).want(t, 200, `{}`)
	if err := s.SetPlan("pro"); err != nil {
		t.Fatal(err)
	}
	c.post(dashboardService+"GetTeams", token, "{}").want(t, 200, `{}`)
	wantRules(t, s)
	if s.SetPlan("gold") == nil || s.Change(func(t *Settings) { t.Cases = []string{"none"} }) == nil || s.Settings().Plan != "pro" {
		t.Error("a plan or case that does not exist was accepted")
	}
	for _, call := range []string{"GetTeams", "GetMe", "GetPlanInfo"} {
		c.post(dashboardService+call, "", "{}").want(t, 401)
	}
	for _, path := range []string{"/auth/usage", "/auth/full_stripe_profile"} {
		c.do(http.MethodGet, api+path, "", "").want(t, 401)
	}
}

func TestCookies(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	token := logIn(t, s).Access
	c.edit = func(r *http.Request) { withCookie(r, token) }
	c.do(http.MethodGet, web+"/api/auth/me", "", "").want(t, 200, `"email":"ada@example.com"`, `"sub":"auth0|user_01EXAMPLE"`)
	c.do(http.MethodGet, web+"/api/usage?user=user_01EXAMPLE", "", "").want(t, 200)
	wantRules(t, s)
	c.do(http.MethodGet, web+"/api/usage?user=user_02", "", "").want(t, 403)
	c.do(http.MethodPost, web+"/api/dashboard/get-filtered-usage-events", "", "{}").want(t, 403, "origin")
	c.do(http.MethodGet, web+"/api/auth/me", token, "").want(t, 200)
	wantRules(t, s, "user", "origin", "bearer")
	for name, cookie := range map[string]string{
		"none":          "",
		"other user":    cookieName + "=user_02%3A%3A" + token,
		"only a token":  cookieName + "=" + token,
		"unknown token": cookieName + "=user_01EXAMPLE%3A%3Aa.b.c",
		"not escaped":   cookieName + "=user_01EXAMPLE%zz" + token,
	} {
		t.Run(name, func(t *testing.T) {
			c.edit = func(r *http.Request) { r.Header.Set("Cookie", cookie) }
			for _, path := range []string{"/api/auth/me", "/api/usage-summary", "/api/usage"} {
				c.do(http.MethodGet, web+path, "", "").want(t, 401, "not_authenticated")
			}
		})
	}
}

func TestLiveCycle(t *testing.T) {
	now := time.Date(2027, 5, 20, 10, 30, 0, 0, time.UTC)
	for _, tc := range []struct{ body, start, end string }{
		{`{"billingCycleStart":"1790812800000","billingCycleEnd":"1793491200000"}`, "1809770400000", "1812448800000"},
		{`{"billingCycleStart":"2026-10-04T00:35:51.000Z","billingCycleEnd":"2026-11-04T00:35:51.000Z"}`, "2027-05-08T10:00:00.000Z", "2027-06-08T10:00:00.000Z"},
		{`{"billingCycleStart":"5","billingCycleEnd":"5"}`, "5", "5"}, // no cycle stays none
		{`{"planInfo":{"billingCycleEnd":"7"}}`, "", ""},
		{`[]`, "", ""},
	} {
		var got struct {
			Start    string `json:"billingCycleStart"`
			End      string `json:"billingCycleEnd"`
			PlanInfo struct{ BillingCycleEnd string }
		}
		_ = json.Unmarshal(moveCycle([]byte(tc.body), now), &got)
		if got.Start != tc.start || got.End != tc.end {
			t.Errorf("%s became %+v", tc.body, got)
		}
		if strings.Contains(tc.body, "planInfo") && got.PlanInfo.BillingCycleEnd != "1812448800000" {
			t.Errorf("%s became %+v", tc.body, got)
		}
	}
	s := start(t, Options{})
	mustChange(t, s, func(t *Settings) { t.LiveCycle = true })
	r := newClient(t, s).post(usage, logIn(t, s).Access, "{}")
	if r.want(t, 200, `"limit":2000`); strings.Contains(r.body, "1794232800000") {
		t.Errorf("the cycle is that of 2026: %s", r.body)
	}
}
