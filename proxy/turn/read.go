package turn

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"cursortray/proxy/chat"
)

// ReadBody reads a whole request before anything else happens. An error of
// reading that is a *chat.Error is returned as it is.
func ReadBody(r *http.Request) ([]byte, *chat.Error) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		return body, nil
	}
	if e := (*chat.Error)(nil); errors.As(err, &e) {
		return nil, e
	}
	return nil, &chat.Error{Kind: chat.Canceled, Message: "the request body broke off", Err: err}
}

// AliasPrefix makes any model id one that Claude Code lists: it shows only ids
// that begin with "claude" or "anthropic". The alias is good on every route.
const AliasPrefix = "anthropic."

// PlainModel returns the id behind an alias.
func PlainModel(id string) string { return strings.TrimPrefix(id, AliasPrefix) }

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

// Unknown returns a function that logs the name of a request field that the
// front-end does not know, once.
func (r *Runner) Unknown(request *http.Request) func(field string) {
	return func(name string) {
		if r.log.Enabled(request.Context(), slog.LevelDebug) && r.unknown.isNew(name) {
			r.log.DebugContext(request.Context(), "ignoring an unknown request field", "field", name)
		}
	}
}
