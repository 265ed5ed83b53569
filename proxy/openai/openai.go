// Package openai is the front-end for clients that speak the OpenAI dialect:
// chat completions, streamed or not, and the model list. It turns requests into
// chat.Request and events into chunks, and has the dialect's one error table.
// It neither routes nor checks keys, and knows no back-end. It starts no
// goroutine but that of the sse.Writer, which ends with its request.
package openai

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// Config is what a Handler needs.
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

// Handler serves the dialect's routes. Its methods may be called by any number
// of goroutines.
type Handler struct {
	backend   chat.Backend
	keepAlive time.Duration
	log       *slog.Logger
	now       func() time.Time
	done      func(context.Context, Outcome)
	unknown   unknownFields
}

// New returns a Handler. It starts nothing.
func New(cfg Config) *Handler {
	h := &Handler{
		backend:   cfg.Backend,
		keepAlive: cfg.KeepAlive,
		log:       cfg.Logger,
		now:       cfg.Now,
		done:      cfg.Done,
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.done == nil {
		h.done = func(context.Context, Outcome) {}
	}
	return h
}

// unknownFields remembers which request fields were already reported.
type unknownFields struct {
	mu   sync.Mutex
	seen map[string]bool
}

// Bounds on what foreign field names may cost in memory and log.
const (
	maxUnknownFields = 256
	maxUnknownName   = 100
)

// isNew tells whether a field name was not seen before. Beyond the bounds
// nothing is new.
func (u *unknownFields) isNew(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen[name] || len(u.seen) >= maxUnknownFields || len(name) > maxUnknownName {
		return false
	}
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[name] = true
	return true
}

// ignoreUnknown logs the name of a request field that nothing here reads.
func (h *Handler) ignoreUnknown(r *http.Request, name string) {
	if h.log.Enabled(r.Context(), slog.LevelDebug) && h.unknown.isNew(name) {
		h.log.DebugContext(r.Context(), "ignoring an unknown request field", "field", name)
	}
}
