package app

import (
	"testing"

	"cursortray/proxy/chat"
)

// What no request would fail with is no problem of the port.
func TestAnUnreadableLoginIsNoProblemOfTheCLI(t *testing.T) {
	s := Snapshot{Account: AccountStatus{Problem: chat.Errorf(chat.LoginRequired, "the saved login cannot be read")}}
	for choice, status := range map[string]string{"auto": "problem", "agent": "problem", "cli": "ok"} {
		s.Backend.Choice = choice
		if got := s.Health().Status; got != status {
			t.Errorf("with %s the health is %q, want %q", choice, got, status)
		}
	}
}
