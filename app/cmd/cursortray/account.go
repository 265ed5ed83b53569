package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"

	"github.com/pkg/browser"

	"cursortray/app"
	"cursortray/assets"
	"cursortray/keychain"
	"cursortray/proxy/cursor"
)

// account is the Cursor account and what hangs on it.
type account struct {
	cursor   *cursor.Account
	identity *cursor.Identity
	prices   *cursor.LatePrices
	standard *app.DefaultModel // of requests that name no model
	changed  chan struct{}     // has an element after a login or logout
	stored   chan struct{}     // has an element after the store could not keep a login, or can again
	// modelsChanged has an element after a new list of models.
	modelsChanged chan struct{}
	// loggedOut is called when the login has ended; it is set before anything
	// runs.
	loggedOut func()
	place
}

// place is where an account is: at Cursor, or at a simulation of it.
type place struct {
	client *http.Client   // without the login
	runs   *lateTransport // for runs, without the login
	hosts  cursor.Hosts
	store  keychain.Store
	others []cursor.Store // of other settings, which a logout clears
	dirs   accountDirs
}

// accountDirs are the paths of what an account keeps. Without them it keeps
// that in memory.
type accountDirs struct {
	lock          string // a file
	cache         string
	conversations string
	builds        string // of Cursor's CLI, which tell a good client version
}

// newAccount makes the account, which reads nothing yet. Its store is shared
// with the local key: two of one keychain would confuse each other's prompts.
func (p *process) newAccount(s *setup, store keychain.Store, logger *slog.Logger) (*account, error) {
	hosts, err := cursor.ParseHosts(p.env("CURSOR_API_BASE_URL"), p.env("CURSOR_WEBSITE_URL"))
	if err != nil {
		return nil, err
	}
	calls, runs := newTransports(p.env("SSL_CERT_FILE"))
	return newAccountAt(s, place{
		client: &http.Client{Transport: calls}, runs: runs, hosts: hosts, store: store, others: otherStores(s, store),
		dirs: accountDirs{
			lock:          filepath.Join(s.dirs.State, "login.lock"),
			cache:         filepath.Join(s.dirs.Cache, "account"),
			conversations: filepath.Join(s.dirs.Cache, "conversations"),
			builds:        cliBuilds(p.env),
		},
	}, logger)
}

func newAccountAt(s *setup, at place, logger *slog.Logger) (*account, error) {
	identity, err := cursor.NewIdentity(context.Background(), cursor.IdentityConfig{
		Version: s.settings.ClientVersion, Versions: at.dirs.builds, Share: s.settings.Telemetry,
	})
	if err != nil {
		return nil, fmt.Errorf("client_version: %w", err)
	}
	a := &account{
		place: at, identity: identity, prices: newPrices(s, logger), loggedOut: func() {},
		standard: app.NewDefaultModel(s.settings.DefaultModel),
		changed:  make(chan struct{}, 1), stored: make(chan struct{}, 1), modelsChanged: make(chan struct{}, 1),
	}
	a.cursor, err = cursor.NewAccount(cursor.AccountConfig{
		Config: cursor.Config{
			Client:      at.client,
			Hosts:       at.hosts,
			Store:       at.store,
			LockFile:    at.dirs.lock,
			OtherStores: at.others,
			Changed:     func(bool) { signal1(a.changed) },
			Stored:      func() { signal1(a.stored) },
			Logger:      logger,
		},
		Identity:      identity,
		AgentURL:      s.settings.Agent.URL,
		Storage:       at.store.Kind,
		CacheDir:      at.dirs.cache,
		Catalog:       cursor.CatalogConfig{Prices: a.prices, Default: a.standard.ID},
		ModelsChanged: func() { signal1(a.modelsChanged) },
		OnLogout:      func() { a.loggedOut() },
	})
	if err != nil {
		return nil, fmt.Errorf("agent_url: %w", err)
	}
	return a, nil
}

// newPrices returns the table of prices that came with the program, or a newer
// one that the user has put beside the settings. Reading it is left to its first
// use.
func newPrices(s *setup, logger *slog.Logger) *cursor.LatePrices {
	return cursor.NewLatePrices(func() *cursor.Prices {
		own, err := cursor.ParsePrices(assets.Prices())
		if err != nil { // tests read it
			logger.Error("the built-in table of prices cannot be read", "reason", err)
			return new(cursor.Prices)
		}
		prices, err := own.OrFile(filepath.Join(s.dirs.Config, "prices.json"))
		if err != nil {
			logger.Warn("the built-in prices are used", "reason", err)
		}
		return prices
	})
}

// signal1 puts an element into a channel that holds one.
func signal1(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// wake comes after a sleep of the machine: connections from before it are dead,
// and the login may have run out.
func (a *account) wake(ctx context.Context) {
	a.client.CloseIdleConnections()
	a.runs.CloseIdleConnections()
	_, _ = a.cursor.Tokens().Token(ctx) // a request would find the same error
}

// close ends what runs for the account; there may be none.
func (a *account) close() error {
	if a == nil {
		return nil
	}
	err := a.cursor.Close()
	a.client.CloseIdleConnections()
	a.runs.CloseIdleConnections()
	return err
}

// cliBuilds is the folder in which the installer of Cursor's CLI keeps its
// builds.
func cliBuilds(env func(string) string) string {
	base := env("LOCALAPPDATA") // on Windows
	if base == "" {
		base = filepath.Join(env("HOME"), ".local", "share")
	}
	return filepath.Join(base, "cursor-agent", "versions")
}

// openPage shows a page in the browser. The program that does it cannot be
// stopped, and some stay until the browser is closed; ctx ends the waiting.
func openPage(ctx context.Context, url string) error {
	done := make(chan error, 1)
	go func() { done <- browser.OpenURL(url) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// silenceBrowser keeps what browsers print out of our output: it is noise, and
// addresses of pages may be in it.
func silenceBrowser() { browser.Stdout, browser.Stderr = io.Discard, io.Discard }
