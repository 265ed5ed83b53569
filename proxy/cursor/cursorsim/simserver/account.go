package simserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Account is somebody with a login at Cursor.
type Account struct {
	User  string `json:"user"` // the token's subject, "auth0|user_..."
	Email string `json:"email"`
	Name  string `json:"name"`
	Plan  string `json:"plan"` // a profile; "" for that of the settings
}

// DefaultUser is the account that every simulation has, and DefaultKey its API
// key.
const (
	DefaultUser = "auth0|user_01EXAMPLE"
	DefaultKey  = "crsr_simulated0key0for0tests0only0"
)

func newAccounts() accounts {
	a := accounts{
		people: map[string]Account{}, keys: map[string]string{DefaultKey: DefaultUser}, current: DefaultUser,
		access: map[string]*accessToken{}, refresh: map[string]*session{}, spent: map[string]bool{}, secrets: []string{DefaultKey},
	}
	a.people[DefaultUser] = Account{User: DefaultUser, Email: "ada@example.com", Name: "Ada Example"}
	return a
}

// AddAccount adds or replaces an account. The browser is logged in as the one
// added last.
func (s *Sim) AddAccount(a Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Plan != "" {
		if err := s.plans.knows(a.Plan, nil); err != nil {
			return err
		}
	}
	s.accounts.people[a.User] = a
	s.accounts.current = a.User
	return nil
}

// AddKey makes an API key of a user; keys begin with "crsr_".
func (s *Sim) AddKey(key, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.accounts.people[user]; !ok || !strings.HasPrefix(key, "crsr_") {
		return fmt.Errorf("key for %q: want a known user and a key that begins with crsr_", user)
	}
	s.accounts.keys[key] = user
	s.accounts.secrets = append(s.accounts.secrets, key)
	return nil
}

// RemoveKey makes an API key invalid. Logins made with it go on.
func (s *Sim) RemoveKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.accounts.keys, key)
}

// bearer is the credential of a call; "" if there is none.
func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}

// authorize returns who a call with an access token is from, or the refusal.
func (s *Sim) authorize(c *call) (Account, *answer) {
	token := bearer(c.r)
	s.mu.Lock()
	known := s.accounts.access[token]
	_, isRefresh := s.accounts.refresh[token]
	person, live := s.holder(known)
	s.mu.Unlock()
	refused := notLoggedIn()
	switch {
	case token == "":
		s.violate(c, "bearer", "no access token")
	case strings.HasPrefix(token, "crsr_"):
		s.violate(c, "raw-key", "an API key goes to the exchange only")
	case strings.Contains(token, "::") || strings.Contains(token, "%3A%3A"):
		s.violate(c, "bearer", "a cookie of the website is not an access token")
	case isRefresh:
		s.violate(c, "bearer", "a refresh token is not an access token")
	case known == nil:
	case !c.now.Before(known.expires):
		s.violate(c, "expired-token", "the access token has run out")
	case live:
		return person, nil
	}
	return Account{}, &refused
}

// holder is whose token it is, and whether the login goes on. The caller holds mu.
func (s *Sim) holder(t *accessToken) (Account, bool) {
	if t == nil {
		return Account{}, false
	}
	person, ok := s.accounts.people[t.session.user]
	return person, ok && !t.revoked && !t.session.ended
}

// notLoggedIn is the refusal of an access token, as Cursor writes it.
func notLoggedIn() answer {
	a := jsonAnswer(map[string]any{
		"code": "unauthenticated", "message": "Error",
		"details": []any{map[string]any{
			"type": "aiserver.v1.ErrorDetails", "value": "",
			"debug": map[string]any{"error": "ERROR_NOT_LOGGED_IN", "details": map[string]any{
				"title": "Authentication error", "detail": "If you are logged in, try logging out and back in.", "isRetryable": false,
			}},
		}},
	})
	a.status = http.StatusUnauthorized
	return a
}

// cookieName is the cookie of the website: the user's id, two colons and the
// access token.
const cookieName = "WorkosCursorSessionToken"

// authorizeCookie is authorize for the calls of the website.
func (s *Sim) authorizeCookie(c *call) (Account, *answer) {
	refused := jsonAnswer(map[string]string{
		"error": "not_authenticated", "description": "The user does not have an active session or is not authenticated",
	})
	refused.status = http.StatusUnauthorized
	cookie, err := c.r.Cookie(cookieName)
	if err != nil {
		return Account{}, &refused
	}
	value, err := url.PathUnescape(cookie.Value)
	id, token, ok := strings.Cut(value, "::")
	if err != nil || !ok {
		return Account{}, &refused
	}
	s.mu.Lock()
	known := s.accounts.access[token]
	person, live := s.holder(known)
	s.mu.Unlock()
	if !live || !c.now.Before(known.expires) || id != webID(person.User) {
		return Account{}, &refused
	}
	return person, nil
}

// webID is a user's id on the website: the part behind the bar.
func webID(user string) string {
	if _, id, ok := strings.Cut(user, "|"); ok {
		return id
	}
	return user
}

// me is GetMe. Only its path is known from a client; its fields are those that
// other identity answers of the service have.
func (s *Sim) me(c *call) answer {
	person, refused := s.authorize(c)
	if refused != nil {
		return *refused
	}
	first, last, _ := strings.Cut(person.Name, " ")
	return jsonAnswer(map[string]any{"authId": person.User, "email": person.Email, "firstName": first, "lastName": last})
}

// webMe is the same for the website.
func (s *Sim) webMe(c *call) answer {
	person, refused := s.authorizeCookie(c)
	if refused != nil {
		return *refused
	}
	return jsonAnswer(map[string]any{"sub": person.User, "email": person.Email, "email_verified": true, "name": person.Name})
}
