package cursor

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"time"

	"cursortray/proxy/chat"
)

// How often Cursor's own clients ask whether the login was confirmed; all
// together about 24 minutes.
const (
	firstPoll  = time.Second
	pollFactor = 1.2
	longPoll   = 10 * time.Second
	maxPolls   = 150
	// maxPollFaults is how many answers in a row may be missing or unusable.
	maxPollFaults = 3
	// maxRetryAfter bounds what a server may ask for between two polls.
	maxRetryAfter = time.Minute
)

// Login is one attempt to log in with the browser.
type Login struct {
	// URL is the page to open. It is good for this attempt only and holds no
	// secret.
	URL string

	auth           authClient
	uuid, verifier string
}

// StartLogin begins an attempt. It makes no call; the user has to open the URL
// and the caller to Wait.
func StartLogin(cfg Config) *Login {
	l := &Login{auth: newAuthClient(cfg), uuid: newUUID(), verifier: newVerifier()}
	query := url.Values{
		"challenge": {challengeOf(l.verifier)}, "uuid": {l.uuid}, "mode": {"login"}, "redirectTarget": {"cli"},
	}
	l.URL = cfg.Hosts.Website() + "/loginDeepControl?" + query.Encode()
	return l
}

// Wait returns the login once the user has confirmed it in the browser. The
// end of ctx stops it at once. Errors are *chat.Error; their codes tell a
// refusal, a time-out, a missing network and a wrong clock apart.
func (l *Login) Wait(ctx context.Context) (Credentials, error) {
	faults := 0
	var least time.Duration // what the server asked for
	for delay := range pollDelays() {
		if err := sleep(ctx, max(delay, min(least, maxRetryAfter))); err != nil {
			return Credentials{}, chat.AsError(err)
		}
		t, err := l.auth.poll(ctx, l.uuid, l.verifier)
		if err == nil {
			c := newCredentials(t.Access, t.Refresh, "")
			c.skew = t.skew
			return c, nil
		}
		if ctx.Err() != nil {
			return Credentials{}, chat.AsError(ctx.Err())
		}
		var status *statusError
		if !errors.As(err, &status) {
			status = &statusError{}
		}
		switch least = status.retryAfter; status.status {
		case 404: // not confirmed yet
			if status.html {
				break
			}
			faults = 0
			continue
		case 429: // too often
			continue
		case 400, 401, 403:
			if status.html {
				break
			}
			return Credentials{}, &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginDenied, Err: err,
				Message: "the login was refused; start it again"}
		case 410:
			return Credentials{}, expired(err)
		}
		if faults++; faults == maxPollFaults {
			return Credentials{}, callError(err)
		}
	}
	return Credentials{}, expired(nil)
}

func expired(err error) *chat.Error {
	return &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginExpired, Err: err,
		Message: "the login was not confirmed in the browser in time; start it again"}
}

// pollDelays yields the time to wait before each poll.
func pollDelays() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		delay := firstPoll
		for range maxPolls {
			if !yield(delay) {
				return
			}
			delay = min(time.Duration(float64(delay)*pollFactor), longPoll)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
