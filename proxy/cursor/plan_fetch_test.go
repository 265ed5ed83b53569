package cursor

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

// around has, per case, what else the server says so that the answer is asked
// for.
var around = map[string][]string{
	"team_seat_with_team_id": {"team_seat_without_team_id"},
	"usage_summary_ultra":    {"team_seat_without_team_id"}, "usage_summary_enterprise": {"team_seat_without_team_id"},
	"legacy_requests": {"team_seat_without_team_id"}, "error_cookie": {"team_seat_without_team_id"},
	"plan_info_pro": {"pro"}, "credit_grants": {"pro"}, "credit_grants_none": {"pro"}, "hard_limit_off": {"pro"},
	"limit_policy_slow_pool": {"pro_over_limit_on_demand"},
}

// TestPlanAnswers has each known answer of Cursor's services and what is to be
// made of it.
func TestPlanAnswers(t *testing.T) {
	cases := loadPlanCases(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newPlanServer(t, map[string]planAnswer{service + "GetTeams": answered(`{"teams":[{"id":4711,"name":"Team"}]}`)})
			for _, other := range append(around[name], name) {
				s.set(cases[other].key(), cases[other].answer())
			}
			p, err := s.account(t).Plan(t.Context(), 0)
			got := summarize(p, err)
			if name == "error_cookie" { // that the website refuses the cookie says nothing about the login
				if got["state"] != "not_reported" || s.count("/auth/usage") != 1 {
					t.Errorf("%v, calls %v", got, s.calls)
				}
				return
			}
			if name == "team_seat_without_team_id" && s.count(service+"GetCurrentPeriodUsage?4711") != 1 {
				t.Errorf("not asked for the team: %v", s.calls)
			}
			for key, want := range c.Expect {
				if want == "incomplete" { // after all that can be asked has been
					want = "not_reported"
				}
				if key == "keep_last" || key == "next_step" {
					continue
				}
				if diff := cmp.Diff(want, got[key]); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", key, diff)
				}
			}
		})
	}
}

// summarize puts a plan into the words of the known answers.
func summarize(p Plan, err error) map[string]any {
	m := map[string]any{"state": p.State.String()}
	if err != nil {
		m["state"] = "stale"
		if chat.AsError(err).Kind == chat.LoginRequired {
			m["state"] = "login_required"
		}
	}
	decimals := func(p Percent) string { return fmt.Sprintf("%d.%d", p.Tenths()/10, p.Tenths()%10) }
	percents := map[string]Percent{"cursor_models_percent": p.CursorModels, "other_models_percent": p.OtherModels}
	for key, value := range percents {
		if value.Known() {
			m[key] = decimals(value)
		}
	}
	if m["cursor_models_percent"] == "6.0" { // as it was written in its case
		m["cursor_models_percent"] = "6"
	}
	if p.Name != "" {
		m["plan"] = p.Name
	}
	if p.Included != (Amount{}) {
		m["included"] = map[string]any{
			"used_usd": p.Included.Used.Dollars()[1:], "limit_usd": p.Included.Limit.Dollars()[1:], "percent": decimals(p.Included.Percent()),
		}
	}
	if !p.Bonus.IsZero() {
		m["bonus_usd"] = p.Bonus.Dollars()[1:]
	}
	if p.OnDemand.State == OnDemandOff {
		m["on_demand"] = "off"
	} else if p.OnDemand.State == OnDemandOn {
		onDemand := map[string]any{"used_usd": p.OnDemand.Used.Dollars()[1:], "limit_usd": p.OnDemand.Limit.Dollars()[1:]}
		if p.Pool != (Amount{}) {
			onDemand["pool_used_usd"], onDemand["pool_limit_usd"] = p.Pool.Used.Dollars()[1:], p.Pool.Limit.Dollars()[1:]
		}
		m["on_demand"] = onDemand
	}
	if p.Requests.Limit > 0 {
		m["requests"] = map[string]any{
			"used": float64(p.Requests.Used), "limit": float64(p.Requests.Limit), "percent": decimals(p.Requests.Percent()),
		}
	}
	if !p.Credits.IsZero() {
		m["credits_left_usd"] = p.Credits.Dollars()[1:]
	}
	if p.Stage != "" {
		m["stage"] = string(p.Stage)
	}
	if !p.Resets.IsZero() {
		m["resets_at"] = p.Resets.Format(time.RFC3339)
	}
	return m
}

