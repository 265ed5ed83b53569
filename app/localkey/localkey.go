// Package localkey keeps the key that clients of the local proxy send: made
// at the first start, read from its store once per start, replaced on demand.
//
// It does not compare keys and does not choose the store. Reading the store,
// which may wait for a user to unlock a keychain, is done in one goroutine at
// a time, which Close ends and waits for; all callers share its result.
package localkey

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

const (
	// entry is the key's name in the store.
	entry = "local-key"
	// prefix tells a person what the text is when it turns up somewhere.
	prefix = "ct-"
	// retryAfter keeps a store that failed from being asked once per request.
	retryAfter = 10 * time.Second
)

// Config is what Keys is made of.
type Config struct {
	Fixed  string         // the key from the settings; the store is then not used
	Store  keychain.Store // where the key lies otherwise
	Logger *slog.Logger
}

// Keys gives the local key. All methods may be called from several goroutines.
type Keys struct {
	cfg  Config
	wait sync.WaitGroup

	mu       sync.Mutex
	key      string
	unstored bool        // key is not in the store: it ends with this run
	reading  *read       // the read that is under way
	failed   *chat.Error // what the last read met
	again    time.Time   // when a read may be tried after failed
	closed   bool
	changes  sync.Mutex // serializes NewKey
}

// read is one attempt; done is closed after its result is in Keys.
type read struct {
	done   chan struct{}
	cancel context.CancelFunc
}

// New returns Keys that has read nothing yet.
func New(cfg Config) *Keys { return &Keys{cfg: cfg, key: cfg.Fixed} }

// Key returns the key, and makes one if the store has none. It waits for the
// store as long as ctx lets it. Errors are *chat.Error.
func (k *Keys) Key(ctx context.Context) (string, error) {
	k.mu.Lock()
	if k.key != "" {
		defer k.mu.Unlock()
		return k.key, nil
	}
	if k.failed != nil && time.Now().Before(k.again) {
		defer k.mu.Unlock()
		return "", k.failed
	}
	if k.closed {
		defer k.mu.Unlock()
		return "", chat.Errorf(chat.ShuttingDown, "cursortray is ending")
	}
	if k.reading == nil {
		k.begin(ctx)
	}
	done := k.reading.done
	k.mu.Unlock()

	select {
	case <-done:
	case <-ctx.Done():
		return "", chat.AsError(ctx.Err())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == "" {
		return "", k.failed
	}
	return k.key, nil
}

// begin starts a read, which outlives the caller that happened to be first.
// The store itself limits its time.
func (k *Keys) begin(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &read{done: make(chan struct{}), cancel: cancel}
	k.reading = r
	k.wait.Go(func() {
		defer cancel()
		key, stored, err := k.fetch(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.key, k.unstored, k.failed, k.reading = key, !stored, err, nil
		k.again = time.Now().Add(retryAfter)
		close(r.done)
	})
}

// fetch returns the stored key, or a new one and whether it could be stored.
// A store that is there but locked gives an error and no key: the editors have
// the right key already, and a second one would only look like their fault.
func (k *Keys) fetch(ctx context.Context) (key string, stored bool, err *chat.Error) {
	value, getErr := k.cfg.Store.Get(ctx, entry)
	switch {
	case getErr == nil && len(value) > 0:
		return string(value), true, nil
	case getErr == nil || errors.Is(getErr, keychain.ErrNotFound):
	case errors.Is(getErr, keychain.ErrCorrupt):
		k.cfg.Logger.Warn("the stored local key is damaged; a new one takes its place, clients have to be given it", "store", k.cfg.Store.Kind())
	case errors.Is(getErr, keychain.ErrUnavailable):
		return k.forThisRun(getErr), false, nil
	default:
		return "", false, unreadable(getErr)
	}
	key = generate()
	if setErr := k.cfg.Store.Set(ctx, entry, []byte(key)); errors.Is(setErr, keychain.ErrUnavailable) {
		return k.forThisRun(setErr), false, nil
	} else if setErr != nil {
		return "", false, unreadable(setErr)
	}
	if k.cfg.Store.Kind() == "memory" {
		k.cfg.Logger.Warn(k.howToKeep())
	}
	return key, true, nil
}

// howToKeep says that the key is lost when this process ends, and the remedies
// that are not in force already.
func (k *Keys) howToKeep() string {
	const lost = "the local key is a new one in each run; "
	if k.cfg.Store.Kind() == "file" {
		return lost + "make the folder of the file store writable, or set CURSORTRAY_API_KEY to keep one"
	}
	return lost + "set CURSORTRAY_API_KEY or CURSORTRAY_TOKEN_STORE=file to keep it"
}

func (k *Keys) forThisRun(err error) string {
	k.cfg.Logger.Warn(k.howToKeep(), "reason", err)
	return generate()
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
	key := generate()
	err := k.cfg.Store.Set(ctx, entry, []byte(key))
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.unstored = false
	case errors.Is(err, keychain.ErrUnavailable) && k.unstored:
		k.cfg.Logger.Warn(k.howToKeep(), "reason", err)
	default:
		return "", unreadable(err)
	}
	k.key, k.failed = key, nil
	return key, nil
}

// ForThisRun tells whether the key is lost when this process ends. It is
// false as long as no key was read.
func (k *Keys) ForThisRun() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.key != "" && k.cfg.Fixed == "" && (k.unstored || k.cfg.Store.Kind() == "memory")
}

// Close ends a read that is under way and returns when it is over.
func (k *Keys) Close() {
	k.mu.Lock()
	k.closed = true
	if k.reading != nil {
		k.reading.cancel()
	}
	k.mu.Unlock()
	k.wait.Wait()
}

func generate() string {
	var random [32]byte
	rand.Read(random[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(random[:])
}
