// Package turn is what all front-ends do around one turn of a model, whatever
// their dialect: read the request's body and hints, run the turn, watch for
// panics and empty answers, stream it or fold it up, and report how it ended.
// It knows no dialect and no back-end. It starts no goroutine but that of an
// sse.Writer, which ends with its request.
package turn

import (
	"context"
	"log/slog"
	"time"

	"cursortray/proxy/chat"
)

// Config is what a front-end needs.
type Config struct {
	Backend   chat.Backend
	KeepAlive time.Duration // silence before a stream gets a comment; 0 is never
	Logger    *slog.Logger  // nil logs nothing
	Now       func() time.Time
	// Done, if set, is called once at the end of each request for a model, on
	// the request's goroutine.
	Done func(ctx context.Context, o Outcome)
}

// Outcome tells how a request for a model ended.
type Outcome struct {
	Model  string // as the client spelled it; "" if the request was unreadable
	Stream bool
	Err    *chat.Error // nil: the client got a whole answer
}

// Runner runs turns for a front-end. Its methods may be called by any number
// of goroutines.
type Runner struct {
	backend   chat.Backend
	keepAlive time.Duration
	log       *slog.Logger
	now       func() time.Time
	done      func(context.Context, Outcome)
	unknown   unknownFields
}

// NewRunner returns a Runner. It starts nothing.
func NewRunner(cfg Config) *Runner {
	r := &Runner{
		backend:   cfg.Backend,
		keepAlive: cfg.KeepAlive,
		log:       cfg.Logger,
		now:       cfg.Now,
		done:      cfg.Done,
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.done == nil {
		r.done = func(context.Context, Outcome) {}
	}
	return r
}

// Now returns the time.
func (r *Runner) Now() time.Time { return r.now() }

// Models lists what the back-end offers; a panic there becomes an error.
func (r *Runner) Models(ctx context.Context) (models []chat.Model, failure *chat.Error) {
	defer r.recover(ctx, &failure)
	models, err := r.backend.Models(ctx)
	if err != nil {
		return nil, reason(ctx, err)
	}
	return models, nil
}
