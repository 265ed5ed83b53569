package simserver

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// login is one attempt to log in through a browser.
type login struct {
	challenge string
	started   time.Time
	state     loginState
	user      string // who confirmed it
	polls     int
}

type loginState string

const (
	loginPending   loginState = "pending"
	loginConfirmed loginState = "confirmed"
	loginDenied    loginState = "denied"
	loginOver      loginState = "over" // tokens given out, or too old
)

// The page answers to a query of exactly these four; the verifier's shape is
// that of base64 without padding.
var (
	loginQuery     = []string{"challenge", "mode", "redirectTarget", "uuid"}
	challengeShape = pattern(`^[A-Za-z0-9_-]{43}$`)
	verifierShape  = pattern(`^[A-Za-z0-9_-]{43,128}$`)
)

// PathPoll is where a client waits for the end of a login.
const PathPoll = "/auth/poll"

//go:embed login.html
var loginHTML string

// loginPage shows a login and takes the decision of whoever sits before it.
func (s *Sim) loginPage(c *call) answer {
	q := c.r.URL.Query()
	if problem := loginProblem(q); problem != "" {
		s.violate(c, "login", problem)
		return s.page(http.StatusBadRequest, "This login link is not complete.", "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	uuid := q.Get("uuid")
	l := s.logins[uuid]
	if l == nil {
		l = &login{challenge: q.Get("challenge"), started: c.now, state: loginPending}
		s.logins[uuid] = l
	}
	l.expire(c.now, s.settings.LoginLifetime)
	if l.challenge != q.Get("challenge") {
		s.violate(c, "login", "the same uuid with another challenge")
		return s.page(http.StatusBadRequest, "This login link was used before.", "")
	}
	if c.r.Method == http.MethodPost && l.state == loginPending {
		form, err := url.ParseQuery(string(c.body))
		decision := form.Get("decision")
		if err != nil || decision != "allow" && decision != "deny" {
			return s.page(http.StatusBadRequest, "The page sent something that it cannot have sent.", "")
		}
		l.decide(decision == "allow", s.accounts.current)
	}
	switch l.state {
	case loginPending:
		return s.page(http.StatusOK, "", s.accounts.people[s.accounts.current].Email)
	case loginConfirmed:
		return s.page(http.StatusOK, "You are logged in. You may close this window.", "")
	case loginDenied:
		return s.page(http.StatusOK, "You have denied the login. You may close this window.", "")
	}
	return s.page(http.StatusGone, "This login is over.", "")
}

func loginProblem(q url.Values) string {
	var names []string
	for name, values := range q {
		names = append(names, name)
		if len(values) != 1 {
			return name + " is given more than once"
		}
	}
	slices.Sort(names)
	switch {
	case !slices.Equal(names, loginQuery):
		return fmt.Sprintf("the query has %q, not %q", names, loginQuery)
	case q.Get("mode") != "login" || q.Get("redirectTarget") != "cli":
		return "mode is not login, or redirectTarget not cli"
	case !uuidShape().MatchString(q.Get("uuid")):
		return "uuid is not a random UUID"
	case !challengeShape().MatchString(q.Get("challenge")):
		return "challenge is not a hash in base64"
	}
	return ""
}

func (l *login) expire(now time.Time, lifetime time.Duration) {
	if l.state == loginPending && now.Sub(l.started) > lifetime {
		l.state = loginOver
	}
}

func (l *login) decide(allow bool, user string) {
	l.state, l.user = loginDenied, user
	if allow {
		l.state = loginConfirmed
	}
}

// page renders a page that says something, or one that asks the person with
// that e-mail address. The template is parsed each time: pages are rare.
func (s *Sim) page(status int, says, email string) answer {
	var text bytes.Buffer
	page, err := template.New("login").Parse(loginHTML)
	if err == nil {
		err = page.Execute(&text, map[string]string{"Says": says, "Email": email})
	}
	if err != nil {
		return connectError(http.StatusInternalServerError, "internal", err.Error())
	}
	return answer{status: status, contentType: "text/html; charset=utf-8", body: text.Bytes(), header: map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'",
		"Cache-Control":           "no-store",
	}}
}

func (s *Sim) homePage(*call) answer {
	return s.page(http.StatusOK, "This is the simulated Cursor. Nothing here is real.", "")
}

// poll answers a client that waits for its login. It gives the tokens once.
func (s *Sim) poll(c *call) answer {
	q := c.r.URL.Query()
	uuid, verifier := q.Get("uuid"), q.Get("verifier")
	if c.r.Header.Get("Authorization") != "" {
		s.violate(c, "bearer", "a login has no access token yet")
	}
	if len(q) != 2 || !uuidShape().MatchString(uuid) || !verifierShape().MatchString(verifier) {
		s.violate(c, "login", "the query is not a random UUID and a verifier of 43 to 128 characters")
		return connectError(http.StatusBadRequest, "invalid_argument", "uuid and verifier")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.accounts.secrets, verifier) {
		s.accounts.secrets = append(s.accounts.secrets, verifier)
	}
	l := s.logins[uuid]
	if l == nil && s.settings.AutoConfirm {
		l = &login{challenge: challengeOf(verifier), started: c.now, state: loginPending}
		s.logins[uuid] = l
	}
	if l == nil {
		return notYet()
	}
	if l.state == loginPending && s.settings.AutoConfirm {
		l.decide(true, s.accounts.current)
	}
	if challengeOf(verifier) != l.challenge {
		s.violate(c, "login", "the verifier does not belong to the challenge")
		return connectError(http.StatusForbidden, "permission_denied", "wrong verifier")
	}
	if l.polls++; l.polls <= s.settings.PollsPending {
		return notYet()
	}
	l.expire(c.now, s.settings.LoginLifetime)
	switch l.state {
	case loginPending:
		return notYet()
	case loginDenied:
		return connectError(http.StatusForbidden, "permission_denied", "the login was denied")
	case loginConfirmed:
		l.state = loginOver
		tokens := s.accounts.open(l.user, c.now, s.settings.AccessLifetime)
		return jsonAnswer(map[string]string{
			"accessToken": tokens.Access, "refreshToken": tokens.Refresh,
			"authId": l.user, "challenge": l.challenge, "uuid": uuid,
		})
	}
	return connectError(http.StatusGone, "not_found", "the login is over")
}

func notYet() answer {
	return answer{status: http.StatusNotFound, contentType: "text/plain; charset=utf-8", body: []byte("Not Found")}
}

// challengeOf is the S256 challenge of RFC 7636.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
