package main

import (
	"fmt"
	"strings"
	"testing"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

// Nobody is told to unlock what is not there.
func TestRemedyOfAStoreOfSecrets(t *testing.T) {
	because := func(err error) error {
		return &chat.Error{Kind: chat.LoginRequired, Message: "the saved login cannot be used", Err: fmt.Errorf("read cursor-login: %w", err)}
	}
	for _, tt := range []struct {
		kind    string
		problem error
		has, no string
	}{
		{"keychain", because(keychain.ErrLocked), "unlock the keychain", "start a keyring"},
		{"keychain", because(keychain.ErrUnavailable), "start a keyring", "unlock"},
		{"file", because(keychain.ErrUnavailable), "make the files of the login yours", "keyring"},
	} {
		if got := storeRemedy(tt.kind, tt.problem); !strings.Contains(got, tt.has) || strings.Contains(got, tt.no) {
			t.Errorf("%s, %v: %q", tt.kind, tt.problem, got)
		}
	}
}
