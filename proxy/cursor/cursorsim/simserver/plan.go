package simserver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// planBook holds the answers of the plan and usage calls.
type planBook struct {
	Profiles map[string]profile
	Cases    []planCase
}

// profile is a plan: the cases that its accounts see.
type profile struct {
	Membership string
	TeamID     int
	Cases      []string
}

// planCase is one answer of one call.
type planCase struct {
	Name   string
	Path   string
	TeamID int // only if asked for that team
	Status int // 0 for 200
	Body   json.RawMessage
}

//go:embed data/plans.json
var plansJSON []byte

func readPlans() (planBook, error) {
	var b planBook
	if err := json.Unmarshal(plansJSON, &b); err != nil {
		return planBook{}, fmt.Errorf("read the plans: %w", err)
	}
	for _, p := range b.Profiles {
		for _, name := range p.Cases {
			if _, ok := b.find(name); !ok {
				return planBook{}, fmt.Errorf("read the plans: no case %q", name)
			}
		}
	}
	return b, nil
}

func (b planBook) find(name string) (planCase, bool) {
	i := slices.IndexFunc(b.Cases, func(c planCase) bool { return c.Name == name })
	if i < 0 {
		return planCase{}, false
	}
	return b.Cases[i], true
}

func (b planBook) knows(plan string, cases []string) error {
	if _, ok := b.Profiles[plan]; !ok {
		return fmt.Errorf("no plan %q", plan)
	}
	for _, name := range cases {
		if _, ok := b.find(name); !ok {
			return fmt.Errorf("no case %q", name)
		}
	}
	return nil
}

// PlanNames lists the values of Settings.Plan and Account.Plan.
func (s *Sim) PlanNames() []string { return slices.Sorted(maps.Keys(s.plans.Profiles)) }

// CaseNames lists the values of Settings.Cases.
func (s *Sim) CaseNames() []string {
	var names []string
	for _, c := range s.plans.Cases {
		names = append(names, c.Name)
	}
	return names
}

// SetPlan gives an account without a plan of its own that plan, and no other
// cases than the plan's.
func (s *Sim) SetPlan(plan string) error {
	return s.Change(func(t *Settings) { t.Plan, t.Cases = plan, nil })
}

// profileOf is the plan that a person has.
func (s *Sim) profileOf(person Account) profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	if person.Plan != "" {
		return s.plans.Profiles[person.Plan]
	}
	return s.plans.Profiles[s.settings.Plan]
}

// planCase answers the calls whose answer is the same for everyone on a plan.
func (s *Sim) planCase(c *call) answer {
	if strings.HasPrefix(c.path(), "/api/") {
		person, refused := s.authorizeCookie(c)
		if refused != nil {
			return *refused
		}
		return s.pick(c, person, c.path(), 0)
	}
	person, refused := s.authorize(c)
	if refused != nil {
		return *refused
	}
	var asked struct{ TeamID int }
	if refused := s.decode(c, &asked); refused != nil {
		return *refused
	}
	return s.pick(c, person, c.path(), asked.TeamID)
}

// pick takes the first case for a path: of the settings, then of the plan.
func (s *Sim) pick(c *call, person Account, path string, team int) answer {
	settings := s.Settings()
	for _, name := range append(settings.Cases, s.profileOf(person).Cases...) {
		found, _ := s.plans.find(name)
		if found.Path != path || found.TeamID != team {
			continue
		}
		a := rawJSON(found.Body)
		if found.Status != 0 {
			a.status = found.Status
		}
		if settings.LiveCycle {
			a.body = moveCycle(a.body, c.now)
		}
		return a
	}
	return rawJSON([]byte("{}"))
}

// moveCycle puts the billing cycle of an answer around now. One without a
// length stays as it is.
func moveCycle(body []byte, now time.Time) []byte {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil || fields["billingCycleStart"] != nil && fields["billingCycleStart"] == fields["billingCycleEnd"] {
		return body
	}
	start := now.AddDate(0, 0, -12).UTC().Truncate(time.Hour)
	end := start.AddDate(0, 1, 0)
	move := func(in map[string]any, key string, to time.Time) {
		old, ok := in[key].(string)
		switch {
		case !ok:
		case strings.Contains(old, "T"):
			in[key] = to.Format("2006-01-02T15:04:05.000Z")
		default:
			in[key] = fmt.Sprint(to.UnixMilli())
		}
	}
	move(fields, "billingCycleStart", start)
	move(fields, "billingCycleEnd", end)
	move(fields, "resetAtMs", end)
	if info, ok := fields["planInfo"].(map[string]any); ok {
		move(info, "billingCycleEnd", end)
	}
	moved, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return moved
}

func (s *Sim) teams(c *call) answer {
	person, refused := s.authorize(c)
	if refused != nil {
		return *refused
	}
	if id := s.profileOf(person).TeamID; id != 0 {
		return jsonAnswer(map[string]any{"teams": []any{map[string]any{"id": id, "name": "Example team", "role": "TEAM_ROLE_MEMBER"}}})
	}
	return jsonAnswer(map[string]any{})
}

func (s *Sim) stripeProfile(c *call) answer {
	person, refused := s.authorize(c)
	if refused != nil {
		return *refused
	}
	p := s.profileOf(person)
	fields := map[string]any{"membershipType": p.Membership, "isTeamMember": p.TeamID != 0, "isYearlyPlan": false}
	if p.Membership != "free" {
		fields["subscriptionStatus"] = "active"
	}
	if p.TeamID != 0 {
		fields["teamId"] = p.TeamID
	}
	return jsonAnswer(fields)
}

// legacyUsage has the request counts of old plans.
func (s *Sim) legacyUsage(c *call) answer {
	person, refused := s.authorize(c)
	if refused != nil {
		return *refused
	}
	return s.pick(c, person, "/api/usage", 0)
}

// webUsage is the same for the website, which wants to be told the user.
func (s *Sim) webUsage(c *call) answer {
	person, refused := s.authorizeCookie(c)
	if refused != nil {
		return *refused
	}
	if c.r.URL.Query().Get("user") != webID(person.User) {
		s.violate(c, "user", "the query does not name the user of the cookie")
		return connectError(http.StatusForbidden, "permission_denied", "another user")
	}
	return s.pick(c, person, "/api/usage", 0)
}

// webEvents refuses, as the website does, a call that no page of its own made.
func (s *Sim) webEvents(c *call) answer {
	if c.r.Header.Get("Origin") != "https://cursor.com" {
		s.violate(c, "origin", "origin is "+quote(c.r.Header.Get("Origin"))+", not https://cursor.com")
		return answer{status: http.StatusForbidden, contentType: "application/json", body: []byte(`{"error":"Invalid origin for state-changing request"}`)}
	}
	return s.planCase(c)
}
