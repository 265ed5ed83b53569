package cursor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// authTimeout is for one call. Public clients use 5 to 15 s.
	authTimeout = 15 * time.Second
	// maxAnswer is far above the size of two tokens.
	maxAnswer = 1 << 20
	// smallSkew is what a slow answer and whole seconds in the Date header
	// can make of an exact clock.
	smallSkew = 2 * time.Minute
)

// tokens is Cursor's answer to a login, an exchange and a renewal.
type tokens struct {
	Access  string `json:"accessToken"`
	Refresh string `json:"refreshToken"`
	skew    time.Duration

	// ShouldLogout says, whatever the status, that the login has ended.
	ShouldLogout bool `json:"shouldLogout"`
}

// authClient makes the calls that yield tokens.
type authClient struct {
	client   *http.Client
	hosts    Hosts
	identity *Identity // nil sends no client headers
}

func newAuthClient(cfg Config) authClient {
	own := *cfg.Client
	own.Timeout = authTimeout
	// A redirect would carry a token to a host that nobody checked.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return authClient{client: &own, hosts: cfg.Hosts, identity: cfg.identity}
}

// poll asks whether the login was confirmed in the browser; status 404 is "not
// yet".
func (a authClient) poll(ctx context.Context, uuid, verifier string) (tokens, error) {
	req, err := a.pollRequest(ctx, uuid, verifier)
	if err != nil {
		return tokens{}, err
	}
	t, err := a.do(req)
	if err == nil && t.Refresh == "" {
		err = errAnswer
	}
	return t, err
}

func (a authClient) pollRequest(ctx context.Context, uuid, verifier string) (*http.Request, error) {
	query := url.Values{"uuid": {uuid}, "verifier": {verifier}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.hosts.API()+"/auth/poll?"+query.Encode(), nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	return req, nil
}

// clock asks for the time on Cursor's clock, by the poll of a login that nobody
// has begun: of the calls that clients make it is the one that needs no login
// and changes nothing.
func (a authClient) clock(ctx context.Context) (time.Time, error) {
	req, err := a.pollRequest(ctx, newUUID(), newVerifier())
	if err != nil {
		return time.Time{}, err
	}
	a.dress(req)
	resp, err := a.client.Do(req)
	if err != nil {
		return time.Time{}, withoutURL(err)
	}
	resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}

// exchange turns an API key, or a refresh token, into tokens.
func (a authClient) exchange(ctx context.Context, bearer string) (tokens, error) {
	return a.post(ctx, "/auth/exchange_user_api_key", bearer, struct{}{})
}

// renewals are the three ways in which public clients renew a login, the most
// used one first. It is not known which of them Cursor will keep.
var renewals = [...]func(a authClient, ctx context.Context, refresh string) (tokens, error){
	authClient.exchange,
	func(a authClient, ctx context.Context, refresh string) (tokens, error) {
		return a.post(ctx, "/auth/token", "", struct {
			RefreshToken string `json:"refreshToken"`
		}{refresh})
	},
	func(a authClient, ctx context.Context, refresh string) (tokens, error) {
		return a.post(ctx, "/auth/refresh", refresh, struct{}{})
	},
}

// renew tries the ways to renew a login, the one called first before the
// others, and returns the one that worked. Only an answer that says "no such
// call" leads to the next.
func (a authClient) renew(ctx context.Context, refresh string, first int) (t tokens, worked int, err error) {
	for i := range renewals {
		way := (first + i) % len(renewals)
		t, err = renewals[way](a, ctx, refresh)
		var status *statusError
		if errors.As(err, &status) && !status.ended && (status.status == 400 || status.status == 404 || status.status == 405) {
			continue
		}
		return t, way, err
	}
	return tokens{}, first, err
}

func (a authClient) post(ctx context.Context, path, bearer string, body any) (tokens, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return tokens{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.hosts.API()+path, strings.NewReader(string(text)))
	if err != nil {
		return tokens{}, withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	return a.do(req)
}

func (a authClient) do(req *http.Request) (tokens, error) {
	a.dress(req)
	resp, err := a.client.Do(req)
	if err != nil {
		return tokens{}, withoutURL(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	var t tokens
	// The decoder's error could quote the answer.
	unreadable := json.Unmarshal(body, &t) != nil
	if resp.StatusCode != http.StatusOK || t.ShouldLogout {
		return tokens{}, &statusError{
			status:     resp.StatusCode,
			ended:      t.ShouldLogout,
			api:        isRefusal(body),
			html:       strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"),
			retryAfter: retryAfter(resp.Header),
		}
	}
	if err != nil {
		return tokens{}, withoutURL(err)
	}
	if unreadable || t.Access == "" || !headerSafe(t.Access) || !headerSafe(t.Refresh) {
		return tokens{}, errAnswer
	}
	t.skew = skewOf(resp.Header, time.Now())
	return t, nil
}

// dress adds the headers that all these calls have.
func (a authClient) dress(req *http.Request) {
	req.Header.Set("Accept", "application/json")
	if a.identity != nil {
		a.identity.apply(req.Header, time.Now())
		req.Header.Del("Connect-Protocol-Version") // it is none of those calls
	}
}

// isRefusal says whether the body is that of an error of Cursor: {"error": ...}
// from its plain calls, {"code": text, ...} from the others.
func isRefusal(body []byte) bool {
	var said struct {
		Error json.RawMessage `json:"error"`
		Code  string          `json:"code"`
	}
	if json.Unmarshal(body, &said) != nil {
		return false
	}
	return said.Code != "" || len(said.Error) > 0 && string(said.Error) != "null"
}

// skewOf returns how far the server's clock is ahead of this machine's, 0 if
// that is little or not known.
func skewOf(h http.Header, now time.Time) time.Duration {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	if skew := date.Sub(now); skew.Abs() > smallSkew {
		return skew
	}
	return 0
}

// retryAfter reads the header of that name in seconds, the only form seen.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 24*60*60 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
