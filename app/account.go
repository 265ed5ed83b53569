package app

import (
	"context"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// Account is the user's Cursor account as the App needs it. CursorAccount
// makes one of a *cursor.Account. Its methods may be called at the same time;
// their errors are *chat.Error.
type Account interface {
	// State tells who is logged in, without a call to Cursor. It waits for the
	// store of secrets, perhaps until the user has unlocked it.
	State(ctx context.Context) cursor.AccountState
	// Identify asks Cursor for what State cannot know, unless that was done.
	Identify(ctx context.Context) error
	// Reload forgets what was read of the login, so that State reads it again.
	Reload()
	// StartLogin begins an attempt to log in with the browser. It returns at
	// once and makes no call.
	StartLogin() LoginAttempt
	// LoginWithKey logs in with an API key.
	LoginWithKey(ctx context.Context, key string) error
	// Logout removes the login and what is kept of the account.
	Logout(ctx context.Context) error

	ModelLists
	Plans
}

// ModelLists gives the models of an Account.
type ModelLists interface {
	// Catalog returns the models, at once if there is any list of them. A newer
	// one is fetched behind that.
	Catalog(ctx context.Context) (*cursor.Catalog, error)
	// RefreshModels fetches the list and waits for it.
	RefreshModels(ctx context.Context) (*cursor.Catalog, error)
	ModelStatus() cursor.ModelStatus
}

// Plans gives what is used of the plan of an Account.
type Plans interface {
	// Plan returns figures that are not older than maxAge, 0 for new ones; with
	// an error the last ones.
	Plan(ctx context.Context, maxAge time.Duration) (cursor.Plan, error)
	// WatchPlan returns what hands figures to show from now on, as long as it
	// runs.
	WatchPlan(show func(cursor.Plan, error)) PlanWatch
}

// PlanWatch knows when to ask for new figures. *cursor.PlanWatch is one.
type PlanWatch interface {
	Run(ctx context.Context) // until ctx ends
	Refresh()                // at once
	MenuOpened()             // at once, unless they are as good as new
	RunEnded()               // after a while
}

// LoginAttempt is one attempt to log in with the browser.
type LoginAttempt struct {
	URL string // the page to open; it holds no secret
	// Wait returns when the user has confirmed the login there and it is
	// stored. The end of ctx cancels the attempt.
	Wait func(ctx context.Context) error
}

// CursorAccount makes a *cursor.Account an Account.
type CursorAccount struct{ *cursor.Account }

// StartLogin implements Account.
func (a CursorAccount) StartLogin() LoginAttempt {
	attempt := a.Account.StartLogin()
	return LoginAttempt{URL: attempt.URL, Wait: attempt.Wait}
}

// WatchPlan implements Plans.
func (a CursorAccount) WatchPlan(show func(cursor.Plan, error)) PlanWatch {
	return a.Account.WatchPlan(show)
}

// AccountStatus is the state of the Cursor account.
type AccountStatus struct {
	State   AccountState
	Email   string // "" is not known
	Storage string // where the login lies or would lie: keychain, file or memory
	// Warning says, with LoggedIn, why the login will not last; "" if it does.
	Warning string
	// Deleting says, with LoggedOut or LoginEnded, that the ended login is still
	// stored; Problem says why. To log out again may help.
	Deleting bool
	// Problem says, with LoggedOut, why the store of secrets could not tell
	// about a login, and with LoginEnded what Cursor has against it.
	Problem *chat.Error
	// Keyring says what keeps the login from being read, or with LoggedIn from
	// being kept.
	Keyring Keyring
	Login   LoginStatus
}

// AccountState says whether somebody is logged in.
type AccountState int

const (
	NoAccount    AccountState = iota // the program runs without an account
	Unread                           // the store of secrets has not answered yet
	LoggedOut                        // nobody has logged in
	LoginPending                     // the browser is open, see Login
	LoggedIn                         // somebody is
	LoginEnded                       // somebody was, and Cursor no longer accepts it
)

var accountStateNames = [...]string{"none", "unread", "out", "pending", "in", "expired"}

func (s AccountState) String() string {
	if s < 0 || int(s) >= len(accountStateNames) {
		return "unknown"
	}
	return accountStateNames[s]
}

// LoginStatus is the last attempt to log in with the browser.
type LoginStatus struct {
	N   int    // counts the attempts
	URL string // the page to confirm it on; "" unless the attempt is under way
	// Failure says why it, or a login with a key, failed; nil when it did not
	// or was cancelled.
	Failure   *chat.Error
	Cancelled bool
}
