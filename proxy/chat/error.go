package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind classifies an Error by what the caller can do about it. Each front-end
// has one table from kind to status and wire body.
type Kind int

const (
	Internal      Kind = iota // a fault of this program
	Invalid                   // the request is wrong; Param may name the field
	LoginRequired             // no Cursor login, or it ran out
	NotInPlan                 // the account's plan lacks the model
	QuotaSpent                // the plan's allowance is used up; waiting seconds does not help
	NotFound                  // no such model
	TooLong                   // the conversation does not fit the model's window
	TooLarge                  // the request is bigger than the back-end can carry
	RateLimited               // the upstream throttles; passes within seconds or minutes
	Overloaded                // the upstream, or this program's queue, is full; passes soon
	Unavailable               // the back-end cannot run as things are (not installed, too old)
	BadGateway                // the upstream is unreachable or broke off
	Timeout                   // the upstream went silent
	ShuttingDown              // this program is ending
	Canceled                  // the caller left
)

var kindNames = [...]string{
	"internal", "invalid", "login required", "not in plan", "quota spent", "not found", "too long", "too large",
	"rate limited", "overloaded", "unavailable", "bad gateway", "timeout", "shutting down", "canceled",
}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kindNames[k]
}

// Error is the one error type that crosses package borders. Message is shown
// to the user as it is: it says what went wrong and what to do, and holds no
// secret, prompt or answer.
type Error struct {
	Kind    Kind
	Message string
	// Code is a machine-readable refinement such as "cursor_cli_not_found";
	// "" leaves the choice to the front-end's table.
	Code string
	// Param names the offending request field in the caller's own spelling,
	// with Invalid only.
	Param string
	// RetryAfter is how long to wait before the same request may work; 0 is
	// not known.
	RetryAfter time.Duration
	Err        error // cause for logs; may be nil
}

// Errorf returns an Error of the given kind. A %w argument becomes Err.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return e.Kind.String() + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Err }

// AsError returns err as an *Error: the one in its chain, Canceled for an
// ended context, else Internal with a message that gives nothing away. It
// returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: Canceled, Message: "the request was canceled", Err: err}
	}
	return &Error{Kind: Internal, Message: "internal error in cursortray; its log says more", Err: err}
}
