package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

func TestLoginIsKeptInAFileByAClick(t *testing.T) {
	account := newFakeAccount()
	account.state = cursor.AccountState{SignedIn: true, Email: "ada@example.com", Storage: "keychain",
		Problem: &chat.Error{Kind: chat.Unavailable, Code: cursor.CodeNotSaved, Message: "no keychain"}}
	var fail atomic.Bool
	r := newAccountRig(t, account, func(c *Config) {
		c.KeepInFile = func(context.Context) error {
			if fail.Load() {
				return errors.New("the disk is full")
			}
			account.do(func() { account.state.Storage, account.state.Problem = "file", nil })
			return nil
		}
	})
	r.until(t, "the login does not last", func(s Snapshot) bool { return s.Account.Warning != "" })
	fail.Store(true)
	r.Do(KeepLoginInFile{})
	r.until(t, "a failure is said", func(s Snapshot) bool {
		return strings.Contains(s.Notice.Text, "the disk is full") && s.Account.Warning != ""
	})
	fail.Store(false)
	r.Do(KeepLoginInFile{})
	r.until(t, "the login lasts", func(s Snapshot) bool { return s.Account.Storage == "file" && s.Account.Warning == "" })
	r.until(t, "that is said", func(s Snapshot) bool { return strings.Contains(s.Notice.Text, "private file") })
}
