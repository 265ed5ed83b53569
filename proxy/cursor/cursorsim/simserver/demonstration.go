package simserver

import (
	"context"
	"encoding/json"
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

// demoModels are the models of a demonstration, in the form of Catalog. Their
// names say that they are not real.
const demoModels = `{
"available": {"models": [
  {"name": "demo-large", "clientDisplayName": "Demo Large, simulated", "serverModelName": "demo-large", "defaultOn": true,
   "supportsAgent": true, "supportsNonMaxMode": true, "supportsImages": true, "supportsThinking": true, "contextTokenLimit": 200000},
  {"name": "demo-small", "clientDisplayName": "Demo Small, simulated", "serverModelName": "demo-small", "defaultOn": true,
   "supportsAgent": true, "supportsNonMaxMode": true, "contextTokenLimit": 32000}
]},
"usable": {"models": [
  {"modelId": "demo-large", "displayModelId": "demo-large", "displayName": "Demo Large, simulated", "displayNameShort": "Demo Large", "thinkingDetails": {}},
  {"modelId": "demo-small", "displayModelId": "demo-small", "displayName": "Demo Small, simulated", "displayNameShort": "Demo Small"}
]},
"default": {"model": {"modelId": "demo-large", "displayModelId": "demo-large", "displayName": "Demo Large, simulated", "displayNameShort": "Demo Large"}}
}`

// Demonstrate starts one. It answers at the pace of a person who reads.
func Demonstrate(ctx context.Context, logger *slog.Logger) (*Demonstration, error) {
	s, err := Start(ctx, Options{Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("start the simulated Cursor: %w", err)
	}
	s.ChangeRunRules(func(rules *RunRules) { rules.Pace = cursorsim.NaturalPace })
	d := &Demonstration{Sim: s, Transport: s.NewTransport()}
	if err := d.prepare(); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("start the simulated Cursor: %w", err)
	}
	return d, nil
}

func (d *Demonstration) prepare() error {
	var models Catalog
	if err := json.Unmarshal([]byte(demoModels), &models); err != nil {
		return err
	}
	if err := d.SetCatalog(models); err != nil {
		return err
	}
	if err := d.AddAccount(Account{User: DefaultUser, Email: "demo@example.com", Name: "Demo (simulated)"}); err != nil {
		return err
	}
	if err := d.Change(func(t *Settings) { t.LiveCycle = true }); err != nil {
		return err
	}
	var err error
	d.Tokens, err = d.NewLogin(DefaultUser, time.Hour)
	return err
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