// TestPlanFallbacks: the ways to ask, one after the other.
func TestPlanFallbacks(t *testing.T) {
	cases := loadPlanCases(t)
	none := cases["team_seat_without_team_id"].answer()
	period, summary := service+"GetCurrentPeriodUsage", "/api/usage-summary"
	pro := cases["pro"].answer()
	broken := planAnswer{503, `<html>`, map[string]string{"Content-Type": "text/html"}}
	tests := []struct {
		name    string
		answers map[string]planAnswer
		state   PlanState
		plan    string
		kind    chat.Kind // of the error, 0 is none
		calls   []string  // beside those that are always made
	}{
		{"usual", map[string]planAnswer{period: pro, service + "GetPlanInfo": cases["plan_info_pro"].answer()}, PlanOK, "Pro", 0, nil},
		{"only the usage is answered", map[string]planAnswer{period: pro, service + "GetPlanInfo": broken, service + "GetHardLimit": broken,
			service + "GetCreditGrantsBalance": broken}, PlanOK, "", 0, []string{"/auth/full_stripe_profile"}},
		{"name from the profile", map[string]planAnswer{period: pro, "/auth/full_stripe_profile": answered(`{"membershipType":"pro_student"}`)},
			PlanOK, "Pro Student", 0, []string{"/auth/full_stripe_profile"}},
		{"not shown", map[string]planAnswer{period: answered(`{"enabled":false,"planUsage":{"limit":2000,"remaining":5}}`), service + "GetPlanInfo": cases["plan_info_pro"].answer()},
			PlanNotReported, "Pro", 0, nil},
		{"second team", map[string]planAnswer{period: none, service + "GetTeams": answered(`{"teams":[{"id":"1"},{"id":2}]}`),
			period + "?1": none, period + "?2": pro, service + "GetPlanInfo": answered(`{"planInfo":{"planName":"Team"}}`)},
			PlanOK, "Team", 0, []string{service + "GetTeams", period + "?1", period + "?2"}},
		{"summary", map[string]planAnswer{period: none, summary: cases["usage_summary_enterprise"].answer()},
			PlanOK, "Enterprise", 0, []string{service + "GetTeams", summary, "/api/auth/stripe"}},
		{"requests", map[string]planAnswer{period: none, summary: answered(`{"membershipType":"pro"}`), "/api/usage": cases["legacy_requests"].answer()},
			PlanNear, "Pro", 0, []string{service + "GetTeams", summary, "/api/usage", "/api/auth/stripe"}},
		{"requests without a cookie", map[string]planAnswer{period: none, summary: cases["error_cookie"].answer(), "/api/usage": cases["error_cookie"].answer(),
			"/auth/usage": cases["legacy_requests"].answer(), "/auth/full_stripe_profile": answered(`{"membershipType":"ultra"}`)},
			PlanNear, "Ultra", 0, []string{service + "GetTeams", summary, "/api/usage", "/auth/usage", "/api/auth/stripe", "/auth/full_stripe_profile"}},
		{"nothing anywhere", map[string]planAnswer{period: none, summary: answered(`{}`), "/api/usage": answered(`{"gpt-4":{"numRequests":3,"maxRequestUsage":null}}`)},
			PlanNotReported, "", 0, []string{service + "GetTeams", summary, "/api/usage", "/auth/full_stripe_profile"}},
		{"a fault is not \"not reported\"", map[string]planAnswer{period: none, summary: broken}, 0, "", chat.BadGateway,
			[]string{service + "GetTeams", summary, "/api/usage", "/auth/usage"}},
		{"a fault for the team", map[string]planAnswer{period: none, service + "GetTeams": broken}, 0, "", chat.BadGateway,
			[]string{service + "GetTeams", summary, "/api/usage", "/auth/usage"}},
		{"no JSON", map[string]planAnswer{period: answered(`<html>`)}, 0, "", chat.BadGateway, nil},
	}
	always := []string{period, service + "GetPlanInfo", service + "GetCreditGrantsBalance", service + "GetHardLimit"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newPlanServer(t, tt.answers)
			p, err := s.account(t).Plan(t.Context(), 0)
			if tt.kind != 0 {
				if err == nil || chat.AsError(err).Kind != tt.kind {
					t.Errorf("err = %v, want kind %v", err, tt.kind)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if p.State != tt.state || p.Name != tt.plan {
				t.Errorf("state %v, plan %q", p.State, p.Name)
			}
			called := map[string]bool{}
			s.mu.Lock() // calls that were cut short may still be coming in
			for _, call := range s.calls {
				called[call] = true
			}
			s.mu.Unlock()
			for _, call := range always {
				delete(called, call) // those that are not needed may be cut short
			}
			want := slices.Sorted(slices.Values(tt.calls))
			if got := slices.Sorted(maps.Keys(called)); !slices.Equal(got, want) {
				t.Errorf("calls %q, want %q", got, want)
			}
		})
	}
}

// TestAU2_PlanWithAnOldToken: one renewal, whichever status refuses the token.
func TestAU2_PlanWithAnOldToken(t *testing.T) {
	for _, forbid := range []bool{false, true} {
		s := newPlanServer(t, map[string]planAnswer{service + "GetCurrentPeriodUsage": loadPlanCases(t)["pro"].answer()})
		a := s.account(t)
		s.mu.Lock()
		s.token, s.forbid = "another", forbid
		s.mu.Unlock()
		p, err := a.Plan(t.Context(), 0)
		if err != nil || p.State != PlanOK {
			t.Errorf("403 %v: %v, %v", forbid, p.State, err)
		}
		if n := s.count(exchangePath); n != 1 {
			t.Errorf("403 %v: %d renewals", forbid, n)
		}
	}
}

