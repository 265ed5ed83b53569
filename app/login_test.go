package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

func TestLoginWithTheBrowser(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	r.inState(t, LoggedOut)
	r.Do(SignIn{})
	s := r.inState(t, LoginPending)
	page := <-r.account.pages
	if s.Account.Login.URL != page.url || <-r.opened != page.url {
		t.Errorf("the page on show is %q", s.Account.Login.URL)
	}
	// A second click does not start a second login.
	r.Do(SignIn{})
	r.Do(OpenLoginPage{})
	if url := <-r.opened; url != page.url {
		t.Errorf("opened %q", url)
	}
	r.Do(CopyLoginURL{})
	if text := <-r.copies; text != page.url {
		t.Errorf("copied %q", text)
	}
	page.result <- nil
	s = r.until(t, "ada is logged in", func(s Snapshot) bool { return s.Account.State == LoggedIn && s.Account.Email == "ada@example.com" })
	if s.Account.Login.URL != "" || s.Account.Warning != "" || len(s.Problems()) != 0 {
		t.Errorf("%+v, %v", s.Account, s.Problems())
	}
	if r.account.begun != 1 {
		t.Errorf("%d logins were begun", r.account.begun)
	}
	r.Do(SignOut{})
	if s := r.inState(t, LoggedOut); s.Account.Email != "" || len(s.Problems()) != 0 {
		t.Errorf("after the logout: %+v", s.Account)
	}
}

func TestLoginIsCancelled(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	r.Do(SignIn{NoBrowser: true})
	r.inState(t, LoginPending)
	r.Do(CancelSignIn{})
	s := r.inState(t, LoggedOut)
	if s.Account.Login.Failure != nil || !s.Account.Login.Cancelled || s.Account.Login.URL != "" {
		t.Errorf("%+v", s.Account.Login)
	}
	r.Do(CancelSignIn{})  // there is none
	r.Do(OpenLoginPage{}) // nor this
	r.Do(SignIn{})
	if s := r.inState(t, LoginPending); s.Account.Login.N != 2 || s.Account.Login.Cancelled {
		t.Errorf("%+v", s.Account.Login)
	}
	if len(r.opened) != 1 {
		<-r.opened // of the last one
	}
}

func TestFailedLoginIsToldUntilTheNext(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	r.Do(SignIn{})
	(<-r.account.pages).result <- &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeLoginDenied, Message: "the login was refused"}
	s := r.until(t, "the failure shows", func(s Snapshot) bool { return s.Account.Login.Failure != nil })
	if s.Account.State != LoggedOut || s.Account.Login.Failure.Code != cursor.CodeLoginDenied {
		t.Errorf("%+v", s.Account)
	}
	r.Do(SignIn{})
	if s := r.inState(t, LoginPending); s.Account.Login.Failure != nil {
		t.Errorf("the old failure is still there: %v", s.Account.Login.Failure)
	}
}

func TestLoginWithoutABrowser(t *testing.T) {
	for name, open := range map[string]func(context.Context, string) error{
		"none": nil,
		"one that fails": func(context.Context, string) error {
			return errors.New("no xdg-open")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAccountRig(t, newFakeAccount(), func(c *Config) { c.Open = open })
			r.Do(SignIn{})
			s := r.until(t, "it is told", func(s Snapshot) bool { return s.Notice.Text != "" })
			if !strings.Contains(s.Notice.Text, "copy the login link") || s.Account.State != LoginPending {
				t.Errorf("%q, %s", s.Notice.Text, s.Account.State)
			}
		})
	}
}

// The login goes on without a store that keeps it, and says so.
func TestKC2_LoginThatLastsUntilTheEnd(t *testing.T) {
	unsaved := &chat.Error{Kind: chat.Unavailable, Code: cursor.CodeNotSaved, Message: "the login lasts until cursortray ends"}
	r := newAccountRig(t, newFakeAccount())
	r.Do(SignIn{})
	(<-r.account.pages).result <- unsaved
	if s := r.inState(t, LoggedIn); !strings.Contains(s.Account.Warning, `token_store = "file"`) || s.Account.Login.Failure != nil {
		t.Errorf("%+v", s.Account)
	}
	r.account.set(cursor.AccountState{SignedIn: true, Storage: "memory"})
	r.until(t, "memory is told", func(s Snapshot) bool { return strings.Contains(s.Account.Warning, "token_store") })
}

// A store that does not answer holds nothing up but the account.
func TestKC2_StoreThatHangs(t *testing.T) {
	account := newFakeAccount()
	account.hold = make(chan struct{})
	r := newAccountRig(t, account)
	if s := r.in(t, Running); s.Account.State != Unread {
		t.Errorf("the account is %s", s.Account.State)
	}
	r.Do(CopyBaseURL{})
	<-r.copies
	close(account.hold)
	r.inState(t, LoggedOut)
}

func TestStoreThatIsLockedIsReadAgain(t *testing.T) {
	account := newFakeAccount()
	locked := &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeUnreadable, Message: "the keychain is locked"}
	account.state.Problem = locked
	r := newAccountRig(t, account)
	s := r.inState(t, LoggedOut)
	if p := s.Problems(); len(p) != 1 || p[0].Area != "login" || p[0].Message != locked.Message {
		t.Errorf("problems %v", p)
	}
	account.do(func() { account.state = cursor.AccountState{SignedIn: true, Storage: "keychain"} })
	r.Do(Recheck{})
	r.inState(t, LoggedIn)
	if account.reloads == 0 {
		t.Error("the store was not asked again")
	}
}

