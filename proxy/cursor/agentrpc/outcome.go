package agentrpc

import (
	"context"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// outcome is what a request that brought results was answered. The same request
// sent again, by a client whose connection broke for instance, gets the same
// answer: results are delivered once.
type outcome struct {
	print fingerprint // of the request's messages
	begun time.Time
	ids   []string      // of the calls; guarded by registry.mu
	done  chan struct{} // closed at the end

	mu     sync.Mutex
	events []chat.Event
	bytes  int
	good   bool // it ended well and is all there
}

// maxOutcome is the longest answer that is remembered.
const maxOutcome = 1 << 20

func newOutcome(print fingerprint) *outcome {
	return &outcome{print: print, begun: time.Now(), done: make(chan struct{})}
}

// add remembers an event. A nil outcome remembers nothing.
func (o *outcome) add(e chat.Event) {
	if o == nil || o.bytes > maxOutcome {
		return
	}
	o.bytes += 64
	switch e := e.(type) {
	case chat.TextDelta:
		o.bytes += len(e.Text)
	case chat.ReasoningDelta:
		o.bytes += len(e.Text)
	case chat.ToolCall:
		o.bytes += len(e.Arguments)
	}
	if o.bytes > maxOutcome {
		o.events = nil
		return
	}
	o.events = append(o.events, e)
}

// close ends it; good says that the client got a whole answer. It may be called
// again, and then does nothing.
func (o *outcome) close(good bool) {
	if o == nil || o.isOver() {
		return
	}
	o.mu.Lock()
	o.good = good && o.bytes <= maxOutcome
	if !o.good {
		o.events = nil
	}
	o.events = joined(o.events)
	o.mu.Unlock()
	close(o.done)
}

// wait returns the events of an outcome that was good, once it is over.
func (o *outcome) wait(ctx context.Context) ([]chat.Event, bool, error) {
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.events, o.good, nil
}

func (o *outcome) isOver() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

func (o *outcome) isGood() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.good
}

// joined makes one event of neighbouring deltas of a kind.
func joined(events []chat.Event) []chat.Event {
	var out []chat.Event
	var text, reasoning strings.Builder
	flush := func() {
		if reasoning.Len() > 0 {
			out = append(out, chat.ReasoningDelta{Text: reasoning.String()})
			reasoning.Reset()
		}
		if text.Len() > 0 {
			out = append(out, chat.TextDelta{Text: text.String()})
			text.Reset()
		}
	}
	for _, e := range events {
		switch e := e.(type) {
		case chat.TextDelta:
			if reasoning.Len() > 0 {
				flush()
			}
			text.WriteString(e.Text)
		case chat.ReasoningDelta:
			if text.Len() > 0 {
				flush()
			}
			reasoning.WriteString(e.Text)
		default:
			flush()
			out = append(out, e)
		}
	}
	flush()
	return out
}
