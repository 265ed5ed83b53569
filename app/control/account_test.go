package control

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// fakeOwner is an account whose logins with a browser a test ends.
type fakeOwner struct {
	app *fakeApp

	mu   sync.Mutex
	keys []string
	plan app.Usage
	err  error
}

func (o *fakeOwner) LoginWithKey(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys = append(o.keys, key)
	if key != "good" {
		return &chat.Error{Kind: chat.LoginRequired, Code: "login_denied", Message: "Cursor does not accept this API key"}
	}
	o.app.change(func(s *app.Snapshot) { s.Account = app.AccountStatus{State: app.LoggedIn, Email: "ada@example.com"} })
	return nil
}

func (o *fakeOwner) Logout(context.Context) error {
	o.app.change(func(s *app.Snapshot) { s.Account = app.AccountStatus{State: app.LoggedOut} })
	return nil
}

func (o *fakeOwner) Plan(context.Context, bool) (app.Usage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.plan, o.err
}

func (o *fakeOwner) KeepLoginInFile(context.Context) error { return nil }

func (o *fakeOwner) SetDefaultModel(context.Context, string) error { return nil }

// change is what the App does by itself.
func (f *fakeApp) change(edit func(*app.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(&f.snapshot)
	close(f.changed)
	f.changed = make(chan struct{})
}

// browse plays the App's part of a login with the browser.
func (f *fakeApp) browse(action app.Action) {
	l := &f.snapshot.Account.Login
	switch action.(type) {
	case app.SignIn:
		if l.URL == "" {
			*l = app.LoginStatus{N: l.N + 1, URL: "https://cursor.test/login"}
			f.snapshot.Account.State = app.LoginPending
		}
	case app.CancelSignIn:
		l.URL, l.Cancelled = "", true
		f.snapshot.Account.State = app.LoggedOut
	}
}

func accountServer(t *testing.T) (*Client, *fakeApp, *fakeOwner) {
	f := newFakeApp(app.Snapshot{Account: app.AccountStatus{State: app.LoggedOut}})
	owner := &fakeOwner{app: f}
	dir := t.TempDir()
	serve(t, dir, Config{Instance: f, Account: owner})
	return NewClient(dir), f, owner
}

func TestLoginOverTheSocket(t *testing.T) {
	c, f, _ := accountServer(t)
	first, err := c.Login(t.Context(), false)
	if err != nil || first.URL != "https://cursor.test/login" || !first.Begun {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := c.Login(t.Context(), true)
	if err != nil || second.N != first.N || second.Begun {
		t.Errorf("the second one: %+v, %v", second, err)
	}
	type end struct {
		account Account
		err     error
	}
	ended := make(chan end)
	go func() {
		account, err := c.LoginWait(t.Context(), first.N)
		ended <- end{account, err}
	}()
	f.change(func(s *app.Snapshot) {
		s.Account.Login.URL = ""
		s.Account.State, s.Account.Email, s.Account.Storage = app.LoggedIn, "ada@example.com", "keychain"
	})
	if e := <-ended; e.err != nil || e.account != (Account{State: "in", Email: "ada@example.com", Storage: "keychain"}) {
		t.Errorf("%+v", e)
	}
	if err := c.Logout(t.Context()); err != nil {
		t.Error(err)
	}
	if s, err := c.Status(t.Context()); err != nil || s.Account.State != "out" {
		t.Errorf("%+v, %v", s.Account, err)
	}
}

func TestLoginThatEndsOtherwise(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Client, *fakeApp)
		kind chat.Kind
		code string
	}{
		"refused": {func(_ *Client, f *fakeApp) {
			f.change(func(s *app.Snapshot) {
				s.Account.Login.URL, s.Account.State = "", app.LoggedOut
				s.Account.Login.Failure = &chat.Error{Kind: chat.LoginRequired, Code: "login_denied", Message: "the login was refused"}
			})
		}, chat.LoginRequired, "login_denied"},
		"cancelled": {func(c *Client, _ *fakeApp) { _ = c.LoginCancel(context.Background()) }, chat.Canceled, ""},
		"replaced": {func(_ *Client, f *fakeApp) {
			f.change(func(s *app.Snapshot) { s.Account.Login = app.LoginStatus{N: 9, URL: "https://cursor.test/other"} })
		}, chat.Canceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client, f, _ := accountServer(t)
			attempt, err := client.Login(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			c.end(client, f)
			_, err = client.LoginWait(t.Context(), attempt.N)
			var e *chat.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Code != c.code || e.Message == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLoginWithAKeyOverTheSocket(t *testing.T) {
	c, _, owner := accountServer(t)
	if _, err := c.LoginWithKey(t.Context(), "bad"); chat.AsError(err).Code != "login_denied" {
		t.Errorf("a bad key: %v", err)
	}
	if a, err := c.LoginWithKey(t.Context(), "good"); err != nil || a.Email != "ada@example.com" {
		t.Errorf("%+v, %v", a, err)
	}
	if len(owner.keys) != 2 {
		t.Errorf("%d keys", len(owner.keys))
	}
}

func TestUsageOverTheSocket(t *testing.T) {
	c, _, owner := accountServer(t)
	owner.plan = app.Usage{PlanStatus: app.PlanStatus{Title: "Cursor Pro", Age: "12 min ago", Problem: chat.Errorf(chat.BadGateway, "offline")}}
	owner.plan.Lines[0] = app.PlanLine{Label: "Other models", Value: "28.6%"}
	owner.plan.Figures.Name = "Pro"
	u, err := c.Usage(t.Context(), true)
	var figures struct{ Name string }
	if err != nil || json.Unmarshal(u.Figures, &figures) != nil || figures.Name != "Pro" || u.Age != "12 min ago" || u.Problem != "offline" ||
		len(u.Lines) != 1 || u.Lines[0] != (Line{"Other models", "28.6%"}) {
		t.Errorf("%+v, %v", u, err)
	}
	owner.err = chat.Errorf(chat.LoginRequired, "nobody is logged in")
	if _, err := c.Usage(t.Context(), false); chat.AsError(err).Kind != chat.LoginRequired {
		t.Errorf("%v", err)
	}
}

// A client that goes away leaves nothing behind; goleak looks.
func TestLoginWaitEndsWithItsClient(t *testing.T) {
	c, _, _ := accountServer(t)
	attempt, err := c.Login(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.LoginWait(ctx, attempt.N); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