func TestLoginThatCursorEnds(t *testing.T) {
	account := newFakeAccount()
	account.state = cursor.AccountState{SignedIn: true, Storage: "keychain"}
	r := newAccountRig(t, account)
	r.inState(t, LoggedIn)
	account.set(cursor.AccountState{Storage: "keychain", Problem: &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeLoginEnded, Message: "Cursor has ended the login"}})
	s := r.inState(t, LoginEnded)
	if p := s.Problems(); len(p) != 1 || p[0].Area != "login" || s.Health().Status != "problem" {
		t.Errorf("problems %v", p)
	}
}

func TestLoginWithAKey(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	if err := r.LoginWithKey(t.Context(), "bad"); err == nil || chat.AsError(err).Code != cursor.CodeLoginDenied {
		t.Errorf("a bad key: %v", err)
	}
	if s := r.Snapshot(); s.Account.Login.Failure == nil {
		t.Error("the failure does not show when the call returns")
	}
	if err := r.LoginWithKey(t.Context(), "good"); err != nil {
		t.Errorf("a good key: %v", err)
	}
	if s := r.Snapshot(); s.Account.State != LoggedIn || s.Account.Login.Failure != nil {
		t.Errorf("%+v", s.Account)
	}
	// Without a page the menu leads to the command.
	r.Do(SignInWithKey{})
	if text := <-r.copies; text != "cursortray login --api-key -" {
		t.Errorf("copied %q", text)
	}
}

// What the browser was opened for has happened: the menu does not go on waiting
// for it, and a command that waits is told of the login.
func TestLoginWithAKeyEndsTheOneInTheBrowser(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	r.Do(SignIn{NoBrowser: true})
	r.inState(t, LoginPending)
	if err := r.LoginWithKey(t.Context(), "bad"); err == nil {
		t.Fatal("a wrong key logs in")
	}
	if s := r.inState(t, LoginPending); s.Account.Login.URL == "" {
		t.Errorf("a wrong key ended the attempt: %+v", s.Account.Login)
	}
	if err := r.LoginWithKey(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	s := r.inState(t, LoggedIn)
	if l := s.Account.Login; l.URL != "" || l.Cancelled || l.Failure != nil {
		t.Errorf("%+v", l)
	}
}

func TestWithoutAnAccount(t *testing.T) {
	r := newRig(t, nil)
	r.in(t, Running)
	for _, action := range []Action{SignIn{}, SignOut{}, CancelSignIn{}, OpenLoginPage{}, Refresh{}, MenuOpened{}, Recheck{}} {
		r.Do(action)
	}
	r.Do(CopyBaseURL{})
	<-r.copies
	if s := r.Snapshot(); s.Account.State != NoAccount {
		t.Errorf("%+v", s.Account)
	}
	_, noPlan := r.Plan(t.Context(), true)
	if err := errors.Join(r.Logout(t.Context()), r.LoginWithKey(t.Context(), "good"), noPlan); err == nil {
		t.Error("no errors")
	}
}

func TestQuitEndsALogin(t *testing.T) {
	r := newAccountRig(t, newFakeAccount())
	r.Do(SignIn{})
	r.inState(t, LoginPending)
	r.Do(Quit{})
	if err := r.ends(t, 10*time.Second); err != nil {
		t.Error(err)
	}
	if s := r.Snapshot(); s.Account.Login.Failure != nil {
		t.Errorf("%+v", s.Account)
	}
}

// A store that cannot keep or delete a login is told when that shows, and no
// longer when it can again.
func TestKC2_StoreThatFailsLater(t *testing.T) {
	account := newFakeAccount()
	stored := make(chan struct{}, 1)
	r := newAccountRig(t, account, func(c *Config) { c.LoginStored = stored })
	set := func(state cursor.AccountState) {
		account.do(func() { account.state = state })
		stored <- struct{}{}
	}
	in := cursor.AccountState{SignedIn: true, Storage: "keychain", Email: "ada@example.org"}
	set(in)
	r.inState(t, LoggedIn)
	warned := in
	warned.Problem = &chat.Error{Kind: chat.Unavailable, Code: cursor.CodeNotSaved, Message: "locked"}
	set(warned)
	r.until(t, "it is told", func(s Snapshot) bool { return s.Account.Warning != "" })
	account.do(func() { account.reloads = 0 })
	r.Do(Recheck{})
	set(in)
	r.until(t, "it is over", func(s Snapshot) bool { return s.Account.Warning == "" })
	account.do(func() {
		if account.reloads != 1 {
			t.Errorf("the store was asked again %d times", account.reloads)
		}
	})
	set(cursor.AccountState{Storage: "keychain", Problem: &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeNotDeleted, Message: "still there"}})
	s := r.inState(t, LoggedOut)
	if !s.Account.Deleting || s.Account.Problem == nil {
		t.Errorf("%+v", s.Account)
	}
}
