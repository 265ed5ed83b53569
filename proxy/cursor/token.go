package cursor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"
)

// renewMargin is how long before its end an access token is renewed. The
// genuine clients use the same.
const renewMargin = 300 * time.Second

// Credentials are a login. Printing or logging them shows nothing of it.
type Credentials struct {
	access  string
	refresh string
	apiKey  string // the access token comes from this key, if set
	expiry  time.Time
	skew    time.Duration // of this machine's clock, as seen when they arrived
}

func (Credentials) String() string   { return "Credentials(hidden)" }
func (Credentials) GoString() string { return "Credentials(hidden)" }

// storedCredentials is the form in which Credentials lie in the Store.
type storedCredentials struct {
	Version int    `json:"version"`
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
	APIKey  string `json:"api_key,omitempty"`
}

// credentialsVersion changes when older programs could not use a stored login.
const credentialsVersion = 1

func newCredentials(access, refresh, apiKey string) Credentials {
	return Credentials{access: access, refresh: refresh, apiKey: apiKey, expiry: expiryOf(access)}
}

func (c Credentials) encode() []byte {
	text, err := json.Marshal(storedCredentials{credentialsVersion, c.access, c.refresh, c.apiKey})
	if err != nil {
		panic(err) // a struct of strings always marshals
	}
	return text
}

func decodeCredentials(text []byte) (Credentials, error) {
	var s storedCredentials
	if err := json.Unmarshal(text, &s); err != nil {
		return Credentials{}, errors.New("it is damaged") // err could quote the token
	}
	if s.Version != credentialsVersion {
		return Credentials{}, errors.New("it was written by another version of cursortray")
	}
	if s.Access == "" && s.APIKey == "" {
		return Credentials{}, errors.New("it is empty")
	}
	return newCredentials(s.Access, s.Refresh, s.APIKey), nil
}

// same says whether both are the same login at the same age.
func (c Credentials) same(d Credentials) bool {
	return c.access == d.access && c.refresh == d.refresh && c.apiKey == d.apiKey
}

func (c Credentials) renewable() bool { return c.refresh != "" || c.apiKey != "" }

// good says whether the access token may still be accepted.
func (c Credentials) good() bool {
	return c.access != "" && (c.expiry.IsZero() || c.expiry.After(now(c.skew)))
}

// now is the time on Cursor's clock, which is ahead of this machine's by skew.
func now(skew time.Duration) time.Time { return time.Now().Add(skew) }

// renewed returns c with the tokens of an answer. One without a refresh token
// means that the old one stays good. A key needs none: it is exchanged again.
func (c Credentials) renewed(t tokens) Credentials {
	refresh := t.Refresh
	switch {
	case c.apiKey != "":
		refresh = ""
	case refresh == "":
		refresh = c.refresh
	}
	next := newCredentials(t.Access, refresh, c.apiKey)
	next.skew = t.skew
	return next
}

// payloadOf returns the claims of a JSON web token, nil if it is none. The
// signature is Cursor's business.
func payloadOf(token string) []byte {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil
	}
	return payload
}

// subjectOf returns whose token it is, "" if it does not say.
func subjectOf(token string) string {
	var claims struct {
		Sub string `json:"sub"`
	}
	_ = json.Unmarshal(payloadOf(token), &claims)
	return claims.Sub
}

// userID is what may stand in a URL and a cookie as it is.
var userID = pattern(`^[A-Za-z0-9_-]{1,128}$`)

// userOf returns the user's id in the subject, which has the way of logging in
// in front of it; "" if there is none.
func userOf(token string) string {
	subject := subjectOf(token)
	user := subject[strings.LastIndex(subject, "|")+1:]
	if !userID().MatchString(user) || strings.ContainsAny(token, `;,"\`) {
		return ""
	}
	return user
}

// expiryOf returns the end of a JSON web token, zero if it does not say.
func expiryOf(token string) time.Time {
	payload := payloadOf(token)
	var claims struct {
		Exp json.Number `json:"exp"`
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	if err := d.Decode(&claims); err != nil {
		return time.Time{}
	}
	seconds, err := claims.Exp.Float64()
	if err != nil || seconds <= 0 || seconds > math.MaxInt32*1000 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// keyPrefix begins every API key that users make on Cursor's dashboard.
const keyPrefix = "crsr_"

// parseKey tells the credentials apart that users paste: an API key, which is
// good for an exchange only, and a ready access token, perhaps with the user
// part in front that web cookies have.
func parseKey(text string) (Credentials, error) {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"::", "%3A%3A", "%3a%3a"} {
		if _, after, found := strings.Cut(text, mark); found {
			text = after
		}
	}
	switch {
	case strings.HasPrefix(text, keyPrefix) && len(text) > len(keyPrefix) && headerSafe(text):
		return newCredentials("", "", text), nil
	case isClaims(payloadOf(text)) && headerSafe(text): // the end need not be told
		return newCredentials(text, "", ""), nil
	}
	return Credentials{}, errors.New("this is no Cursor API key; keys begin with " + keyPrefix + " and are made on the dashboard of cursor.com")
}

func isClaims(payload []byte) bool {
	var claims map[string]json.RawMessage
	return json.Unmarshal(payload, &claims) == nil && claims != nil
}

func headerSafe(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
