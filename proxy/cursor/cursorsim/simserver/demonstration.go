package simserver

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"cursortray/proxy/cursor/cursorsim"
)

// The addresses of a simulation, which are the real ones: its client's proxy
// and certificate lead there. Where runs happen is asked by GetServerConfig.
const (
	WebURL = "https://cursor.com"
	APIURL = "https://api2.cursor.sh"
)

// Demonstration is a simulated Cursor inside of the program that talks to it,
// with somebody logged in. The program takes the same way as to the real one:
// the login's tokens, GetServerConfig at APIURL, the list of models, and runs
// at the agent host, over TLS and HTTP/2.
//
//	d, err := simserver.Demonstrate(ctx, logger)
//	defer d.Close()
//	account, err := cursor.NewAccount(cursor.AccountConfig{Config: cursor.Config{Client: &http.Client{Transport: d.Transport}, ...}, ...})
//	err = account.LoginWithKey(ctx, simserver.DefaultKey)
//	runs := agentrpc.NewTransport(d.Transport) // to be wrapped in a cursor.Transport
//
// A login through the browser is shown by giving the link to d.Confirm where
// the program would open one. A program that reads Tokens from a store of its
// own finds them in Tokens.
type Demonstration struct {
	*Sim
	Tokens Tokens
	// Transport leads to the simulation by its proxy and trusts its certificate.
	// Whoever needs another kind of transport clones it. Close closes its idle
	// connections; those of a clone are the cloner's.
	Transport *http.Transport
}

// Demonstrate starts one. It answers at the pace of a person who reads.
func Demonstrate(ctx context.Context, logger *slog.Logger) (*Demonstration, error) {
	s, err := Start(ctx, Options{Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("start the simulated Cursor: %w", err)
	}
	s.ChangeRunRules(func(rules *RunRules) { rules.Pace = cursorsim.NaturalPace })
	d := &Demonstration{Sim: s, Transport: s.NewTransport()}
	if err = s.Change(func(t *Settings) { t.LiveCycle = true }); err == nil {
		d.Tokens, err = s.NewLogin(DefaultUser, time.Hour)
	}
	if err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("start the simulated Cursor: %w", err)
	}
	return d, nil
}

// Close ends the simulation and the connections of Transport.
func (d *Demonstration) Close() error {
	d.Transport.CloseIdleConnections()
	return d.Sim.Close()
}

// NewTransport makes a transport that leads to the simulation. The caller
// closes its idle connections.
func (s *Sim) NewTransport() *http.Transport {
	transport, _ := s.newClient().Transport.(*http.Transport)
	return transport
}
