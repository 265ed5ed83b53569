package chattest

import (
	"context"
	"encoding/json"

	"cursortray/proxy/chat"
)

// Step is one thing that a scripted turn does. It returns false when the turn
// is over, whether by its own doing or because the caller left the loop. Tests
// may write their own.
type Step func(ctx context.Context, yield func(chat.Event, error) bool) bool

// Emit yields events as they are, also ones that break the contract.
func Emit(events ...chat.Event) Step {
	return func(_ context.Context, yield func(chat.Event, error) bool) bool {
		for _, event := range events {
			if !yield(event, nil) {
				return false
			}
		}
		return true
	}
}

// Text yields one TextDelta for each of deltas.
func Text(deltas ...string) Step {
	return func(_ context.Context, yield func(chat.Event, error) bool) bool {
		for _, text := range deltas {
			if !yield(chat.TextDelta{Text: text}, nil) {
				return false
			}
		}
		return true
	}
}

// Reasoning yields one ReasoningDelta for each of deltas.
func Reasoning(deltas ...string) Step {
	return func(_ context.Context, yield func(chat.Event, error) bool) bool {
		for _, text := range deltas {
			if !yield(chat.ReasoningDelta{Text: text}, nil) {
				return false
			}
		}
		return true
	}
}

// Call yields one ToolCall.
func Call(id, name, arguments string) Step {
	return Emit(chat.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)})
}

// Finish ends the turn without figures.
func Finish(reason chat.Reason) Step { return End(chat.Finish{Reason: reason}) }

// End ends the turn with the given Finish.
func End(finish chat.Finish) Step {
	return func(_ context.Context, yield func(chat.Event, error) bool) bool {
		yield(finish, nil)
		return false
	}
}

// Fail ends the turn with err.
func Fail(err error) Step {
	return func(_ context.Context, yield func(chat.Event, error) bool) bool {
		yield(nil, err)
		return false
	}
}

// Wait pauses the turn until ch is closed or yields a value. The end of the
// request's context or of the back-end ends it, and then the turn.
func Wait(ch <-chan struct{}) Step {
	return func(ctx context.Context, yield func(chat.Event, error) bool) bool {
		select {
		case <-ch:
			return true
		case <-ctx.Done():
			yield(nil, chat.AsError(context.Cause(ctx)))
			return false
		}
	}
}

// Silence pauses the turn for ever; only the end of the request's context or
// of the back-end ends it.
func Silence() Step { return Wait(nil) }

// Do runs f between two other steps.
func Do(f func()) Step {
	return func(context.Context, func(chat.Event, error) bool) bool {
		f()
		return true
	}
}

// Panic makes the turn panic with v.
func Panic(v any) Step {
	return func(context.Context, func(chat.Event, error) bool) bool { panic(v) }
}
