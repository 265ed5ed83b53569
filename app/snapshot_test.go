package app

import (
	"testing"

	"cursortray/proxy/chat"
)

// What no request would fail with is no problem of the port.
func TestAnUnreadableLoginIsNoProblemOfTheCLI(t *testing.T) {
	s := Snapshot{Account: AccountStatus{Problem: chat.Errorf(chat.LoginRequired, "the saved login cannot be read")}}
	for _, c := range []struct{ choice, id, status string }{
		{"auto", "agent", "problem"}, {"agent", "agent", "problem"}, {"auto", "cli", "ok"}, {"cli", "cli", "ok"},
	} {
		s.Backend = BackendStatus{Choice: c.choice, ID: c.id}
		if got := s.Health().Status; got != c.status {
			t.Errorf("with %s and %s the health is %q, want %q", c.choice, c.id, got, c.status)
		}
	}
}

// The back-end and the account find the same login missing.
func TestOneProblemIsToldOnce(t *testing.T) {
	const text = "the saved login cannot be read"
	s := Snapshot{Account: AccountStatus{Problem: chat.Errorf(chat.LoginRequired, text)}}
	s.Backend = BackendStatus{ID: "agent", Problem: chat.Errorf(chat.LoginRequired, text)}
	if got := s.Problems(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}
