package chattest

import (
	"context"
	"errors"
	"testing"

	"cursortray/proxy/chat"
)

func TestFakePlaysTurnsInOrder(t *testing.T) {
	b := New(
		Turn{Reasoning("hm"), Text("a", "b"), Finish(chat.Stop)},
		Turn{Fail(chat.Errorf(chat.RateLimited, "slow down"))},
	)
	first, err := chat.Collect(b.Chat(t.Context(), &chat.Request{Model: "one"}))
	if err != nil || first.Text != "ab" || first.Reasoning != "hm" {
		t.Fatalf("first turn = %+v, %v", first, err)
	}
	for range 2 { // the last turn repeats
		if _, err := chat.Collect(b.Chat(t.Context(), &chat.Request{Model: "two"})); chat.AsError(err).Kind != chat.RateLimited {
			t.Fatalf("later turn: %v", err)
		}
	}
	if got := len(b.Requests()); got != 3 || b.Last().Model != "two" {
		t.Fatalf("recorded %d requests, last %+v", got, b.Last())
	}
	if b.Live() != 0 {
		t.Fatalf("%d turns live after their end", b.Live())
	}
}

func TestFakeWaitsAndIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := New(Turn{Text("a"), Do(cancel), Silence(), Text("never")})
	_, err := chat.Collect(b.Chat(ctx, &chat.Request{}))
	if chat.AsError(err).Kind != chat.Canceled {
		t.Fatalf("error = %v, want Canceled", err)
	}
	gate := make(chan struct{})
	close(gate)
	b = New(Turn{Wait(gate), Finish(chat.Length)})
	got, err := chat.Collect(b.Chat(t.Context(), &chat.Request{}))
	if err != nil || got.Finish.Reason != chat.Length {
		t.Fatalf("turn behind an open gate = %+v, %v", got, err)
	}
}

func TestFakePanicsOnRequestAndOnSecondRange(t *testing.T) {
	b := New(Turn{Panic("boom")})
	turn := b.Chat(t.Context(), &chat.Request{})
	for _, want := range []string{"boom", "chattest: a turn was ranged over twice"} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("recovered %v, want %q", got, want)
				}
			}()
			for range turn {
				t.Error("an event from a turn that panics")
			}
		}()
	}
	if b.Live() != 0 {
		t.Fatal("a turn that panicked is still counted as live")
	}
}

func TestFakeModelsAndCheck(t *testing.T) {
	b := New()
	if models, err := b.Models(t.Context()); err != nil || len(models) != 1 {
		t.Fatalf("Models = %v, %v", models, err)
	}
	want := chat.Errorf(chat.LoginRequired, "sign in")
	b.SetModels(nil, want)
	b.SetCheck(want)
	if _, err := b.Models(t.Context()); !errors.Is(err, want) {
		t.Fatalf("Models error = %v", err)
	}
	if err := b.Check(t.Context()); !errors.Is(err, want) {
		t.Fatalf("Check = %v", err)
	}
}
