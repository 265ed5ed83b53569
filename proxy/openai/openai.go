// Package openai is the front-end for clients that speak the OpenAI dialects:
// chat completions and Responses, streamed or not. It turns requests into
// chat.Request and events into those of a stream, and has the one error table
// of both dialects. It neither routes nor checks keys, knows no back-end, and
// starts no goroutine of its own.
package openai

import "cursortray/proxy/turn"

// Handler serves the dialect's routes. Its methods may be called by any number
// of goroutines.
type Handler struct {
	run  *turn.Runner
	kept *keptItems
}

// New returns a Handler. It starts nothing.
func New(cfg turn.Config) *Handler {
	return &Handler{run: turn.NewRunner(cfg), kept: newKeptItems(mostKept)}
}
