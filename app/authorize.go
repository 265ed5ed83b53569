package app

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"cursortray/proxy"
	"cursortray/proxy/chat"
)

// KeyOwners knows the local keys of editors that have one of their own. It
// answers from memory once it has read its store, and compares in constant
// time. Errors are *chat.Error.
type KeyOwners interface {
	// Owner returns the id of the editor that key belongs to, and whether it is
	// switched off; ok is false when the key is nobody's.
	Owner(ctx context.Context, key string) (editor string, off, ok bool, err error)
}

// authorize compares digests, so that neither content nor length of the key
// shows in the time it takes.
func (a *App) authorize(ctx context.Context, key string) (proxy.Caller, bool, error) {
	want, mainErr := a.cfg.Keys.Key(ctx)
	if mainErr == nil && want == "" {
		mainErr = chat.Errorf(chat.Internal, "the local API key is empty; make one with `cursortray key --new`")
	}
	if mainErr == nil {
		if a.keyless.Load() { // somebody has unlocked the keychain
			a.inbox.put(func(m *machine) { m.keyRead(nil) })
		}
		got, need := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(want))
		if subtle.ConstantTimeCompare(got[:], need[:]) == 1 {
			return proxy.Caller{}, true, nil
		}
	}
	if a.cfg.KeyOwners == nil {
		return proxy.Caller{}, false, mainErr
	}
	editor, off, ok, err := a.cfg.KeyOwners.Owner(ctx, key)
	switch {
	case ok:
		return proxy.Caller{Editor: editor, Off: off}, true, nil
	case mainErr != nil:
		return proxy.Caller{}, false, mainErr
	default:
		return proxy.Caller{}, false, err
	}
}
