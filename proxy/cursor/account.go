package cursor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"cursortray/proxy/chat"
)

// saveGrace is how long a login that was confirmed may take to be stored after
// its user has given it up.
const saveGrace = 10 * time.Second

// identityTimeout bounds the question who is logged in.
const identityTimeout = 10 * time.Second

// AccountConfig is what an Account is made of.
type AccountConfig struct {
	Config
	Identity *Identity
	AgentURL string // the user's choice of the agent host; "" asks Cursor
	// Storage tells where the login lies, for people: "keychain", "file",
	// "memory". It must not wait.
	Storage  func() string
	CacheDir string // of what is kept of the account's models; "" keeps them in memory
	Catalog  CatalogConfig
	// ModelsChanged is called when ModelStatus would tell something new. It
	// must not block. May be nil.
	ModelsChanged func()
	// OnLogout is called when the login has ended, whoever ended it, also by a
	// login of somebody else, so that what still runs with it can be stopped. It
	// must not block and is called before Config.Changed. May be nil.
	OnLogout func()
}

// Account is the user's Cursor account as a whole. Its methods may be called
// at the same time; their errors are *chat.Error.
type Account struct {
	cfg    AccountConfig
	tokens *TokenSource
	client *http.Client
	host   *AgentHost
	models *ModelCache
	plan   planCache

	mu    sync.Mutex // guards the rest
	epoch int        // counts logins and logouts, so that answers that come late are dropped
	outs  int        // counts logouts that were asked for, which end attempts, too
	email string     // "" is not known
}

// AccountState is what is known about the account without a call to Cursor. It
// can be compared with ==.
type AccountState struct {
	SignedIn bool
	Email    string // "" is not known
	Plan     string // its name; "" is not known
	Storage  string // where the login lies or would lie
	// Problem says why nobody is logged in, or that a login that has ended is
	// still stored (CodeNotDeleted), or that the login will be gone
	// when the program ends (CodeNotSaved). That nobody has logged in yet
	// (CodeLoginRequired) is a problem, too.
	Problem *chat.Error
}

// NewAccount returns an account that has read nothing yet. Close it. The error
// is about AccountConfig.AgentURL.
func NewAccount(cfg AccountConfig) (*Account, error) {
	cfg.identity = cfg.Identity
	a := &Account{cfg: cfg}
	own := cfg.Config
	own.Changed, own.replaced = a.changed, a.replaced
	a.tokens = NewTokenSource(own)
	base := cfg.Client.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	a.client = &http.Client{
		Transport: &Transport{Base: base, Tokens: a.tokens, Identity: cfg.Identity, Hosts: cfg.Hosts},
		// A redirect would carry the token to a host that nobody checked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var err error
	if a.host, err = NewAgentHost(a.client, cfg.Hosts, a.tokens, cfg.AgentURL); err != nil {
		return nil, err
	}
	a.models = NewModelCache(ModelCacheConfig{
		Call: NewModelCall(a.client, cfg.Hosts), Dir: cfg.CacheDir,
		Catalog: cfg.Catalog, Changed: cfg.ModelsChanged, Logger: cfg.Logger,
		WhileLoggedIn: a.tokens.whileLoggedIn,
	})
	pages := &http.Client{Transport: base, CheckRedirect: a.client.CheckRedirect}
	a.plan.fetch = planClient{client: a.client, pages: pages, hosts: cfg.Hosts, tokens: a.tokens}.fetch
	return a, nil
}

// Close ends what runs for the login and waits for it.
func (a *Account) Close() error { return errors.Join(a.models.Close(), a.tokens.Close()) }

// Tokens returns the source of access tokens.
func (a *Account) Tokens() *TokenSource { return a.tokens }

// AgentHost returns what knows the host that runs the models.
func (a *Account) AgentHost() *AgentHost { return a.host }

// Client returns a client for calls to Cursor's API with the login. It has no
// time-out of its own.
func (a *Account) Client() *http.Client { return a.client }

// Attempt is one attempt to log in with the browser.
type Attempt struct {
	URL     string // the page to open; it holds no secret
	account *Account
	login   *Login
	outs    int // when it began
}

// StartLogin begins an attempt. It makes no call; the user has to open the URL
// and the caller to Wait.
func (a *Account) StartLogin() *Attempt {
	l := StartLogin(a.cfg.Config)
	return &Attempt{URL: l.URL, account: a, login: l, outs: a.logouts()}
}

// Wait returns when the user has confirmed the login in the browser and it is
// stored. The end of ctx cancels the attempt, unless it has been confirmed: then
// it comes too late, and the login is stored. An error with the code
// CodeNotSaved means that the login is good, but only until the program ends.
func (t *Attempt) Wait(ctx context.Context) error {
	c, err := t.login.Wait(ctx)
	if err != nil {
		return err
	}
	return t.account.signIn(ctx, c, t.outs)
}

// Clock returns the time on Cursor's clock, in whole seconds; zero if Cursor
// does not tell.
func (a *Account) Clock(ctx context.Context) (time.Time, error) {
	now, err := newAuthClient(a.cfg.Config).clock(ctx)
	var unreadable *time.ParseError
	switch {
	case errors.As(err, &unreadable):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, callError(err)
	}
	return now, nil
}

// LoginWithKey logs in with an API key, or an access token, that the user has
// pasted. CodeNotSaved is as for Attempt.Wait.
func (a *Account) LoginWithKey(ctx context.Context, key string) error {
	outs := a.logouts()
	c, err := LoginWithKey(ctx, a.cfg.Config, key)
	if err != nil {
		return err
	}
	return a.signIn(ctx, c, outs)
}

// signIn stores c, unless somebody has asked for a logout since outs was read.
// The end of ctx cuts nothing off: Cursor counts the login as done.
func (a *Account) signIn(ctx context.Context, c Credentials, outs int) error {
	saving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(saveGrace, cancel) })()
	err := a.tokens.signIn(saving, c, func() bool { return a.logouts() == outs })
	if fault := a.models.Keep(subjectOf(c.access)); fault != nil {
		a.cfg.logger().Warn("the list of models of another account could not be deleted", "error", fault)
	}
	return err
}