func TestPlanRefused(t *testing.T) {
	tests := []struct {
		name   string
		answer planAnswer
		kind   chat.Kind
	}{
		{"401 for ever", loadPlanCases(t)["error_not_logged_in"].answer(), chat.LoginRequired},
		{"403 for ever", planAnswer{403, `{"code":"permission_denied"}`, nil}, chat.LoginRequired},
		{"a page of something in between", planAnswer{403, `<html>`, map[string]string{"Content-Type": "text/html"}}, chat.BadGateway},
		{"429", planAnswer{429, `{"code":"resource_exhausted"}`, map[string]string{"Retry-After": "90"}}, chat.RateLimited},
		{"500", planAnswer{500, ``, nil}, chat.BadGateway},
	}
	for _, tt := range tests {
		s := newPlanServer(t, map[string]planAnswer{service + "GetCurrentPeriodUsage": tt.answer})
		a := s.account(t)
		_, err := a.Plan(t.Context(), 0)
		if e := chat.AsError(err); e == nil || e.Kind != tt.kind {
			t.Errorf("%s: %v", tt.name, err)
		} else if tt.kind == chat.RateLimited && e.RetryAfter != 90*time.Second {
			t.Errorf("%s: to be tried again after %v", tt.name, e.RetryAfter)
		}
		if n := s.count(exchangePath); n > 1 {
			t.Errorf("%s: %d renewals", tt.name, n)
		}
		if st := a.State(t.Context()); !st.SignedIn { // the figures are not worth the login
			t.Errorf("%s: logged out", tt.name)
		}
	}
}

// TestPlanStaysWithoutAnswer: the last figures stay, with their age.
func TestPlanStaysWithoutAnswer(t *testing.T) {
	s := newPlanServer(t, map[string]planAnswer{service + "GetCurrentPeriodUsage": loadPlanCases(t)["pro"].answer()})
	a := s.account(t)
	first, err := a.Plan(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.set(service+"GetCurrentPeriodUsage", loadPlanCases(t)["error_rate_limited"].answer())
	again, err := a.Plan(t.Context(), 0)
	if err == nil || again != first {
		t.Errorf("%+v, %v", again, err)
	}
	if age := again.Age(first.Fetched.Add(25 * time.Minute)); age != "25 min ago" {
		t.Errorf("age %q", age)
	}
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := a.Plan(t.Context(), time.Hour); p != (Plan{}) || chat.AsError(err).Kind != chat.LoginRequired {
		t.Errorf("after the logout: %+v, %v", p, err)
	}
}

// TestSE3_CookieGoesNowhereElse: the website may not lead the cookie away.
func TestSE3_CookieGoesNowhereElse(t *testing.T) {
	elsewhere := newPlanServer(t, map[string]planAnswer{})
	away := planAnswer{http.StatusFound, "", map[string]string{"Location": elsewhere.URL + "/api/usage-summary"}}
	s := newPlanServer(t, map[string]planAnswer{
		service + "GetCurrentPeriodUsage": answered(`{}`), "/api/usage-summary": away, "/api/usage": away, "/auth/usage": away, "/api/auth/stripe": away,
	})
	if p, err := s.account(t).Plan(t.Context(), 0); err != nil || p.State != PlanNotReported {
		t.Errorf("%+v, %v", p, err)
	}
	if len(elsewhere.calls) > 0 {
		t.Errorf("calls elsewhere: %v", elsewhere.calls)
	}
}

// TestSE2_NoTokenInPlanErrors: the cookie of the website holds the token.
func TestSE2_NoTokenInPlanErrors(t *testing.T) {
	answers := []planAnswer{answered(`{}`), answered(`[]`), answered(`<html>`), {401, `{"error":"not_authenticated"}`, nil}, {403, `{}`, nil},
		{429, ``, nil}, {500, `token`, nil}, {302, ``, map[string]string{"Location": "https://example.com/"}}, {200, `{}`, map[string]string{"Content-Length": "99"}}}
	for _, answer := range answers {
		s := newPlanServer(t, map[string]planAnswer{service + "GetCurrentPeriodUsage": answered(`{}`), "/api/usage-summary": answer, "/api/usage": answer})
		a := s.account(t)
		website := planClient{client: a.client, pages: s.Client(), hosts: a.cfg.Hosts, tokens: a.tokens}
		_, err := website.page(t.Context(), "/api/usage-summary", nil)
		_, errAll := a.Plan(t.Context(), 0)
		website.hosts.website = "https://127.0.0.1:1"
		_, errGone := website.page(t.Context(), "/api/usage-summary", nil)
		if errGone == nil {
			t.Error("no error of a server that is not there")
		}
		for _, e := range []error{err, errAll, errGone} {
			for ; e != nil; e = errors.Unwrap(e) {
				if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, "eyJ") || strings.Contains(text, "user_01") {
					t.Errorf("%d: %s", answer.status, text)
				}
			}
		}
	}
}
