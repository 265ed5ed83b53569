// Package app is the running program without its faces: the one mutable state,
// the proxy that it starts and stops, the back-end that it watches. Faces (the
// tray, the control socket) read Snapshots and send Actions.
//
// It draws nothing, reads no settings and keeps no secrets; main hands it all
// of that. Every goroutine belongs to Run, which returns after the last one.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"cursortray/proxy"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// Keys gives the local API key that clients of the proxy must send. Key is
// called for every request and from several goroutines, so an implementation
// answers from memory once it has read its store. Errors are *chat.Error.
type Keys interface {
	// Key returns the key, made at first use. It waits as long as ctx lets it,
	// for example for the user to unlock a keychain.
	Key(ctx context.Context) (string, error)
	// NewKey replaces the key; the old one stops working at once.
	NewKey(ctx context.Context) (string, error)
	// Reload makes the next Key ask again at once if the last one failed: the
	// user may have unlocked the keychain.
	Reload()
}

// Config is what an App is made of. Main fills it.
type Config struct {
	// Addr is the HOST:PORT of the proxy. Port 0 picks a free port at the
	// first start, which is then kept as long as the App runs.
	Addr string
	// AllowRemote permits an Addr that other machines can reach.
	AllowRemote bool
	// FailFast makes Run return the first failure to listen or to serve, for
	// use without a face that could show it.
	FailFast bool
	// Proxy configures each server that is started. Backend, Authorize, Health
	// and Activity are set by the App.
	Proxy proxy.Config

	// Backend answers the requests. Run closes it at its end.
	Backend chat.Backend
	// Chooser decides between the ways that Backend has; nil: there is one.
	Chooser Chooser
	// SaveBackend stores the user's choice of the back-end for the next start;
	// nil: there is nothing to choose.
	SaveBackend func(setting string) error
	Demo        bool // nothing is real

	// Account is the Cursor account; nil: there is none. AccountChanged has an
	// element after somebody was logged in or out.
	Account        Account
	AccountChanged <-chan struct{}
	// LoginStored has an element after the store of secrets could not keep or
	// delete a login, or can again.
	LoginStored <-chan struct{}
	// ModelsChanged has an element after a new list of models has come.
	ModelsChanged <-chan struct{}
	Prices        cursor.PriceTable // nil: there is none
	// DefaultModel is what the user has chosen for requests that name no model;
	// nil: there is no choice. SaveDefaultModel stores it for the next start; nil:
	// nothing does.
	DefaultModel     *DefaultModel
	SaveDefaultModel func(id string) error
	Costs            Costs // nil: there are none
	// Ledger keeps what requests used; nil: nothing does. Guard refuses requests
	// at the user's limits; nil: there are none. Main closes them after Run.
	Ledger Ledger
	Guard  Guard

	Keys      Keys
	KeyOwners KeyOwners // nil: no editor has a key of its own
	Editors   Editors   // sets editors up; nil: that is not possible
	// Dashboard makes links to the pages that Proxy.Pages serves; nil: there are
	// none.
	Dashboard Dashboard
	// Autostart is the entry that starts the program at login; nil: there is no
	// system for that.
	Autostart Autostart
	// Recorder writes down the next request when asked to; nil: nothing does.
	Recorder Recorder
	// LogFile is where the log lies; "" where it goes elsewhere. OpenFile shows a
	// file in the desktop's program for it, as Open does with pages.
	LogFile string
	// Notifications are the kinds of notifications to show, separated by commas.
	Notifications string
	OpenFile      func(ctx context.Context, path string) error
	// Wake is called after a sleep of the machine. It drops connections that have
	// died and renews the login if that is due, and may take as long as ctx. nil:
	// there is neither.
	Wake func(ctx context.Context)
	// Now is the time of the day; nil is time.Now.
	Now func() time.Time
	// KeepInFile moves the secrets to private files, for good. nil: they cannot
	// be moved.
	KeepInFile func(ctx context.Context) error
	// Open shows a page in the browser. It may return long before or after the
	// user sees it. nil: there is no browser.
	Open func(ctx context.Context, url string) error
	// SaveSetting stores a setting for the next start; nil: there is no file of
	// settings. SettingsFile is its path, and StartProxy what it says about that.
	SaveSetting  func(key string, value any) error
	SettingsFile string
	StartProxy   bool
	Copy         func(ctx context.Context, text string) error // puts text on the clipboard; nil: there is none
	// Listen opens the port; nil is net.Listen for tcp. A test's hook.
	Listen  func(addr string) (net.Listener, error)
	Logger  *slog.Logger // nil is silence
	Version string
}

