package app

import (
	"context"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// logoutTimeout is for a store of secrets that does not answer.
const logoutTimeout = 15 * time.Second

// login is the machine's hold on the account.
type login struct {
	cancel  context.CancelFunc // of the attempt under way; nil when there is none
	moot    bool               // a key has logged in what the attempt was for
	reading bool
	again   bool // the account has changed while it was read
	known   cursor.AccountState
}

// readAccount asks who is logged in, one question at a time.
func (m *machine) readAccount() {
	account := m.app.cfg.Account
	if account == nil || m.quitting {
		return
	}
	if m.login.reading {
		m.login.again = true
		return
	}
	m.login.reading = true
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		state := account.State(ctx)
		return func(m *machine) {
			m.login.reading = false
			if m.login.again { // the answer may be old
				m.login.again = false
				m.readAccount()
				return
			}
			m.accountRead(state)
		}
	})
}

func (m *machine) accountRead(state cursor.AccountState) {
	if m.quitting {
		return
	}
	l := &m.login
	in := state.SignedIn
	if !in && l.known.SignedIn {
		m.forgetModels()
	}
	l.known = state
	m.showAccount()
	m.watchPlan()
	if in && state.Email == "" {
		m.identify()
	}
	if in {
		m.loadModels(false)
	}
}

// accountChanged follows a login or logout, by whomever.
func (m *machine) accountChanged() {
	m.check() // another back-end may be the right one now
	m.forgetConversations()
	m.forgetModels()
	if m.plan.watch != nil {
		m.snap.Plan = PlanStatus{}
		m.plan.watch.Refresh()
	}
	m.readAccount()
}

// identify learns the e-mail address. Without it the menu has less to show,
// which is no problem worth a word.
func (m *machine) identify() {
	account := m.app.cfg.Account
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		if err := account.Identify(ctx); err != nil {
			m.app.cfg.Logger.Debug("who is logged in is not known", "error", err)
			return func(*machine) {}
		}
		state := account.State(ctx)
		return func(m *machine) {
			if m.login.known.SignedIn && state.SignedIn {
				m.login.known = state
				m.showAccount()
			}
		}
	})
}

// showAccount puts what is known into the Snapshot.
func (m *machine) showAccount() {
	known, shown := m.login.known, &m.snap.Account
	state, problem, warning := LoggedOut, known.Problem, ""
	switch {
	case known == (cursor.AccountState{}):
		state = Unread
	case known.SignedIn:
		state, problem, warning = LoggedIn, nil, m.shortLived(known)
	case problem != nil && problem.Code == cursor.CodeLoginEnded:
		state = LoginEnded
	case problem != nil && problem.Code == cursor.CodeLoginRequired:
		problem = nil
	}
	if m.login.cancel != nil {
		state = LoginPending
	}
	shown.State, shown.Email, shown.Storage, shown.Warning = state, known.Email, known.Storage, warning
	shown.Deleting = problem != nil && problem.Code == cursor.CodeNotDeleted
	shown.Problem = kept(shown.Problem, problem)
	shown.Keyring = KeyringFine
	if p := known.Problem; p != nil && (p.Code == cursor.CodeUnreadable || p.Code == cursor.CodeNotSaved || shown.Deleting) {
		shown.Keyring = keyringState(p.Err, known.Storage)
	}
}

// shortLived says why a login ends with the program.
func (m *machine) shortLived(state cursor.AccountState) string {
	switch {
	case m.app.cfg.Demo:
		return ""
	case state.Problem != nil: // its text is for a log, not for a menu
		return "the login lasts until cursortray ends, because the " + state.Storage + ` cannot keep it; start a keyring, or set token_store = "file" to keep it in a private file`
	case state.Storage == "memory":
		return `the login lasts until cursortray ends, because token_store is "memory"`
	}
	return ""
}

// signIn begins an attempt and opens the page, unless one is under way.
func (m *machine) signIn(browser bool) {
	account := m.app.cfg.Account
	if account == nil || m.quitting || m.login.cancel != nil {
		return
	}
	attempt := account.StartLogin()
	work := m.work
	ctx, cancel := context.WithCancel(work)
	m.login.cancel, m.login.moot = cancel, false
	m.snap.Account.Login = LoginStatus{N: m.snap.Account.Login.N + 1, URL: attempt.URL}
	m.showAccount()
	m.app.cfg.Logger.Info("waiting for the login to be confirmed in the browser")
	m.spawn(ctx, func(ctx context.Context) func(*machine) {
		err := attempt.Wait(ctx)
		state := account.State(work) // also after a cancel
		return func(m *machine) {
			m.login.cancel()
			m.login.cancel = nil
			m.snap.Account.Login.URL = ""
			m.loginEnded(err, state)
		}
	})
	if browser {
		m.openLoginPage()
	}
}

func (m *machine) cancelSignIn() {
	if m.login.cancel != nil {
		m.login.cancel() // loginEnded follows
	}
}

