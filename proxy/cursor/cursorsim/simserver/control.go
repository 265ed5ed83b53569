package simserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// controlRoutes is the control port, for people and for tests that run the
// simulation as a program. It has no key: it listens on the loopback interface
// and there is nothing real behind it. It refuses web pages.
func (s *Sim) controlRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.controlHelp)
	mux.HandleFunc("GET /ca.pem", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-pem-file")
		_, _ = w.Write(s.ca.pem)
	})
	mux.HandleFunc("GET /state", s.controlState)
	mux.HandleFunc("DELETE /state", func(w http.ResponseWriter, _ *http.Request) { s.Forget(); w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /faults", control(func(_ *http.Request, f Fault) error { return s.Inject(f) }))
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) { s.ClearFaults(); w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("PATCH /settings", control(func(_ *http.Request, patch json.RawMessage) error {
		var err error
		changed := s.Change(func(t *Settings) {
			next := t.clone()
			if err = json.Unmarshal(patch, &next); err == nil {
				*t = next
			}
		})
		return errors.Join(err, changed)
	}))
	mux.HandleFunc("POST /login", control(func(r *http.Request, decision struct{ URL, Decision string }) error {
		switch decision.Decision {
		case "allow":
			return s.Confirm(r.Context(), decision.URL)
		case "deny":
			return s.Deny(r.Context(), decision.URL)
		case "expire":
			return s.Expire(decision.URL)
		}
		return fmt.Errorf("decision %q: want allow, deny or expire", decision.Decision)
	}))
	mux.HandleFunc("POST /revoke", control(func(_ *http.Request, what struct{ User, What string }) error {
		if what.User == "" {
			what.User = DefaultUser
		}
		switch what.What {
		case "access":
			s.RevokeAccess(what.User)
		case "sessions":
			s.EndSessions(what.User)
		default:
			return fmt.Errorf("revoke %q: want access or sessions", what.What)
		}
		return nil
	}))
	return s.refusePages(mux)
}

// refusePages keeps web pages in some browser of the machine out.
func (s *Sim) refusePages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != s.addrs.control || r.Header.Get("Origin") != "" {
			http.Error(w, "the control port is not for web pages", http.StatusForbidden)
			return
		}
		if !s.begin() {
			panic(http.ErrAbortHandler)
		}
		defer s.calls.Done()
		next.ServeHTTP(w, r)
	})
}

// control makes a handler from a function that takes a JSON value.
func control[T any](do func(*http.Request, T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v T
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&v)
		if err == nil {
			err = do(r, v)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// State is what the control port tells about the simulation.
type State struct {
	Calls      map[string]int `json:"calls"`
	Violations []Violation    `json:"violations"`
	Refused    []string       `json:"refused"`
	Requests   []Request      `json:"requests"`
	Faults     []Fault        `json:"faults"`
	Settings   Settings       `json:"settings"`
	Plans      []string       `json:"plans"`
	Cases      []string       `json:"cases"`
	Runs       RunStats       `json:"runs"`
}

func (s *Sim) controlState(w http.ResponseWriter, _ *http.Request) {
	write(w, jsonAnswer(State{
		Calls: s.AllCalls(), Violations: s.Violations(), Refused: s.Refused(), Requests: s.Requests(),
		Faults: s.Faults(), Settings: s.Settings(), Plans: s.PlanNames(), Cases: s.CaseNames(), Runs: s.RunStats(),
	}))
}

func (s *Sim) controlHelp(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprint(w, `Control port of the simulated Cursor.

GET    /state      calls, violations, refusals, runs, faults, settings
DELETE /state      forget the calls, violations and refusals
POST   /login      {"url":"<login link>","decision":"allow|deny|expire"}
PATCH  /settings   {"accessLifetime":"90s","plan":"ultra"} and whatever GET /state shows
POST   /faults     {"kind":"status","route":"/auth/poll","status":429,"retryAfter":"3","times":2}
                   kinds: latency (with "delay":"2s"), hang, status, html, reset, lost,
                   cut, half, empty, wrong-type, skew (with "skew":"1h")
DELETE /faults     switch all faults off
POST   /revoke     {"what":"access|sessions"}
GET    /ca.pem     the certificate authority
`)
}
