// Package localkey keeps the keys that clients of the local proxy send: the main
// one, made at the first start, and one for each editor that was set up, made
// then. Each is read from the store once per start and replaced on demand.
//
// It does not choose the store. Reading it, which may wait for a user to unlock
// a keychain, is done in one goroutine at a time, which Close ends and waits
// for; all callers share its result.
package localkey

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"sync"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

const (
	// entry is the key's name in the store.
	entry = "local-key"
	// prefix tells a person what the text is when it turns up somewhere.
	prefix = "ct-"
)

// Config is what Keys is made of.
type Config struct {
	Fixed  string         // the key from the settings; the store is then not used
	Store  keychain.Store // where the key lies otherwise
	Logger *slog.Logger
}

// Keys gives the local key. All methods may be called from several goroutines.
type Keys struct {
	cfg     Config
	main    loader[mainKey]
	changes sync.Mutex // serializes NewKey
}

// mainKey is the key and whether it is missing in the store: then it ends with
// this run.
type mainKey struct {
	key      string
	unstored bool
}

// New returns Keys that has read nothing yet.
func New(cfg Config) *Keys {
	k := &Keys{cfg: cfg}
	k.main.fetch = k.fetch
	if cfg.Fixed != "" {
		k.main.set(mainKey{key: cfg.Fixed})
	}
	return k
}

// Key returns the key, and makes one if the store has none. It waits for the
// store as long as ctx lets it. Errors are *chat.Error.
func (k *Keys) Key(ctx context.Context) (string, error) {
	known, err := k.main.get(ctx)
	if err != nil {
		return "", err
	}
	return known.key, nil
}

// fetch returns the stored key, or a new one and whether it could be stored.
// A store that is there but locked gives an error and no key: the editors have
// the right key already, and a second one would only look like their fault.
func (k *Keys) fetch(ctx context.Context) (mainKey, *chat.Error) {
	value, getErr := k.cfg.Store.Get(ctx, entry)
	switch {
	case getErr == nil && len(value) > 0:
		return mainKey{key: string(value)}, nil
	case getErr == nil || errors.Is(getErr, keychain.ErrNotFound):
	case errors.Is(getErr, keychain.ErrCorrupt):
		k.cfg.Logger.Warn("the stored local key is damaged; a new one takes its place, clients have to be given it", "store", k.cfg.Store.Kind())
	case errors.Is(getErr, keychain.ErrUnavailable):
		return k.forThisRun(getErr), nil
	default:
		return mainKey{}, unreadable(getErr)
	}
	key := generate(prefix)
	if setErr := k.cfg.Store.Set(ctx, entry, []byte(key)); errors.Is(setErr, keychain.ErrUnavailable) {
		return k.forThisRun(setErr), nil
	} else if setErr != nil {
		return mainKey{}, unreadable(setErr)
	}
	if k.cfg.Store.Kind() == "memory" {
		k.cfg.Logger.Warn(k.cfg.howToKeep())
	}
	return mainKey{key: key}, nil
}

// howToKeep says that the key is lost when this process ends, and the remedies
// that are not in force already.
func (c Config) howToKeep() string {
	const lost = "the local key is a new one in each run; "
	if c.Store.Kind() == "file" {
		return lost + "make the folder of the file store writable, or set CURSORTRAY_API_KEY to keep one"
	}
	return lost + "set CURSORTRAY_API_KEY or CURSORTRAY_TOKEN_STORE=file to keep it"
}

func (k *Keys) forThisRun(err error) mainKey {
	k.cfg.Logger.Warn(k.cfg.howToKeep(), "reason", err)
	return mainKey{key: generate(prefix), unstored: true}
}

func unreadable(err error) *chat.Error {
	if errors.Is(err, keychain.ErrLocked) {
		return &chat.Error{Kind: chat.Unavailable, Code: "keychain_locked", RetryAfter: retryAfter, Err: err,
			Message: "the local API key lies in the keychain, which is locked; unlock it, or set CURSORTRAY_API_KEY or CURSORTRAY_TOKEN_STORE=file"}
	}
	return &chat.Error{Kind: chat.Unavailable, Code: "keychain_unavailable", RetryAfter: retryAfter, Err: err,
		Message: "the local API key cannot be read: " + err.Error()}
}

// NewKey replaces the key in the store and here; the old one is not accepted
// any more from then on. If it cannot be stored, the old one stays.
func (k *Keys) NewKey(ctx context.Context) (string, error) {
	if k.cfg.Fixed != "" {
		return "", chat.Errorf(chat.Invalid, "the local key is set by CURSORTRAY_API_KEY or api_key; change it there")
	}
	k.changes.Lock()
	defer k.changes.Unlock()
	// A read under way would bring the old key back.
	if _, err := k.Key(ctx); err != nil && ctx.Err() != nil {
		return "", err
	}
	next := mainKey{key: generate(prefix)}
	err := k.cfg.Store.Set(ctx, entry, []byte(next.key))
	old, _ := k.main.peek()
	switch {
	case err == nil:
	case errors.Is(err, keychain.ErrUnavailable) && old.unstored:
		next.unstored = true
		k.cfg.Logger.Warn(k.cfg.howToKeep(), "reason", err)
	default:
		return "", unreadable(err)
	}
	k.main.set(next)
	return next.key, nil
}

// Entries are the names of all that this package keeps in the store.
func Entries() []string { return []string{entry, editorsEntry} }

// Moved is called after the store began to keep things elsewhere: the key in use
// is stored there, and one that could not be read is looked for there.
func (k *Keys) Moved(ctx context.Context) error {
	if k.cfg.Fixed != "" {
		return nil
	}
	k.changes.Lock()
	defer k.changes.Unlock()
	known, read := k.main.peek()
	if !read {
		k.main.forget()
		return nil
	}
	if err := k.cfg.Store.Set(ctx, entry, []byte(known.key)); err != nil {
		return err
	}
	k.main.set(mainKey{key: known.key})
	return nil
}

// ForThisRun tells whether the key is lost when this process ends. It is
// false as long as no key was read.
func (k *Keys) ForThisRun() bool {
	now, known := k.main.peek()
	return known && k.cfg.Fixed == "" && (now.unstored || k.cfg.Store.Kind() == "memory")
}

// Reload makes the next Key ask the store at once if the last read failed. A key
// that is known stays.
func (k *Keys) Reload() { k.main.retry() }

// Close ends a read that is under way and returns when it is over.
func (k *Keys) Close() { k.main.close() }

func generate(prefix string) string {
	var random [32]byte
	rand.Read(random[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(random[:])
}
