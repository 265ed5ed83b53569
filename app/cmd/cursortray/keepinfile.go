package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"cursortray/app/control"
	"cursortray/app/localkey"
	"cursortray/keychain"
)

func fileStore(s *setup) keychain.Store { return keychain.File(filepath.Join(s.dirs.State, "secrets")) }

// keepInFile moves the secrets of the instance to private files, for good, after
// the user has agreed to that. Without a keychain they are in memory only; where
// there is one, but it cannot be used, what is in there stays.
func (i *instance) keepInFile(ctx context.Context, s *setup, store *keychain.Movable) error {
	before := store.Behind()
	if before.Kind() == "file" {
		return nil
	}
	store.MoveTo(fileStore(s))
	err := errors.Join(i.account.cursor.Tokens().Moved(ctx), i.keys.Moved(ctx), i.editors.Moved(ctx))
	if err == nil {
		err = s.file.Set("token_store", "file")
	}
	if err != nil {
		store.MoveTo(before)
	}
	return err
}

// keepInFile does the same for the running instance, or without one.
func (p *process) keepInFile(ctx context.Context, s *setup, client *control.Client) error {
	err := client.KeepInFile(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		err = p.keepInFileHere(ctx, s)
	}
	if err == nil && p.env("CURSORTRAY_TOKEN_STORE") != "" {
		fmt.Fprintln(p.stderr, "cursortray: warning: CURSORTRAY_TOKEN_STORE is set and wins over the setting token_store = \"file\"")
	}
	return err
}

func (p *process) keepInFileHere(ctx context.Context, s *setup) error {
	if s.settings.TokenStore == "file" {
		return nil
	}
	from, to := newStore(s), fileStore(s)
	for _, name := range localkey.Entries() {
		value, err := from.Get(ctx, name)
		switch {
		case err == nil:
			err = to.Set(ctx, name, value)
		case errors.Is(err, keychain.ErrNotFound), errors.Is(err, keychain.ErrUnavailable):
			err = nil
		default:
			fmt.Fprintf(p.stderr, "cursortray: warning: editors will need a new local key, because the old one cannot be read: %v\n", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if err := s.file.Set("token_store", "file"); err != nil {
		return err
	}
	s.settings.TokenStore = "file"
	return nil
}
