package simserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// The paths that renew a login. Sources of 2026 disagree on which of them a
// client calls; all three were in use.
const (
	PathExchange = "/auth/exchange_user_api_key" // bearer refresh token, or API key
	PathToken    = "/auth/token"                 // refresh token in the body
	PathRefresh  = "/auth/refresh"               // bearer refresh token
)

// Settings say how the simulation behaves when nothing is made to fail.
type Settings struct {
	AccessLifetime time.Duration `json:"accessLifetime"` // of new access tokens
	RenewPaths     []string      `json:"renewPaths"`     // those that take refresh tokens
	RenewRefusal   int           `json:"renewRefusal"`   // status of the others: 404, 405 or 400
	KeepRefresh    bool          `json:"keepRefresh"`    // a renewal leaves the refresh token valid and does not repeat it
	ShouldLogout   bool          `json:"shouldLogout"`   // renewals answer 200 with shouldLogout instead of tokens

	PollsPending  int           `json:"pollsPending"`  // polls of each login that get 404 before its result
	AutoConfirm   bool          `json:"autoConfirm"`   // a polled login counts as confirmed, without any page
	LoginLifetime time.Duration `json:"loginLifetime"` // of a login that nobody confirms

	Skew time.Duration `json:"skew"` // how far the server's clock is ahead of the true time

	AgentnURL string `json:"agentnUrl"` // as GetServerConfig gives them
	AgentURL  string `json:"agentUrl"`
	HTTP2     string `json:"http2Config"`

	Plan      string   `json:"plan"`      // a profile, see PlanNames
	Cases     []string `json:"cases"`     // answers in front of the plan's own, see CaseNames
	LiveCycle bool     `json:"liveCycle"` // billing cycles hold the present instead of the fixed dates of 2026
}

func defaultSettings() Settings {
	return Settings{
		AccessLifetime: time.Hour,
		RenewPaths:     []string{PathExchange, PathToken, PathRefresh},
		RenewRefusal:   404,
		LoginLifetime:  30 * time.Minute,
		AgentnURL:      "https://agentn.us.api5.cursor.sh",
		AgentURL:       "https://agent.api5.cursor.sh",
		Plan:           "pro",
	}
}

// Settings returns the present settings.
func (s *Sim) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.clone()
}

// Change edits the settings, for all calls from now on. A plan or case that
// does not exist is an error and changes nothing.
func (s *Sim) Change(edit func(*Settings)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.settings.clone()
	edit(&next)
	if err := s.plans.knows(next.Plan, next.Cases); err != nil {
		return err
	}
	s.settings = next.clone()
	return nil
}

func (t Settings) clone() Settings {
	t.RenewPaths = append([]string(nil), t.RenewPaths...)
	t.Cases = append([]string(nil), t.Cases...)
	return t
}

// plainSettings has the fields of Settings without its methods.
type plainSettings Settings

// settingsWire writes durations as text, such as "90s".
type settingsWire struct {
	*plainSettings
	AccessLifetime durationText `json:"accessLifetime"`
	LoginLifetime  durationText `json:"loginLifetime"`
	Skew           durationText `json:"skew"`
}

// MarshalJSON writes durations as text, such as "1h30m0s".
func (t Settings) MarshalJSON() ([]byte, error) {
	return json.Marshal(settingsWire{(*plainSettings)(&t), durationText(t.AccessLifetime), durationText(t.LoginLifetime), durationText(t.Skew)})
}

// UnmarshalJSON changes only the settings that the text names.
func (t *Settings) UnmarshalJSON(text []byte) error {
	wire := settingsWire{(*plainSettings)(t), durationText(t.AccessLifetime), durationText(t.LoginLifetime), durationText(t.Skew)}
	if err := decodeStrictly(text, &wire); err != nil {
		return err
	}
	t.AccessLifetime, t.LoginLifetime, t.Skew = time.Duration(wire.AccessLifetime), time.Duration(wire.LoginLifetime), time.Duration(wire.Skew)
	return nil
}

// decodeStrictly refuses names that do not exist: a misspelled setting would
// otherwise go unnoticed.
func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// durationText is a duration that people write: "1m30s".
type durationText time.Duration

func (d durationText) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *durationText) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: want a number with a unit, such as 90s", text)
	}
	*d = durationText(v)
	return nil
}
