// Package anthropic is the front-end for clients that speak the dialect of
// Anthropic's Messages: answers, streamed or not, and the count of tokens. It
// turns requests into chat.Request and events into message events, and has the
// dialect's one error table. It neither routes nor checks keys, knows no
// back-end, and starts no goroutine of its own.
package anthropic

import (
	"cursortray/proxy/tokencount"
	"cursortray/proxy/turn"
)

// Handler serves the dialect's routes. Its methods may be called by any number
// of goroutines.
type Handler struct {
	run    *turn.Runner
	tokens *tokencount.Counter
}

// New returns a Handler. It starts nothing.
func New(cfg turn.Config) *Handler {
	return &Handler{run: turn.NewRunner(cfg), tokens: tokencount.New()}
}
