package cursor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

const mePath = "/aiserver.v1.DashboardService/GetMe"

// newAccount returns an account of a fake Cursor; change may alter its
// configuration.
func newAccount(t *testing.T, f *fakeCursor, store Store, change func(*AccountConfig)) *Account {
	t.Helper()
	cfg := AccountConfig{
		Config: f.config(t, store), Storage: func() string { return "keychain" },
		Identity: &Identity{version: "cli-1.0", privacy: true},
	}
	if change != nil {
		change(&cfg)
	}
	a, err := NewAccount(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func TestAccountFromLoginToLogout(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[mePath] = says(`{"authId":"auth0|user_1","email":"ada@example.com"}`)
	store := &memStore{}
	var events []string
	a := newAccount(t, f, store, func(cfg *AccountConfig) {
		cfg.Changed = func(in bool) { events = append(events, fmt.Sprint("changed ", in)) }
		cfg.OnLogout = func() { events = append(events, "logout") }
	})
	ctx := t.Context()
	if st := a.State(ctx); st.SignedIn || st.Problem == nil || st.Problem.Code != CodeLoginRequired || st.Storage != "keychain" {
		t.Errorf("before: %+v", st)
	}
	attempt := a.StartLogin()
	if u, err := url.Parse(attempt.URL); err != nil || u.Query().Get("challenge") == "" {
		t.Errorf("URL = %q, %v", attempt.URL, err)
	}
	if err := attempt.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Identify(ctx); err != nil {
		t.Fatal(err)
	}
	want := AccountState{SignedIn: true, Email: "ada@example.com", Storage: "keychain"}
	if st := a.State(ctx); st != want {
		t.Errorf("after the login: %+v", st)
	}
	if err := a.Identify(ctx); err != nil {
		t.Fatal(err)
	}
	f.wantCalls(t, mePath, 1)

	if err := a.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	if st := a.State(ctx); st.SignedIn || st.Email != "" || st.Problem == nil || st.Problem.Code != CodeLoginRequired {
		t.Errorf("after the logout: %+v", st)
	}
	if _, stored := store.stored(t); stored {
		t.Error("the login is still in the store")
	}
	if got := fmt.Sprint(events); got != "[changed true logout changed false]" {
		t.Errorf("events: %s", got)
	}
}

func TestAccountCancelledLogin(t *testing.T) {
	f := newFakeCursor(t)
	f.polls = 1000
	a := newAccount(t, f, &memStore{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, a.StartLogin().Wait(ctx), chat.Canceled, "")
	if a.State(t.Context()).SignedIn {
		t.Error("signed in")
	}
}

func TestAccountLoginThatCannotBeSaved(t *testing.T) {
	f := newFakeCursor(t)
	store := &memStore{setErr: errors.New("the keychain is locked")}
	a := newAccount(t, f, store, nil)
	wantCode(t, a.LoginWithKey(t.Context(), "crsr_secret"), chat.Unavailable, CodeNotSaved)
	st := a.State(t.Context())
	if !st.SignedIn || st.Problem == nil || st.Problem.Code != CodeNotSaved {
		t.Errorf("state: %+v", st)
	}
	store.mu.Lock()
	store.setErr = nil
	store.mu.Unlock()
	if err := a.LoginWithKey(t.Context(), "crsr_secret"); err != nil {
		t.Fatal(err)
	}
	if st := a.State(t.Context()); !st.SignedIn || st.Problem != nil {
		t.Errorf("state: %+v", st)
	}
}

// TestAccountLoginEndedByCursor: what runs with the login is stopped, too.
func TestAccountLoginEndedByCursor(t *testing.T) {
	f := newFakeCursor(t)
	ended := make(chan struct{}, 1)
	a := newAccount(t, f, storeOf(f.login(time.Minute)), func(cfg *AccountConfig) {
		cfg.OnLogout = func() { ended <- struct{}{} }
	})
	f.set(func() { f.refresh = "another" })
	wantCode(t, a.Identify(t.Context()), chat.LoginRequired, CodeLoginEnded)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("OnLogout was not called")
	}
	if st := a.State(t.Context()); st.SignedIn || st.Problem.Code != CodeLoginEnded {
		t.Errorf("state: %+v", st)
	}
}

// TestAccountAnswerAfterLogout: who was logged in is not known afterwards, also
// if the answer comes late.
func TestAccountAnswerAfterLogout(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[mePath] = says(`{"email":"ada@example.com"}`)
	a := newAccount(t, f, storeOf(f.login(time.Hour)), nil)
	arrived, release := f.holdCalls()
	done := make(chan error, 1)
	go func() { done <- a.Identify(t.Context()) }()
	<-arrived
	if err := a.Logout(t.Context()); err != nil {
		t.Error(err)
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := a.LoginWithKey(t.Context(), "crsr_secret"); err != nil {
		t.Fatal(err)
	}
	if st := a.State(t.Context()); !st.SignedIn || st.Email != "" {
		t.Errorf("state: %+v", st)
	}
}

func TestAccountShowsAddressesOnly(t *testing.T) {
	for _, email := range []string{"", "nobody", "a@b\nX", string(make([]byte, 300)) + "@"} {
		if got := mailAddress(email); got != "" {
			t.Errorf("mailAddress(%q) = %q", email, got)
		}
	}
}

func TestSE3_AccountRefusesForeignAgentHost(t *testing.T) {
	_, err := NewAccount(AccountConfig{Config: Config{Client: http.DefaultClient}, AgentURL: "https://cursor.sh.example.com"})
	if err == nil {
		t.Error("no error")
	}
}
