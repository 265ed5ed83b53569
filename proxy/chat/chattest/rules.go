package chattest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cursortray/proxy/chat"
)

// yielded is one pair that a turn handed to its loop.
type yielded struct {
	event chat.Event
	err   error
}

// transcript is all that a turn handed to a loop that never left.
type transcript []yielded

func (tr transcript) text() string {
	var b strings.Builder
	for _, y := range tr {
		if delta, ok := y.event.(chat.TextDelta); ok {
			b.WriteString(delta.Text)
		}
	}
	return b.String()
}

func (tr transcript) reasoning() string {
	var b strings.Builder
	for _, y := range tr {
		if delta, ok := y.event.(chat.ReasoningDelta); ok {
			b.WriteString(delta.Text)
		}
	}
	return b.String()
}

func (tr transcript) calls() []chat.ToolCall {
	var calls []chat.ToolCall
	for _, y := range tr {
		if call, ok := y.event.(chat.ToolCall); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// finish returns the Finish that ended the turn, nil if an error did.
func (tr transcript) finish() *chat.Finish {
	if len(tr) == 0 {
		return nil
	}
	if finish, ok := tr[len(tr)-1].event.(chat.Finish); ok {
		return &finish
	}
	return nil
}

// err returns the error that ended the turn, nil if there was none.
func (tr transcript) err() error {
	if len(tr) == 0 {
		return nil
	}
	return tr[len(tr)-1].err
}

// faults lists the rules of chat.Backend that a turn broke, as far as the turn
// alone shows them: points 1, 2, 3 and 5.
func faults(req *chat.Request, tr transcript) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if len(tr) == 0 {
		return []string{"3: the turn ended without Finish or error"}
	}
	for i, y := range tr {
		last := i == len(tr)-1
		switch {
		case y.err != nil:
			found = append(found, errorFaults(y, last)...)
		case last && tr.finish() == nil:
			add("3: the last event is %T, not Finish", y.event)
		default:
			found = append(found, eventFaults(req, y.event, last)...)
		}
	}
	if finish := tr.finish(); finish != nil && (finish.Reason == chat.ToolCalls) != (len(tr.calls()) > 0) && finish.Reason != chat.Length {
		add("2: %d calls and the reason %d", len(tr.calls()), finish.Reason)
	}
	return found
}

func errorFaults(y yielded, last bool) []string {
	var found []string
	if y.event != nil {
		found = append(found, "3: an error together with an event")
	}
	if !last {
		found = append(found, "3: something follows the error")
	}
	var typed *chat.Error
	if !errors.As(y.err, &typed) {
		found = append(found, fmt.Sprintf("5: the error is a %T", y.err))
	} else if typed.Message == "" {
		found = append(found, "5: the error says nothing")
	}
	return found
}

func eventFaults(req *chat.Request, event chat.Event, last bool) []string {
	switch e := event.(type) {
	case chat.TextDelta:
		return deltaFaults(e.Text)
	case chat.ReasoningDelta:
		return deltaFaults(e.Text)
	case chat.ToolCall:
		return callFaults(req, e)
	case chat.Finish:
		if !last {
			return []string{"3: something follows Finish"}
		}
	case nil:
		return []string{"3: neither event nor error"}
	}
	return nil
}

func deltaFaults(text string) []string {
	switch {
	case text == "":
		return []string{"1: an empty delta"}
	case !utf8.ValidString(text):
		return []string{fmt.Sprintf("1: a delta is not UTF-8: %q", text)}
	}
	return nil
}

var callID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

func callFaults(req *chat.Request, call chat.ToolCall) []string {
	var found []string
	if !callID.MatchString(call.ID) {
		found = append(found, fmt.Sprintf("2: the call id %q", call.ID))
	}
	if !slices.ContainsFunc(req.Tools, func(tool chat.Tool) bool { return tool.Name == call.Name }) {
		found = append(found, fmt.Sprintf("2: a call of %q, which the client does not have", call.Name))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(call.Arguments, &object) != nil || object == nil {
		found = append(found, fmt.Sprintf("2: the arguments are no JSON object: %.80s", call.Arguments))
	}
	return found
}