// App is the program's state and what moves it. Make one with New.
type App struct {
	cfg     Config
	inbox   inbox
	hub     hub
	started atomic.Bool
	active  activity
	// troubled tells the request path, without a lock, that a problem of the
	// back-end is on show, so that a success is worth reporting.
	troubled atomic.Bool
	// keyless tells it that the menu says that the local key cannot be read.
	keyless atomic.Bool
	// catalog is the account's list of models, for the request path.
	catalog atomic.Pointer[cursor.Catalog]
}

// New returns an App that has started nothing yet.
func New(cfg Config) *App {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Listen == nil {
		cfg.Listen = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &App{cfg: cfg, inbox: newInbox()}
	account := NoAccount
	if cfg.Account != nil {
		account = Unread
	}
	a.hub.publish(Snapshot{
		Account:       AccountStatus{State: account},
		Version:       cfg.Version,
		Demo:          cfg.Demo,
		Models:        ModelsStatus{Chosen: cfg.DefaultModel.ID()},
		LogFile:       cfg.LogFile,
		Notifications: cfg.Notifications,
		Proxy:         ProxyStatus{Addr: cfg.Addr, BaseURL: baseURL(cfg.Addr)},
		Backend:       backendStatus(cfg),

		Preferences: Preferences{Known: cfg.SaveSetting != nil, StartProxy: cfg.StartProxy},
	})
	return a
}

// Run starts the proxy and serves Actions until ctx ends or Quit is done, and
// returns when everything it started is gone. The end of ctx is a first Quit:
// running answers get the proxy's grace, and a (further) Quit cuts them. A
// busy port is a state, not an error, unless Config.FailFast is set. An App
// runs once.
func (a *App) Run(ctx context.Context) error {
	if !a.started.CompareAndSwap(false, true) {
		return errors.New("this App has run already")
	}
	// What Run starts outlives ctx by the grace of running answers.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	m := newMachine(a, life)
	m.begin()
	a.turn(ctx, m)
	end()
	m.tasks.Wait()
	closeErr := a.cfg.Backend.Close()
	a.inbox.close()
	a.hub.close()
	return errors.Join(m.err, closeErr)
}

// turn is the one goroutine that touches the machine.
func (a *App) turn(ctx context.Context, m *machine) {
	defer m.stopTimers()
	done := ctx.Done()
	for {
		m.showChoice()
		m.dashboardWaits()
		a.troubled.Store(m.snap.Backend.Problem != nil)
		a.keyless.Store(m.snap.KeyProblem != "")
		a.hub.publish(m.snap)
		if m.over() {
			return
		}
		select {
		case <-a.inbox.wake:
			for _, step := range a.inbox.take() {
				step(m)
			}
		case <-done:
			done = nil
			m.quit()
		case <-m.throttle.C:
			m.countActive()
		case <-m.recheck.C:
			m.check()
		case <-m.noticeEnd.C:
			m.snap.Notice.Text = ""
		case <-a.cfg.AccountChanged:
			m.accountChanged()
		case <-a.cfg.LoginStored:
			m.readAccount()
		case <-a.cfg.ModelsChanged:
			m.loadModels(false)
		case <-m.ages.C:
			m.showAges()
		case <-m.guardLook.C:
			m.showGuard()
		case <-m.clock.C:
			m.lookAtClock()
		}
	}
}

// Do asks for an action and returns at once. Actions are done in order; those
// from before Run wait for it, those from after its end are dropped.
func (a *App) Do(action Action) {
	a.inbox.put(func(m *machine) { m.do(action) })
}

// Snapshot returns the present state.
func (a *App) Snapshot() Snapshot { return a.hub.get() }

// Watch returns a channel that holds the present state and then each newer
// one. A slow reader gets the latest and misses those between. The channel is
// closed when ctx ends or Run has returned.
func (a *App) Watch(ctx context.Context) <-chan Snapshot { return a.hub.watch(ctx) }

// activity carries the number of running requests from the proxy's goroutines
// to the machine, at most one message per interval.
type activity struct {
	n      atomic.Int64
	posted atomic.Bool // a message is on its way, or the machine will look again by itself
}

const activityInterval = 200 * time.Millisecond

func (a *App) setActive(n int) {
	a.active.n.Store(int64(n))
	if a.active.posted.CompareAndSwap(false, true) {
		a.inbox.put((*machine).countActive)
	}
}
