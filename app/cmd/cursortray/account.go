package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/pkg/browser"

	"cursortray/assets"
	"cursortray/keychain"
	"cursortray/proxy/cursor"
)

// account is the Cursor account and what hangs on it.
type account struct {
	cursor  *cursor.Account
	store   keychain.Store
	client  *http.Client // without the login
	hosts   cursor.Hosts
	prices  *cursor.Prices
	changed chan struct{} // has an element after a login or logout
	// modelsChanged has an element after a new list of models.
	modelsChanged chan struct{}
}

// newAccount makes the account, which reads nothing yet. Its store is shared
// with the local key: two of one keychain would confuse each other's prompts.
func (p *process) newAccount(s *setup, store keychain.Store, logger *slog.Logger) (*account, error) {
	hosts, err := cursor.ParseHosts(p.env("CURSOR_API_BASE_URL"), p.env("CURSOR_WEBSITE_URL"))
	if err != nil {
		return nil, err
	}
	client, err := newHTTPClient(p.env)
	if err != nil {
		return nil, err
	}
	identity, err := cursor.NewIdentity(context.Background(), cursor.IdentityConfig{
		Version: s.settings.ClientVersion, Versions: cliBuilds(p.env), Share: s.settings.Telemetry,
	})
	if err != nil {
		return nil, fmt.Errorf("client_version: %w", err)
	}
	a := &account{store: store, client: client, hosts: hosts, changed: make(chan struct{}, 1), modelsChanged: make(chan struct{}, 1)}
	if a.prices, err = newPrices(s, logger); err != nil {
		return nil, err
	}
	a.cursor, err = cursor.NewAccount(cursor.AccountConfig{
		Config: cursor.Config{
			Client:   client,
			Hosts:    hosts,
			Store:    store,
			LockFile: filepath.Join(s.dirs.State, "login.lock"),
			Changed:  func(bool) { signal1(a.changed) },
			Logger:   logger,
		},
		Identity:      identity,
		Storage:       store.Kind(),
		CacheDir:      filepath.Join(s.dirs.Cache, "account"),
		Catalog:       cursor.CatalogConfig{Prices: a.prices},
		ModelsChanged: func() { signal1(a.modelsChanged) },
	})
	return a, err
}

// newPrices returns the table of prices that came with the program, or a newer
// one that the user has put beside the settings.
func newPrices(s *setup, logger *slog.Logger) (*cursor.Prices, error) {
	own, err := cursor.ParsePrices(assets.Prices())
	if err != nil {
		return nil, fmt.Errorf("the built-in table of prices: %w", err)
	}
	prices, err := own.OrFile(filepath.Join(s.dirs.Config, "prices.json"))
	if err != nil {
		logger.Warn("the built-in prices are used", "reason", err)
	}
	return prices, nil
}

// signal1 puts an element into a channel that holds one.
func signal1(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// close ends what runs for the account; there may be none.
func (a *account) close() error {
	if a == nil {
		return nil
	}
	return a.cursor.Close()
}

// newHTTPClient returns the one client of the program: HTTP/2, the proxy of
// HTTPS_PROXY and NO_PROXY, and the certificates of the system. Go reads
// SSL_CERT_FILE on some systems only; users behind a company proxy need it on
// all of them.
func newHTTPClient(env func(string) string) (*http.Client, error) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the HTTP transport is not Go's own")
	}
	transport = transport.Clone()
	file := env("SSL_CERT_FILE")
	if file == "" {
		return &http.Client{Transport: transport}, nil
	}
	return &http.Client{Transport: &lateRoots{transport, sync.OnceValue(func() error {
		roots, err := rootsWith(file)
		if err == nil {
			transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		}
		return err
	})}}, nil
}

// lateRoots is a transport that reads certificates at its first call: that
// takes longer than all the rest of a start, and many starts call nobody.
type lateRoots struct {
	*http.Transport
	ready func() error
}

// RoundTrip implements http.RoundTripper.
func (t *lateRoots) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.ready(); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return t.Transport.RoundTrip(req)
}

// rootsWith returns the system's certificates and those in the file.
func rootsWith(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("SSL_CERT_FILE: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("SSL_CERT_FILE: there is no certificate in the file")
	}
	return roots, nil
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
