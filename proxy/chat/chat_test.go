package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

// turn plays events, then err if it is not nil. It counts in pulled how many
// events the consumer took.
func turn(pulled *int, err error, events ...chat.Event) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for _, e := range events {
			*pulled++
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func texts(parts ...string) []chat.Event {
	var events []chat.Event
	for _, p := range parts {
		events = append(events, chat.TextDelta{Text: p})
	}
	return events
}

func TestCollectJoinsTheTurn(t *testing.T) {
	call := chat.ToolCall{ID: "c1", Name: "read", Arguments: []byte(`{"path":"a"}`)}
	finish := chat.Finish{Reason: chat.ToolCalls, Usage: &chat.Usage{Input: 3}}
	var pulled int
	got, err := chat.Collect(turn(&pulled, nil,
		chat.ReasoningDelta{Text: "h"}, chat.TextDelta{Text: "a"}, chat.ReasoningDelta{Text: "m"}, chat.TextDelta{Text: "b"}, call, finish))
	if err != nil {
		t.Fatal(err)
	}
	want := &chat.Response{Text: "ab", Reasoning: "hm", Calls: []chat.ToolCall{call}, Finish: finish}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCollectGivesNoHalfAnswer(t *testing.T) {
	quota := &chat.Error{Kind: chat.QuotaSpent, Message: "plan used up"}
	for name, c := range map[string]struct {
		err  error
		kind chat.Kind
	}{
		"typed error":   {fmt.Errorf("turn: %w", quota), chat.QuotaSpent},
		"ended ctx":     {context.Canceled, chat.Canceled},
		"foreign":       {io.ErrUnexpectedEOF, chat.Internal},
		"no end at all": {nil, chat.BadGateway},
	} {
		var pulled int
		resp, err := chat.Collect(turn(&pulled, c.err, texts("half")...))
		var e *chat.Error
		if resp != nil || !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%s: got %v, %v; want kind %v and no response", name, resp, err, c.kind)
		}
	}
}

// A foreign error may quote anything, so its text must not reach a client.
func TestAsErrorHidesForeignText(t *testing.T) {
	e := chat.AsError(errors.New("token eyJsecret refused"))
	if strings.Contains(e.Message, "eyJsecret") {
		t.Errorf("message %q shows the cause", e.Message)
	}
	if chat.AsError(nil) != nil {
		t.Error("nil became an error")
	}
}

func TestErrorfKeepsTheCause(t *testing.T) {
	e := chat.Errorf(chat.BadGateway, "reading the stream: %w", io.ErrUnexpectedEOF)
	if !errors.Is(e, io.ErrUnexpectedEOF) || e.Message != "reading the stream: unexpected EOF" {
		t.Errorf("got %v (%q)", e, e.Message)
	}
}

func TestStopAt(t *testing.T) {
	end := chat.Finish{Reason: chat.Stop, Usage: &chat.Usage{Output: 9}}
	for name, c := range map[string]struct {
		stops []string
		in    []string
		text  string
		hit   string
	}{
		"no stop texts":            {nil, []string{"a", "END"}, "aEND", ""},
		"empty stop text":          {[]string{""}, []string{"a", "b"}, "ab", ""},
		"never comes":              {[]string{"END"}, []string{"a", "b"}, "ab", ""},
		"in one delta":             {[]string{"END"}, []string{"one END two"}, "one ", "END"},
		"across deltas":            {[]string{"END"}, []string{"one E", "N", "D two"}, "one ", "END"},
		"at the very start":        {[]string{"END"}, []string{"END"}, "", "END"},
		"prefix was no stop":       {[]string{"END"}, []string{"E", "N", "ough"}, "ENough", ""},
		"prefix held at the end":   {[]string{"END"}, []string{"the EN"}, "the EN", ""},
		"first of two":             {[]string{"yy", "x"}, []string{"a x yy"}, "a ", "x"},
		"longest at one place":     {[]string{"ab", "abc"}, []string{"zabc"}, "z", "abc"},
		"overlapping itself":       {[]string{"aab"}, []string{"aa", "ab"}, "a", "aab"},
		"longer hold is needed":    {[]string{"aXb", "Xc"}, []string{"aX", "c"}, "a", "Xc"},
		"multi-byte":               {[]string{"世界"}, []string{"hi 世", "界!"}, "hi ", "世界"},
		"multi-byte, shared start": {[]string{"世界"}, []string{"世", "世"}, "世世", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var pulled int
			resp, err := chat.Collect(chat.StopAt(turn(&pulled, nil, append(texts(c.in...), end)...), c.stops))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Text != c.text || resp.Finish.StopText != c.hit {
				t.Errorf("text %q, stop text %q; want %q, %q", resp.Text, resp.Finish.StopText, c.text, c.hit)
			}
			if hit := c.hit != ""; hit != (resp.Finish.Usage == nil) {
				t.Errorf("usage %v after stop text %q", resp.Finish.Usage, c.hit)
			}
		})
	}
}

// The upstream must not go on spending after the stop text.
func TestStopAtLeavesTheTurn(t *testing.T) {
	var pulled int
	_, err := chat.Collect(chat.StopAt(turn(&pulled, nil, texts("a", "END", "b", "c")...), []string{"END"}))
	if err != nil || pulled != 2 {
		t.Errorf("took %d events, error %v; want 2 and none", pulled, err)
	}
}

func TestStopAtShowsHeldTextBeforeAnError(t *testing.T) {
	var pulled int
	var text string
	var last error
	for e, err := range chat.StopAt(turn(&pulled, io.ErrUnexpectedEOF, texts("half E")...), []string{"END"}) {
		if err != nil {
			last = err
			continue
		}
		text += e.(chat.TextDelta).Text
	}
	if text != "half E" || !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("text %q, error %v", text, last)
	}
}

// Whatever the cuts, the text is the input up to the first stop text.
func FuzzStopAt(f *testing.F) {
	f.Add("one END two", "END", 3)
	f.Add("aaab", "aab", 1)
	f.Fuzz(func(t *testing.T, in, stop string, size int) {
		if size < 1 || len(in) > 1<<12 {
			return
		}
		var parts []string
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		var pulled int
		resp, err := chat.Collect(chat.StopAt(turn(&pulled, nil, append(texts(parts...), chat.Finish{})...), []string{stop}))
		if err != nil {
			t.Fatal(err)
		}
		want := in
		if stop != "" {
			want, _, _ = strings.Cut(in, stop)
		}
		if resp.Text != want {
			t.Errorf("%q cut at %q in pieces of %d gave %q", in, stop, size, resp.Text)
		}
	})
}
