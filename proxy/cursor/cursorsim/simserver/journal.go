package simserver

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// journalLimit bounds each list of a journal: a simulation may run for days.
const journalLimit = 20_000

// Request is one call as the simulation saw it, without headers and bodies.
type Request struct {
	Time   time.Time `json:"time"`
	Proto  string    `json:"proto"` // HTTP/1.1 or HTTP/2.0
	Method string    `json:"method"`
	Host   string    `json:"host"`
	Path   string    `json:"path"`
	Status int       `json:"status"` // 0 if no answer was sent
}

// Violation is something that no client of Cursor does.
type Violation struct {
	Route  string `json:"route"`
	Rule   string `json:"rule"`   // which one is broken, for tests to pick from
	Detail string `json:"detail"` // for people, without secrets
}

// String reads like a test failure.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Route, v.Rule, v.Detail) }

// journal keeps what happened.
type journal struct {
	mu         sync.Mutex
	requests   []Request
	counts     map[string]int
	violations []Violation
	refused    []string
}

func (j *journal) add(r Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests = appendBounded(j.requests, r)
}

func (j *journal) count(route string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.counts == nil {
		j.counts = map[string]int{}
	}
	j.counts[route]++
}

func (j *journal) violate(v Violation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.violations = appendBounded(j.violations, v)
}

func (j *journal) refuse(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused = appendBounded(j.refused, what)
}

func appendBounded[T any](list []T, item T) []T {
	if len(list) >= journalLimit {
		list = append(list[:0], list[len(list)/2:]...)
	}
	return append(list, item)
}

// Calls counts the calls of a route (its path), answered or not.
func (s *Sim) Calls(path string) int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return s.journal.counts[path]
}

// AllCalls gives the number of calls of every route that was called.
func (s *Sim) AllCalls() map[string]int {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return maps.Clone(s.journal.counts)
}

// Requests lists the calls in the order in which they ended.
func (s *Sim) Requests() []Request {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.requests)
}

// Violations lists the broken rules so far.
func (s *Sim) Violations() []Violation {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.violations)
}

// Refused lists what the CONNECT proxy was asked for and did not give.
func (s *Sim) Refused() []string {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.refused)
}

// Forget empties the journal: calls, counts, violations, refusals. The device
// of the next client may be another one.
func (s *Sim) Forget() {
	s.journal.mu.Lock()
	s.journal.requests, s.journal.counts, s.journal.violations, s.journal.refused = nil, nil, nil, nil
	s.journal.mu.Unlock()
	s.clients.forget()
}
