package simserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// FaultKind is a way in which a call goes wrong.
type FaultKind string

// The kinds of fault. Those marked "done" let the server do what was asked and
// spoil only the answer: a token that was given out is then gone for good.
const (
	FaultLatency   FaultKind = "latency"    // the answer waits for Delay
	FaultHang      FaultKind = "hang"       // no answer until the client leaves
	FaultStatus    FaultKind = "status"     // an error of Status, with RetryAfter and Body if set
	FaultHTML      FaultKind = "html"       // a page of something in between, with Status or 200
	FaultReset     FaultKind = "reset"      // the connection is reset before anything is done
	FaultLost      FaultKind = "lost"       // done; the connection is reset instead of an answer
	FaultCut       FaultKind = "cut"        // done; the answer breaks off in the middle
	FaultHalf      FaultKind = "half"       // done; half of the answer, ended as if it were whole
	FaultEmpty     FaultKind = "empty"      // done; nothing in the answer
	FaultWrongType FaultKind = "wrong-type" // done; the answer says it is text/plain
	FaultSkew      FaultKind = "skew"       // the server's clock is Skew ahead for this call
)

// Fault spoils calls. Several may hit one call: delays and skews add up, and
// of the others the first one injected wins.
type Fault struct {
	Kind  FaultKind `json:"kind"`
	Route string    `json:"route,omitempty"` // a path, or the beginning of one and "*"; "" for every call

	Skip  int `json:"skip,omitempty"`  // leaves that many calls alone first
	Times int `json:"times,omitempty"` // ends after so many calls; 0 for never

	Status     int           `json:"status,omitempty"`
	RetryAfter string        `json:"retryAfter,omitempty"`
	Body       string        `json:"body,omitempty"`
	Delay      time.Duration `json:"-"`
	Skew       time.Duration `json:"-"`
}

type plainFault Fault

type faultWire struct {
	*plainFault
	Delay durationText `json:"delay,omitempty"`
	Skew  durationText `json:"skew,omitempty"`
}

// MarshalJSON writes durations as text.
func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(faultWire{(*plainFault)(&f), durationText(f.Delay), durationText(f.Skew)})
}

// UnmarshalJSON reads durations as text.
func (f *Fault) UnmarshalJSON(text []byte) error {
	wire := faultWire{plainFault: (*plainFault)(f)}
	if err := decodeStrictly(text, &wire); err != nil {
		return err
	}
	f.Delay, f.Skew = time.Duration(wire.Delay), time.Duration(wire.Skew)
	return nil
}

func (f Fault) check() error {
	switch f.Kind {
	case FaultLatency, FaultHang, FaultReset, FaultLost, FaultCut, FaultHalf, FaultEmpty, FaultWrongType, FaultSkew:
	case FaultHTML:
		if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
			return fmt.Errorf("fault html: status %d is no HTTP status", f.Status)
		}
	case FaultStatus:
		if f.Status < 400 || f.Status > 599 {
			return fmt.Errorf("fault status: %d is no error status", f.Status)
		}
	default:
		return fmt.Errorf("no fault of kind %q", f.Kind)
	}
	if f.Skip < 0 || f.Times < 0 || f.Delay < 0 {
		return fmt.Errorf("fault %s: negative number", f.Kind)
	}
	return nil
}

func (f Fault) matches(path string) bool {
	if prefix, open := strings.CutSuffix(f.Route, "*"); open {
		return strings.HasPrefix(path, prefix)
	}
	return f.Route == "" || f.Route == path
}

// faults are those that are switched on.
type faults struct {
	mu   sync.Mutex
	list []Fault
}

// Inject switches a fault on.
func (s *Sim) Inject(f Fault) error {
	if err := f.check(); err != nil {
		return err
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, f)
	return nil
}

// ClearFaults switches all faults off. A call that already hangs goes on.
func (s *Sim) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = nil
}

// Faults lists the faults that are switched on, with what is left of them.
func (s *Sim) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return slices.Clone(s.faults.list)
}

// hit uses up one call of every fault that is meant for path.
func (f *faults) hit(path string) hits {
	f.mu.Lock()
	defer f.mu.Unlock()
	var h hits
	kept := f.list[:0]
	for _, fault := range f.list {
		if fault.matches(path) {
			if fault.Skip > 0 {
				fault.Skip--
			} else {
				h = append(h, fault)
				if fault.Times == 1 {
					continue
				}
				fault.Times = max(0, fault.Times-1)
			}
		}
		kept = append(kept, fault)
	}
	f.list = kept
	return h
}

// hits are the faults of one call.
type hits []Fault

func (h hits) skew() time.Duration {
	var d time.Duration
	for _, f := range h {
		if f.Kind == FaultSkew {
			d += f.Skew
		}
	}
	return d
}

// spoiler is the fault that decides about the answer; its kind is "" if there
// is none.
func (h hits) spoiler() Fault {
	for _, f := range h {
		if f.Kind != FaultLatency && f.Kind != FaultSkew {
			return f
		}
	}
	return Fault{}
}

// before does what comes before the server's own work. It returns false if
// there is none to be done.
func (h hits) before(ctx context.Context, w http.ResponseWriter) bool {
	for _, f := range h {
		if f.Kind == FaultLatency && !wait(ctx, f.Delay) {
			panic(http.ErrAbortHandler)
		}
	}
	switch f := h.spoiler(); f.Kind {
	case FaultHang:
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	case FaultReset:
		resetConn(ctx)
	case FaultStatus:
		write(w, f.errorAnswer())
	case FaultHTML:
		write(w, f.page())
	default:
		return true
	}
	return false
}

// write sends an answer, spoiled if a fault says so.
func (h hits) write(ctx context.Context, w http.ResponseWriter, a answer) {
	switch h.spoiler().Kind {
	case FaultLost:
		resetConn(ctx)
		return
	case FaultCut:
		writeHeader(w, a)
		_, _ = w.Write(a.body[:len(a.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case FaultHalf:
		a.body = a.body[:len(a.body)/2]
	case FaultEmpty:
		a.body = nil
	case FaultWrongType:
		a.contentType = "text/plain; charset=utf-8"
	}
	write(w, a)
}

// connectCode is the code that a Connect server sends with a status.
func connectCode(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_argument"
	case http.StatusUnauthorized:
		return "unauthenticated"
	case http.StatusForbidden:
		return "permission_denied"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusTooManyRequests:
		return "resource_exhausted"
	case http.StatusInternalServerError:
		return "internal"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "unavailable"
	}
	return "unknown"
}

func (f Fault) errorAnswer() answer {
	a := connectError(f.Status, connectCode(f.Status), "Error")
	if f.Status == http.StatusUnauthorized {
		a = notLoggedIn()
	}
	if f.Body != "" {
		a.body = []byte(f.Body)
	}
	if f.RetryAfter != "" {
		a.header = map[string]string{"Retry-After": f.RetryAfter}
	}
	return a
}

func (f Fault) page() answer {
	a := answer{status: f.Status, contentType: "text/html; charset=utf-8", body: []byte(f.Body)}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if f.Body == "" {
		a.body = []byte("<!DOCTYPE html>\n<title>Network sign-in</title>\n<p>This page is not from Cursor.</p>\n")
	}
	return a
}
