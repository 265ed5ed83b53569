package cursorsim

import (
	"context"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// stream yields the steps of one turn as events.
type stream struct {
	ctx   context.Context
	pace  time.Duration
	model chat.Model
	limit int // tokens of output, 0 for no limit
	yield func(chat.Event, error) bool

	output, reasoning int  // pieces so far: a piece is a token
	cut               bool // the limit left something out
}

func (s *stream) play(steps []Step, input int) {
	reason := chat.Stop
	for _, step := range steps {
		switch step := step.(type) {
		case Think:
			if !s.model.Reasoning {
				continue
			}
			before := s.output
			if !s.pieces(step.Text, func(text string) chat.Event { return chat.ReasoningDelta{Text: text} }) {
				return
			}
			s.reasoning += s.output - before
		case Say:
			if !s.pieces(step.Text, func(text string) chat.Event { return chat.TextDelta{Text: text} }) {
				return
			}
		case Call:
			if s.full() { // half a call is no call
				s.cut = true
				continue
			}
			s.output += len(step.Arguments)/4 + 1
			if !s.wait() || !s.yield(chat.ToolCall{ID: newCallID(), Name: step.Name, Arguments: step.Arguments}, nil) {
				return
			}
			reason = chat.ToolCalls
		}
	}
	if s.cut {
		reason = chat.Length
	}
	s.finish(reason, input)
}

func (s *stream) finish(reason chat.Reason, input int) {
	if !s.wait() {
		return
	}
	s.yield(chat.Finish{
		Reason:  reason,
		Usage:   &chat.Usage{Input: input, Output: s.output, Reasoning: s.reasoning},
		Context: &chat.Context{Used: input + s.output, Max: s.model.ContextWindow},
	}, nil)
}

// pieces yields text word by word until the limit is reached; false means that
// the turn is over.
func (s *stream) pieces(text string, event func(string) chat.Event) bool {
	text = strings.ToValidUTF8(text, "�")
	for text != "" && !s.full() {
		n := pieceEnd(text)
		if !s.wait() || !s.yield(event(text[:n]), nil) {
			return false
		}
		s.output++
		text = text[n:]
	}
	s.cut = s.cut || text != ""
	return true
}

func (s *stream) full() bool { return s.limit > 0 && s.output >= s.limit }

// wait keeps the pace; false means that the turn is over, which it has told.
func (s *stream) wait() bool {
	if s.pace > 0 {
		timer := time.NewTimer(s.pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
	if s.ctx.Err() != nil {
		s.yield(nil, chat.AsError(context.Cause(s.ctx)))
		return false
	}
	return true
}

// pieceEnd is the end of the first piece of text: a word with the space before
// it, or a part of a long one.
func pieceEnd(text string) int {
	const longest = 12
	for i := range text {
		if i > 0 && (text[i] == ' ' || text[i] == '\n') || i >= longest {
			return i
		}
	}
	return len(text)
}
