package simserver

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// Tokens are what a login gives.
type Tokens struct {
	Access  string `json:"accessToken"`
	Refresh string `json:"refreshToken"`
}

// session is one login of one account.
type session struct {
	user    string
	refresh string // the token that renews it
	ended   bool
}

// accessToken is one that was given out.
type accessToken struct {
	session *session
	expires time.Time
	revoked bool
}

// accounts are the people and all that was given to them.
type accounts struct {
	people  map[string]Account // by user id
	current string             // who sits at the browser
	keys    map[string]string  // API keys, to user ids
	access  map[string]*accessToken
	refresh map[string]*session
	spent   map[string]bool // refresh tokens that were replaced
	secrets []string        // everything above that must not be seen anywhere
}

// open starts a login for a user. A negative lifetime gives a token that has
// run out.
func (a *accounts) open(user string, now time.Time, lifetime time.Duration) Tokens {
	login := &session{user: user}
	return Tokens{Access: a.mint(login, now, lifetime), Refresh: a.renewable(login)}
}

func (a *accounts) mint(of *session, now time.Time, lifetime time.Duration) string {
	token := signedToken(of.user, now, now.Add(lifetime))
	a.access[token] = &accessToken{session: of, expires: now.Add(lifetime)}
	a.secrets = append(a.secrets, token)
	return token
}

// renewable gives a session a new refresh token in place of the one it has.
func (a *accounts) renewable(of *session) string {
	if of.refresh != "" {
		delete(a.refresh, of.refresh)
		a.spent[of.refresh] = true
	}
	of.refresh = "simrefresh-" + rand.Text()
	a.refresh[of.refresh] = of
	a.secrets = append(a.secrets, of.refresh)
	return of.refresh
}

// signedToken is a JWT with the claims that Cursor's have. Its signature is
// noise: a client cannot check it, and the simulation knows its own tokens.
func signedToken(user string, now, expires time.Time) string {
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("encode a map of texts and numbers: %v", err))
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	head := encode(map[string]string{"alg": "HS256", "typ": "JWT"})
	claims := encode(map[string]any{
		"sub": user, "time": fmt.Sprint(now.Unix()), "randomness": rand.Text(), "exp": expires.Unix(),
		"iss": "https://authentication.cursor.sh", "scope": "openid profile email offline_access",
		"aud": "https://cursor.com", "type": "session",
	})
	noise := make([]byte, 32)
	_, _ = rand.Read(noise) // never fails
	return head + "." + claims + "." + base64.RawURLEncoding.EncodeToString(noise)
}

// NewLogin gives tokens as a login of the user would, with an access token of
// that lifetime; a negative one has run out already.
func (s *Sim) NewLogin(user string, lifetime time.Duration) (Tokens, error) {
	now := s.serverTime()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.accounts.people[user]; !ok {
		return Tokens{}, fmt.Errorf("no account %q", user)
	}
	return s.accounts.open(user, now, lifetime), nil
}

// RevokeAccess makes all access tokens of a user invalid, although their time
// has not run out. They can be renewed.
func (s *Sim) RevokeAccess(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.accounts.access {
		t.revoked = t.revoked || t.session.user == user
	}
}

// EndSessions ends all logins of a user: no token of theirs is good for
// anything from now on.
func (s *Sim) EndSessions(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.accounts.access {
		if t.session.user == user {
			t.session.ended = true
		}
	}
	for _, login := range s.accounts.refresh {
		if login.user == user {
			login.ended = true
		}
	}
}

// Secrets lists every token, key and verifier that was ever in use here, for
// tests that search what the program under test has written.
func (s *Sim) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.accounts.secrets...)
}
