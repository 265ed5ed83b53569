package chattest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

func tools() []check {
	return []check{
		{name: "Call", tools: true, run: checkCall},
		{name: "CallWithoutArguments", tools: true, run: checkBareCall},
		{name: "Continue", tools: true, run: checkContinue},
		{name: "ContinueElsewhere", tools: true, run: checkContinueElsewhere},
		{name: "ContinueAfterCancel", tools: true, run: checkContinueAfterCancel},
		{name: "AbandonedCall", tools: true, run: checkAbandoned},
	}
}

func noteScript() Script {
	return Script{
		Answer: []Move{Say{"Let me look. "}, Use{"read_note", `{"title":"shop \"ping\" ü"}`}},
		After:  []Move{Say{"Milk "}, Say{"and eggs."}},
	}
}

func checkCall(s *suite, t *testing.T) {
	s.ask(t, s.start(t, noteScript()).Backend)
}

// ask runs the turn that ends with the call of noteScript.
func (s *suite) ask(t *testing.T, b chat.Backend) (*chat.Request, transcript) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), turnLimit)
	defer cancel()
	req := s.requestWithTools()
	tr := s.turnIn(ctx, t, b, req)
	calls := tr.calls()
	if len(calls) != 1 || calls[0].Name != "read_note" {
		t.Fatalf("2: the calls are %+v (the turn ended with %v)", calls, tr.err())
	}
	var got map[string]any
	if err := json.Unmarshal(calls[0].Arguments, &got); err != nil {
		t.Fatalf("2: arguments: %v", err)
	}
	if diff := cmp.Diff(map[string]any{"title": `shop "ping" ü`}, got); diff != "" {
		t.Errorf("2: arguments (-want +got):\n%s", diff)
	}
	if finish := tr.finish(); finish == nil || finish.Reason != chat.ToolCalls {
		t.Errorf("2: a turn with a call ended with %+v, %v", finish, tr.err())
	}
	return req, tr
}

func checkBareCall(s *suite, t *testing.T) {
	b := s.start(t, Script{Answer: []Move{Use{Name: "list_notes"}}}).Backend
	calls := s.turn(t, b, s.requestWithTools()).calls()
	if len(calls) != 1 || string(calls[0].Arguments) != "{}" {
		t.Errorf("2: a call without arguments came as %+v", calls)
	}
}

func checkContinue(s *suite, t *testing.T) {
	instance := s.start(t, noteScript())
	req, tr := s.ask(t, instance.Backend)
	s.goOn(t, instance.Backend, answered(req, tr))
	s.settled(t, instance, "the end of a continued turn")
	// The same result once more: a client may repeat a request, and the state
	// that the first one used up is gone.
	s.goOn(t, instance.Backend, answered(req, tr))
}

func (s *suite) goOn(t *testing.T, b chat.Backend, req *chat.Request) {
	t.Helper()
	tr := s.turn(t, b, req)
	if tr.text() != "Milk and eggs." || tr.finish() == nil || len(tr.calls()) != 0 {
		t.Errorf("7: the turn after the result gave %q, %d calls, %v", tr.text(), len(tr.calls()), tr.err())
	}
}

func checkContinueElsewhere(s *suite, t *testing.T) {
	req, tr := s.ask(t, s.start(t, noteScript()).Backend)
	s.goOn(t, s.start(t, noteScript()).Backend, answered(req, tr))
}

// The request that led to a call is over, and its context with it, when the
// result comes.
func checkContinueAfterCancel(s *suite, t *testing.T) {
	b := s.start(t, noteScript()).Backend
	ctx, cancel := context.WithCancel(t.Context())
	req := s.requestWithTools()
	tr := s.turnIn(ctx, t, b, req)
	cancel()
	if len(tr.calls()) != 1 {
		t.Fatalf("2: the calls are %+v (the turn ended with %v)", tr.calls(), tr.err())
	}
	s.goOn(t, b, answered(req, tr))
}

func checkAbandoned(s *suite, t *testing.T) {
	instance := s.start(t, noteScript())
	s.ask(t, instance.Backend)
	if err := instance.Backend.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := instance.live(); n != 0 {
		t.Errorf("8: %d upstream runs that waited for a result outlive Close", n)
	}
}
