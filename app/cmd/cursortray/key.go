package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cursortray/app/control"
)

// keyTime leaves room for a user who has to unlock the keychain.
const keyTime = 90 * time.Second

type keyCmd struct {
	New bool `help:"Make a new key first. The old one stops working at once, also in the running instance."`
}

func (keyCmd) Help() string {
	return "Standard output gets the key and nothing else."
}

func (c *keyCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	ask := client.Key
	if c.New {
		ask = client.NewKey
	}
	key, err := ask(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		key, err = c.fromStore(ctx, p, s)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, key)
	return err
}

// fromStore does without an instance, if there is a store that lasts.
func (c *keyCmd) fromStore(ctx context.Context, p *process, s *setup) (string, error) {
	keys := newKeys(s, newStore(s), p.briefLogger(s))
	defer keys.Close()
	get := keys.Key
	if c.New {
		get = keys.NewKey
	}
	key, err := get(ctx)
	if err == nil && keys.ForThisRun() {
		return "", errors.New("there is no running instance, and no store that could keep a key for the next one; cursortray doctor says more")
	}
	return key, err
}