// openLoginPage opens the page of the attempt under way. A failure to do so is
// no end of the attempt: the link can be copied.
func (m *machine) openLoginPage() {
	url, open := m.snap.Account.Login.URL, m.app.cfg.Open
	if url == "" {
		return
	}
	if open == nil {
		m.notify("No browser: copy the login link and open it yourself")
		return
	}
	m.show(open, url, func(m *machine, err error) {
		if m.snap.Account.Login.URL == url {
			m.app.cfg.Logger.Warn("the browser could not be opened", "error", err)
			m.notify("The browser did not open: copy the login link instead")
		}
	})
}

// loginEnded takes the result of an attempt with the browser or a key, and who
// is logged in after it.
func (m *machine) loginEnded(err error, state cursor.AccountState) {
	failure := chat.AsError(err)
	switch {
	case failure == nil, failure.Code == cursor.CodeNotSaved:
		if failure != nil {
			m.app.cfg.Logger.Warn("the login is not saved", "problem", failure.Message)
		}
		failure = nil
		m.app.cfg.Logger.Info("logged in to Cursor")
		m.notify("Logged in to Cursor")
	case failure.Kind == chat.Canceled:
		failure = nil
		m.snap.Account.Login.Cancelled = !m.login.moot
	default:
		m.app.cfg.Logger.Warn("the login failed", "code", failure.Code, "problem", failure.Message)
	}
	m.snap.Account.Login.Failure = failure
	m.accountRead(state)
}

// LoginWithKey logs in with an API key and returns when that is done. It is no
// Action because its caller waits for the result, and because nothing but the
// call should hold the key. A login that could not be stored is no error: the
// Snapshot has a warning about it.
func (a *App) LoginWithKey(ctx context.Context, key string) error {
	if a.cfg.Account == nil {
		return noAccount()
	}
	err := a.cfg.Account.LoginWithKey(ctx, key)
	a.told(ctx, func(m *machine, state cursor.AccountState) {
		if m.login.cancel != nil && state.SignedIn && failed(err) == nil {
			// Nobody waits for the browser any more: who does is answered with
			// the login that there is.
			m.login.moot = true
			m.cancelSignIn()
		}
		m.loginEnded(err, state)
	})
	if e := failed(err); e != nil {
		return e
	}
	return nil
}

// failed returns why there is no login: err, unless it is only not stored.
func failed(err error) *chat.Error {
	if e := chat.AsError(err); e != nil && e.Code != cursor.CodeNotSaved {
		return e
	}
	return nil
}

// Logout ends the login, and an attempt that is under way, and returns when
// that is done.
func (a *App) Logout(ctx context.Context) error {
	if a.cfg.Account == nil {
		return noAccount()
	}
	a.inbox.put((*machine).cancelSignIn)
	err := a.cfg.Account.Logout(ctx)
	a.told(ctx, func(m *machine, state cursor.AccountState) { m.loggedOut(err, state) })
	return err
}

// told tells the machine what was done to the account, and who is logged in
// since. It returns when Snapshots show it, so that who asked for it does not
// read of the account of before.
func (a *App) told(ctx context.Context, step func(*machine, cursor.AccountState)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
	defer cancel()
	state := a.cfg.Account.State(ctx)
	shown := make(chan struct{})
	a.inbox.put(func(m *machine) {
		step(m, state)
		a.hub.publish(m.snap)
		close(shown)
	})
	select {
	case <-shown:
	case <-a.inbox.over:
	case <-ctx.Done():
	}
}

func noAccount() *chat.Error {
	return chat.Errorf(chat.Unavailable, "this cursortray runs without a Cursor account")
}

// signOut is not an errand that a quit interrupts: who logs out and quits wants
// to be logged out.
func (m *machine) signOut() {
	if m.app.cfg.Account == nil || m.quitting {
		return
	}
	m.spawn(context.WithoutCancel(m.life), func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
		defer cancel()
		_ = m.app.Logout(ctx) // which tells the machine itself
		return func(*machine) {}
	})
}

func (m *machine) loggedOut(err error, state cursor.AccountState) {
	m.snap.Account.Login.Failure = nil
	switch e := chat.AsError(err); {
	case e == nil:
		m.app.cfg.Logger.Info("logged out of Cursor")
		m.notify("Logged out of Cursor")
	case e.Code == cursor.CodeNotSaved:
		m.app.cfg.Logger.Warn("logged out of Cursor, but something is still stored", "error", err)
		m.notify("Logged out until cursortray ends: " + e.Message)
	default:
		m.app.cfg.Logger.Warn("could not log out", "error", err)
		m.notify("Not logged out: " + e.Message)
	}
	m.accountRead(state)
}

const keyCommand = "cursortray login --api-key -"

// explainKey leads to the login with an API key: a menu cannot take one, and a
// command line must not hold one. The first page has a field for it.
func (m *machine) explainKey() {
	if m.app.cfg.Dashboard != nil && m.app.cfg.Open != nil && m.snap.Proxy.State == Running {
		m.openDashboard("start")
		return
	}
	m.copyText(func(context.Context) (string, error) { return keyCommand, nil },
		"Command copied: run it in a terminal, then paste the key",
		"Run in a terminal: "+keyCommand)
}
