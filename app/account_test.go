package app

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// fakeAccount is an account that does what a test says.
type fakeAccount struct {
	changed chan struct{}
	pages   chan fakeAttempt // the attempts that were begun
	hold    chan struct{}    // State waits until it is closed; nil: it does not
	renewed chan struct{}    // the list of models was asked for anew

	mu      sync.Mutex
	state   cursor.AccountState
	email   string // what Identify finds out
	catalog *cursor.Catalog
	failure *chat.Error // of the lists of models
	plan    cursor.Plan
	planErr error
	show    func(cursor.Plan, error)
	asked   []string // of the PlanWatch
	begun   int
	reloads int
}

// fakeAttempt is an attempt as the browser's user sees it.
type fakeAttempt struct {
	url    string
	result chan error
}

func newFakeAccount() *fakeAccount {
	return &fakeAccount{
		changed: make(chan struct{}, 1), pages: make(chan fakeAttempt, 8), renewed: make(chan struct{}, 1),
		state: cursor.AccountState{Storage: "keychain", Problem: loginRequired()}, email: "ada@example.com",
	}
}

func loginRequired() *chat.Error {
	return &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeLoginRequired, Message: "nobody is logged in"}
}

func (a *fakeAccount) do(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// set changes who is logged in, as another process would.
func (a *fakeAccount) set(state cursor.AccountState) {
	a.do(func() { a.state = state })
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *fakeAccount) State(ctx context.Context) (state cursor.AccountState) {
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-ctx.Done():
		}
	}
	a.do(func() { state = a.state })
	return state
}

func (a *fakeAccount) Identify(context.Context) error {
	a.do(func() {
		if a.state.SignedIn {
			a.state.Email = a.email
		}
	})
	return nil
}

func (a *fakeAccount) Reload() { a.do(func() { a.reloads++ }) }

func (a *fakeAccount) StartLogin() LoginAttempt {
	a.do(func() { a.begun++ })
	page := fakeAttempt{url: "https://cursor.test/login", result: make(chan error, 1)}
	a.pages <- page
	return LoginAttempt{URL: page.url, Wait: func(ctx context.Context) error {
		select {
		case err := <-page.result:
			var e *chat.Error
			if err == nil || errors.As(err, &e) && e.Code == cursor.CodeNotSaved {
				a.set(cursor.AccountState{SignedIn: true, Storage: "keychain", Problem: e})
			}
			return err
		case <-ctx.Done():
			return chat.AsError(ctx.Err())
		}
	}}
}

func (a *fakeAccount) LoginWithKey(_ context.Context, key string) error {
	if key != "good" {
		return &chat.Error{Kind: chat.LoginRequired, Code: cursor.CodeLoginDenied, Message: "Cursor does not accept this API key"}
	}
	a.set(cursor.AccountState{SignedIn: true, Storage: "keychain"})
	return nil
}

func (a *fakeAccount) Logout(context.Context) error {
	a.do(func() { a.catalog = nil })
	a.set(cursor.AccountState{Storage: "keychain", Problem: loginRequired()})
	return nil
}

func (a *fakeAccount) Catalog(context.Context) (catalog *cursor.Catalog, err error) {
	a.do(func() {
		if catalog = a.catalog; catalog == nil {
			err = chat.Errorf(chat.BadGateway, "no list")
		}
	})
	return catalog, err
}

func (a *fakeAccount) RefreshModels(ctx context.Context) (*cursor.Catalog, error) {
	select {
	case a.renewed <- struct{}{}:
	default:
	}
	return a.Catalog(ctx)
}

func (a *fakeAccount) ModelStatus() (s cursor.ModelStatus) {
	a.do(func() { s.Problem = a.failure })
	return s
}

func (a *fakeAccount) Plan(context.Context, time.Duration) (plan cursor.Plan, err error) {
	a.do(func() { plan, err = a.plan, a.planErr })
	return plan, err
}

func (a *fakeAccount) WatchPlan(show func(cursor.Plan, error)) PlanWatch {
	a.do(func() { a.show = show })
	return fakeWatch{a}
}

// fakeWatch shows the account's figures when it begins and notes what it is
// asked for.
type fakeWatch struct{ a *fakeAccount }

func (w fakeWatch) Run(ctx context.Context) {
	w.push()
	<-ctx.Done()
	w.a.do(func() { w.a.show = nil })
}

func (w fakeWatch) push() {
	plan, err := w.a.Plan(context.Background(), 0)
	var show func(cursor.Plan, error)
	w.a.do(func() { show = w.a.show })
	if show != nil {
		show(plan, err)
	}
}

func (w fakeWatch) Refresh()    { w.note("refresh") }
func (w fakeWatch) MenuOpened() { w.note("menu") }
func (w fakeWatch) RunEnded()   { w.note("run") }

func (w fakeWatch) note(what string) { w.a.do(func() { w.a.asked = append(w.a.asked, what) }) }

// accountRig is a rig with an account and a browser.
type accountRig struct {
	*rig
	account *fakeAccount
	opened  chan string
}

func newAccountRig(t *testing.T, account *fakeAccount, changes ...func(*Config)) accountRig {
	t.Helper()
	r := accountRig{account: account, opened: make(chan string, 8)}
	r.rig = newRig(t, func(c *Config) {
		c.Account, c.AccountChanged = account, account.changed
		c.Open = func(_ context.Context, url string) error { r.opened <- url; return nil }
		for _, change := range changes {
			change(c)
		}
	})
	return r
}

func (r accountRig) inState(t *testing.T, state AccountState) Snapshot {
	t.Helper()
	return r.until(t, "the account is "+state.String(), func(s Snapshot) bool { return s.Account.State == state })
}
