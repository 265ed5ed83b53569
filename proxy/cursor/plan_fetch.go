package cursor

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	planTimeout = 10 * time.Second // for one call
	planLimit   = 40 * time.Second // for all of them
	maxTeams    = 5                // that are asked for
)

// planClient asks Cursor about the plan.
type planClient struct {
	client *http.Client // adds the login
	pages  *http.Client // for the website, which takes a cookie
	hosts  Hosts
	tokens *TokenSource
}

// fetch asks all that there is to know. Only the usage itself has to be
// answered.
func (c planClient) fetch(ctx context.Context) (Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, planLimit)
	defer cancel()
	var info, grants, limit fields // nil if not answered
	var others sync.WaitGroup
	others.Go(func() { info, _ = c.dashboard(ctx, "GetPlanInfo", nil) })
	others.Go(func() { grants, _ = c.dashboard(ctx, "GetCreditGrantsBalance", nil) })
	others.Go(func() { limit, _ = c.dashboard(ctx, "GetHardLimit", nil) })
	p, err := c.usage(ctx)
	if err != nil {
		cancel()
	}
	others.Wait()
	if err != nil {
		return Plan{}, err
	}
	p.addInfo(info)
	p.addGrants(grants)
	if p.State != PlanNotReported {
		p.addHardLimit(limit)
	}
	if p.State == PlanLimited {
		policy, _ := c.dashboard(ctx, "GetUsageLimitPolicyStatus", nil)
		p.addPolicy(policy)
	}
	if p.Name == "" {
		profile, _ := c.get(ctx, "/auth/full_stripe_profile")
		p.Name = membership(profile.text("membershipType"))
	}
	p.roundToCents()
	p.Fetched = time.Now().UTC().Round(0) // plans are compared with ==
	return p, nil
}

// usage asks for the usage in one way after the other until there are figures.
// Seats in a team, older plans and those of enterprises are not reported by the
// first.
func (c planClient) usage(ctx context.Context) (Plan, error) {
	period, err := c.dashboard(ctx, "GetCurrentPeriodUsage", nil)
	if err != nil {
		return Plan{}, err
	}
	if shown := period.flag("enabled"); shown != nil && !*shown {
		return Plan{}, nil
	}
	if p, ok := readPeriod(period); ok {
		return p, nil
	}
	p, errTeam := c.teamUsage(ctx)
	if errTeam == nil && p.State != PlanNotReported {
		return p, nil
	}
	p, errSite := c.siteUsage(ctx)
	if p.State != PlanNotReported {
		return p, nil
	}
	// "Not reported" has to be what Cursor says, not what a fault looks like.
	for _, err := range []error{errTeam, errSite} {
		if passing(err) {
			return Plan{}, err
		}
	}
	return p, nil
}

func (c planClient) teamUsage(ctx context.Context) (Plan, error) {
	teams, err := c.dashboard(ctx, "GetTeams", nil)
	if err != nil {
		return Plan{}, err
	}
	for i, id := range readTeams(teams) {
		if i == maxTeams {
			break
		}
		period, askErr := c.dashboard(ctx, "GetCurrentPeriodUsage", map[string]json.Number{"teamId": id})
		if askErr != nil {
			err = askErr
			continue
		}
		if p, ok := readPeriod(period); ok {
			p.Team = true
			return p, nil
		}
	}
	return Plan{}, err
}

// siteUsage asks the website, and where it does not take the login as a cookie
// the API for the same count of requests.
func (c planClient) siteUsage(ctx context.Context) (Plan, error) {
	summary, err := c.page(ctx, "/api/usage-summary", nil)
	p, ok := readSummary(summary)
	if !ok {
		p = Plan{Name: p.Name, Team: p.Team}
		counts, errCounts := c.page(ctx, "/api/usage", func(user string) url.Values { return url.Values{"user": {user}} })
		if errCounts != nil && !passing(errCounts) {
			counts, errCounts = c.get(ctx, "/auth/usage")
		}
		err = errors.Join(err, errCounts)
		if p.Requests, ok = readRequests(counts); ok {
			p.State = p.Requests.state()
		}
	}
	if ok {
		balance, _ := c.page(ctx, "/api/auth/stripe", nil)
		p.addBalance(balance)
	}
	return p, err
}

// passing says whether a call failed for a reason that may be gone next time.
func passing(err error) bool {
	if err == nil {
		return false
	}
	var status *statusError
	if errors.As(err, &status) {
		return status.status == http.StatusTooManyRequests || status.status >= 500
	}
	return chat.AsError(err).Kind != chat.LoginRequired
}

// dashboard calls the service that the pages for people use. It answers 403
// where others say 401.
func (c planClient) dashboard(ctx context.Context, method string, body any) (fields, error) {
	if body == nil {
		body = struct{}{}
	}
	return c.renewed(ctx, func(ctx context.Context) (fields, error) {
		var answer json.RawMessage
		err := call(ctx, c.client, c.hosts.API()+"/aiserver.v1.DashboardService/"+method, body, &answer)
		return readAnswer(answer, err)
	})
}

// get calls the API with GET.
func (c planClient) get(ctx context.Context, path string) (fields, error) {
	return c.renewed(ctx, func(ctx context.Context) (fields, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.hosts.API()+path, nil)
		if err != nil {
			return nil, chat.AsError(withoutURL(err))
		}
		return readAnswer(send(ctx, c.client, req))
	})
}

// renewed makes a call again with a new token if it was answered with 403;
// Transport has done that for 401.
func (c planClient) renewed(ctx context.Context, ask func(context.Context) (fields, error)) (fields, error) {
	once := func() (fields, error) {
		ctx, cancel := context.WithTimeout(ctx, planTimeout)
		defer cancel()
		return ask(ctx)
	}
	token, err := c.tokens.Token(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := once()
	if !isForbidden(err) {
		return answer, err
	}
	fresh, errRenew := c.tokens.Renew(ctx, token)
	if errRenew != nil {
		return nil, errRenew
	}
	if fresh != token {
		answer, err = once()
	}
	if isForbidden(err) {
		return nil, &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginEnded, Err: err,
			Message: "Cursor refuses to tell the usage with this login; log in again from the tray or with \"cursortray login\""}
	}
	return answer, err
}

func isForbidden(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.status == http.StatusForbidden && !status.html
}

// page calls the website, which takes the access token in a cookie. query may
// be nil and gets the user's id.
func (c planClient) page(ctx context.Context, path string, query func(user string) url.Values) (fields, error) {
	ctx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	token, err := c.tokens.Token(ctx)
	if err != nil {
		return nil, err
	}
	user := userOf(token)
	if user == "" {
		return nil, &chat.Error{Kind: chat.LoginRequired, Code: CodeServer, Message: "this login does not tell the user's id, which Cursor's website asks for"}
	}
	if query != nil {
		path += "?" + query(user).Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.hosts.Website()+path, nil)
	if err != nil {
		return nil, chat.AsError(withoutURL(err))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Cookie", "WorkosCursorSessionToken="+user+"%3A%3A"+token)
	return readAnswer(send(ctx, c.pages, req))
}

func readAnswer(body []byte, err error) (fields, error) {
	if err != nil {
		return nil, err
	}
	f := parseFields(body)
	if f == nil {
		return nil, errUnreadable()
	}
	return f, nil
}
