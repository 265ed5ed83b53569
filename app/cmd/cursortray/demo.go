package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"cursortray/app"
	"cursortray/keychain"
	"cursortray/proxy/choice"
	"cursortray/proxy/cursor/agentrpc"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// demoTime bounds what a demo does before it can begin.
const demoTime = 20 * time.Second

// simulate makes an instance that talks to a simulated Cursor inside of the
// program, by the same way as to the real one. Nothing of it reaches the user's
// account: its login lies in memory, and what would go to the browser goes to
// the simulation.
func (i *instance) simulate(s *setup, cfg *app.Config) error {
	ctx, cancel := context.WithTimeout(context.Background(), demoTime)
	defer cancel()
	var err error
	// The simulation ends with its Close, not with ctx.
	if i.demo, err = simserver.Demonstrate(context.WithoutCancel(ctx), nil); err != nil {
		return err
	}
	own := *s
	own.settings.DefaultModel = "" // it names none of the simulation's
	i.account, err = newAccountAt(&own, place{
		client: &http.Client{Transport: i.demo.Transport},
		runs:   newLate(func() (*agentrpc.Transport, error) { return agentrpc.NewTransport(i.demo.Transport), nil }),
		store:  keychain.Memory(),
	}, i.logger)
	if err == nil {
		if err = i.account.cursor.LoginWithKey(ctx, simserver.DefaultKey); err != nil {
			err = fmt.Errorf("log in to the simulated Cursor: %w", err)
		}
	}
	if err != nil {
		_ = i.close()
		return err
	}
	agent := newAgent(s, i.account, i.logger)
	i.account.loggedOut = agent.Forget
	backend := choice.New(choice.Config{
		Setting: "demo", Why: "nothing is real",
		Ways: []choice.Way{{ID: "demo", Name: "simulated Cursor", Backend: agent, Ready: i.account.cursor.Tokens().SignedIn}},
	})
	cfg.Backend, cfg.Chooser, cfg.Open = backend, backend, i.demo.Confirm
	return nil
}
