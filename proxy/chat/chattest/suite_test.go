package chattest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

func TestSuiteOnTheFake(t *testing.T) {
	Suite(t, Harness{Model: "fake-model", New: func(_ *testing.T, script Script) Instance { return Scripted(script) }})
}

func TestFaults(t *testing.T) {
	req := &chat.Request{Tools: []chat.Tool{{Name: "read"}}}
	failed := chat.Errorf(chat.BadGateway, "gone")
	call := func(id, name, arguments string) chat.ToolCall {
		return chat.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	for _, tc := range []struct {
		name string
		tr   transcript
		want string // a part of the only fault, "" for none
	}{
		{"whole answer", transcript{{chat.TextDelta{Text: "a"}, nil}, {chat.Finish{}, nil}}, ""},
		{"failure", transcript{{chat.TextDelta{Text: "a"}, nil}, {nil, failed}}, ""},
		{"call", transcript{{call("a_1-B", "read", `{"p":1}`), nil}, {chat.Finish{Reason: chat.ToolCalls}, nil}}, ""},
		{"call cut by the limit", transcript{{call("a", "read", `{}`), nil}, {chat.Finish{Reason: chat.Length}, nil}}, ""},
		{"nothing", nil, "3: the turn ended without"},
		{"no Finish", transcript{{chat.TextDelta{Text: "a"}, nil}}, "3: the last event is"},
		{"two Finish", transcript{{chat.Finish{}, nil}, {chat.Finish{}, nil}}, "3: something follows Finish"},
		{"event after error", transcript{{nil, failed}, {chat.Finish{}, nil}}, "3: something follows the error"},
		{"event with error", transcript{{chat.Finish{}, failed}}, "3: an error together"},
		{"nothing at all", transcript{{nil, nil}, {chat.Finish{}, nil}}, "3: neither"},
		{"foreign error", transcript{{nil, errors.New("raw")}}, "5: the error is a"},
		{"silent error", transcript{{nil, &chat.Error{}}}, "5: the error says nothing"},
		{"empty delta", transcript{{chat.ReasoningDelta{}, nil}, {chat.Finish{}, nil}}, "1: an empty delta"},
		{"cut character", transcript{{chat.TextDelta{Text: "\xe4\xb8"}, nil}, {chat.Finish{}, nil}}, "1: a delta is not UTF-8"},
		{"unknown tool", transcript{{call("a", "write", `{}`), nil}, {chat.Finish{Reason: chat.ToolCalls}, nil}}, "2: a call of"},
		{"bad id", transcript{{call("a b", "read", `{}`), nil}, {chat.Finish{Reason: chat.ToolCalls}, nil}}, "2: the call id"},
		{"broken arguments", transcript{{call("a", "read", `{`), nil}, {chat.Finish{Reason: chat.ToolCalls}, nil}}, "2: the arguments"},
		{"null arguments", transcript{{call("a", "read", `null`), nil}, {chat.Finish{Reason: chat.ToolCalls}, nil}}, "2: the arguments"},
		{"call and Stop", transcript{{call("a", "read", `{}`), nil}, {chat.Finish{}, nil}}, "2: 1 calls"},
		{"ToolCalls without call", transcript{{chat.Finish{Reason: chat.ToolCalls}, nil}}, "2: 0 calls"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := faults(req, tc.tr)
			if tc.want == "" && len(got) == 0 {
				return
			}
			if tc.want == "" || len(got) != 1 || !strings.HasPrefix(got[0], tc.want) {
				t.Errorf("faults = %q, want one that begins with %q", got, tc.want)
			}
		})
	}
}
