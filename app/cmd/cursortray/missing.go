package main

import (
	"context"
	"iter"

	"cursortray/proxy/chat"
)

// missing stands in for the agent protocol until it is there: a state that is
// told, not a crash.
type missing struct{ problem *chat.Error }

func newMissing() missing {
	return missing{&chat.Error{
		Kind:    chat.Unavailable,
		Code:    "backend_not_available",
		Message: "this version does not speak Cursor's agent protocol yet; use --backend cli, or set backend = \"cli\"",
	}}
}

func (m missing) Chat(context.Context, *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) { yield(nil, m.problem) }
}

func (m missing) Models(context.Context) ([]chat.Model, error) { return nil, m.problem }

func (m missing) Check(context.Context) error { return m.problem }

func (m missing) Close() error { return nil }