func (a *Account) logouts() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.outs
}

// Logout removes the login and all that is kept of the account. An error with
// the code CodeNotSaved means that the program has forgotten the login, but
// something of it is still stored; with any other error the login is as it was.
func (a *Account) Logout(ctx context.Context) error {
	a.mu.Lock()
	a.outs++
	a.mu.Unlock()
	// The models go first: whoever ends the program now still has a login.
	_ = a.models.Forget()
	signOut := a.tokens.SignOut(ctx)
	if signOut != nil && notSaved(signOut) == nil {
		return signOut
	}
	// A list that was asked for meanwhile goes, too.
	if err := a.models.Forget(); err != nil && signOut == nil {
		return &chat.Error{Kind: chat.Unavailable, Code: CodeNotSaved, Err: err,
			Message: "you are logged out, but the stored list of models cannot be deleted: " + err.Error()}
	}
	return signOut
}

// Reload forgets what was read of the login, because another process may have
// logged in or out, or the user unlocked the store.
func (a *Account) Reload() {
	a.tokens.Reload()
	a.forget()
}

// State returns what is known. The first call reads the store, which may take
// until the user has unlocked it.
func (a *Account) State(ctx context.Context) AccountState {
	err := a.tokens.SignedIn(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		return AccountState{Storage: a.storage(), Problem: chat.AsError(err)}
	}
	return AccountState{SignedIn: true, Email: a.email, Plan: a.plan.current().Name, Storage: a.storage(), Problem: a.tokens.unpaid()}
}

func (a *Account) storage() string {
	if a.cfg.Storage == nil {
		return ""
	}
	return a.cfg.Storage()
}

// Catalog returns the account's models. It waits for Cursor only if there is no
// list yet; an old one is given out and renewed behind that.
func (a *Account) Catalog(ctx context.Context) (*Catalog, error) {
	return a.withSubject(ctx, a.models.Catalog)
}

// RefreshModels fetches the list and waits for it. If that fails the old list
// stays.
func (a *Account) RefreshModels(ctx context.Context) (*Catalog, error) {
	return a.withSubject(ctx, a.models.Refresh)
}

// ModelStatus tells how old the list is and what is wrong with it.
func (a *Account) ModelStatus() ModelStatus { return a.models.Status() }

// withSubject tells whose list it is. Its error is that of a missing login.
func (a *Account) withSubject(ctx context.Context, get func(context.Context, string) (*Catalog, error)) (*Catalog, error) {
	token, err := a.tokens.token(ctx, need{old: true}) // an old list needs no network
	if err == nil && token == "" {
		token, err = a.tokens.Token(ctx)
	}
	if err != nil {
		return nil, err
	}
	return get(ctx, subjectOf(token))
}

// Plan returns figures about the plan that are not older than maxAge. With an
// error it returns the last ones, if there are any, however old: show their
// age. 0 asks Cursor at once, for a user who wants it; else failures make the
// next calls ever rarer.
func (a *Account) Plan(ctx context.Context, maxAge time.Duration) (Plan, error) {
	return a.plan.get(ctx, maxAge)
}

func (a *Account) nextPlanTry() time.Time { return a.plan.nextTry() }

// Identify asks Cursor who is logged in, unless that is known.
func (a *Account) Identify(ctx context.Context) error {
	if err := a.tokens.SignedIn(ctx); err != nil { // it may be read now, and be somebody else's
		return err
	}
	a.mu.Lock()
	epoch, known := a.epoch, a.email != ""
	a.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	var me struct {
		Email string `json:"email"`
	}
	if err := call(ctx, a.client, a.cfg.Hosts.API()+"/aiserver.v1.DashboardService/GetMe", struct{}{}, &me); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.epoch == epoch {
		a.email = mailAddress(me.Email)
	}
	return nil
}

// replaced is called by the TokenSource when somebody else is logged in than
// before, without a logout in between.
func (a *Account) replaced() {
	a.changed(false)
	if a.cfg.Changed != nil {
		a.cfg.Changed(true)
	}
}

// changed is called by the TokenSource, which may hold its locks.
func (a *Account) changed(signedIn bool) {
	a.forget()
	if !signedIn && a.cfg.OnLogout != nil {
		a.cfg.OnLogout()
	}
	if a.cfg.Changed != nil {
		a.cfg.Changed(signedIn)
	}
}

// forget drops what is known of the person who was logged in.
func (a *Account) forget() {
	a.host.Forget()
	a.plan.forget()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.epoch++
	a.email = ""
}

// mailAddress returns s if it can be shown as an address, else "".
func mailAddress(s string) string {
	if len(s) > 254 || !utf8.ValidString(s) || !strings.Contains(s, "@") || strings.ContainsFunc(s, unicode.IsControl) {
		return ""
	}
	return s
}

func notSaved(err error) *chat.Error {
	var e *chat.Error
	if errors.As(err, &e) && e.Code == CodeNotSaved {
		return e
	}
	return nil
}
