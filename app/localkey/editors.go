package localkey

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

const (
	// editorsEntry holds the keys of all editors in the store.
	editorsEntry = "editor-keys"
	// editorPrefix tells their keys from the main one, so that who sends that
	// needs no look at these.
	editorPrefix = "cte-"
)

// Editors gives editors keys of their own, by which it is seen who asks, and
// by which one can be switched off. The main key is not among them. All methods
// may be called from several goroutines; errors are *chat.Error.
type Editors struct {
	cfg     Config
	main    *Keys
	all     loader[editorKeys]
	changes sync.Mutex // serializes what writes
}

// editorKeys are the keys by id of the editor. The map does not change.
type editorKeys struct {
	byID     map[string]editorKey
	unstored bool // they are not in the store: they end with this run
}

type editorKey struct {
	Key string `json:"key"`
	Off bool   `json:"off,omitempty"`
}

// NewEditors returns Editors that has read nothing yet. If there is a main key
// in the same store, that is read first: a store that is locked is to ask the
// user once, not twice.
func NewEditors(cfg Config, main *Keys) *Editors {
	e := &Editors{cfg: cfg, main: main}
	e.all.fetch = e.fetch
	return e
}

func (e *Editors) fetch(ctx context.Context) (editorKeys, *chat.Error) {
	none := editorKeys{byID: map[string]editorKey{}}
	if e.main != nil {
		if _, err := e.main.main.get(ctx); err != nil {
			return none, err
		}
	}
	value, err := e.cfg.Store.Get(ctx, editorsEntry)
	switch {
	case err == nil && len(value) > 0:
		var stored map[string]editorKey
		if json.Unmarshal(value, &stored) == nil && stored != nil {
			return editorKeys{byID: stored}, nil
		}
		e.tellDamaged()
		return none, nil
	case err == nil || errors.Is(err, keychain.ErrNotFound):
		return none, nil
	case errors.Is(err, keychain.ErrCorrupt):
		e.tellDamaged()
		return none, nil
	case errors.Is(err, keychain.ErrUnavailable):
		none.unstored = true
		return none, nil
	default:
		return none, unreadable(err)
	}
}

// tellDamaged quotes nothing: what cannot be read may be half a key.
func (e *Editors) tellDamaged() {
	e.cfg.Logger.Warn("the stored keys of editors are damaged; those editors have to be set up again", "store", e.cfg.Store.Kind())
}

// Owner returns the id of the editor that key belongs to, and whether that is
// switched off; ok is false when the key is nobody's. It compares digests of
// all keys, so that neither content nor length nor owner shows in the time it
// takes.
func (e *Editors) Owner(ctx context.Context, key string) (editor string, off, ok bool, err error) {
	if !strings.HasPrefix(key, editorPrefix) {
		return "", false, false, nil
	}
	known, failed := e.all.get(ctx)
	if failed != nil {
		return "", false, false, failed
	}
	got := sha256.Sum256([]byte(key))
	for id, k := range known.byID {
		need := sha256.Sum256([]byte(k.Key))
		if subtle.ConstantTimeCompare(got[:], need[:]) == 1 {
			editor, off, ok = id, k.Off, true
		}
	}
	return editor, off, ok, nil
}

// Key returns the key of an editor, made at first use. Where no key can be
// kept and the main one is set by the user, that is returned: it lasts.
func (e *Editors) Key(ctx context.Context, id string) (string, error) {
	e.changes.Lock()
	defer e.changes.Unlock()
	known, err := e.all.get(ctx)
	if err != nil {
		return "", err
	}
	if k, ok := known.byID[id]; ok {
		return k.Key, nil
	}
	if known.unstored && e.cfg.Fixed != "" {
		return e.cfg.Fixed, nil
	}
	k := editorKey{Key: generate(editorPrefix)}
	next := known.with(id, &k)
	switch err := e.save(ctx, &next); {
	case err != nil:
		return "", err
	case next.unstored && e.cfg.Fixed != "":
		return e.cfg.Fixed, nil
	}
	e.all.set(next)
	return k.Key, nil
}

// Revoke makes the key of an editor worthless, at once. It does nothing if the
// editor has none.
func (e *Editors) Revoke(ctx context.Context, id string) error {
	e.changes.Lock()
	defer e.changes.Unlock()
	known, err := e.all.get(ctx)
	if err != nil {
		return err
	}
	if _, ok := known.byID[id]; !ok {
		return nil
	}
	return e.change(ctx, known.with(id, nil))
}

// Switch switches an editor off or on. One that has no key of its own cannot be
// told from others.
func (e *Editors) Switch(ctx context.Context, id string, off bool) error {
	e.changes.Lock()
	defer e.changes.Unlock()
	known, err := e.all.get(ctx)
	if err != nil {
		return err
	}
	k, ok := known.byID[id]
	switch {
	case !ok && known.unstored && e.cfg.Fixed != "":
		return chat.Errorf(chat.Invalid, "without a store of secrets all editors have the key that is set by CURSORTRAY_API_KEY, so none can be switched off; CURSORTRAY_TOKEN_STORE=file gives them their own")
	case !ok:
		return chat.Errorf(chat.NotFound, "%s has no key of its own; set it up first: cursortray setup %s", id, id)
	case k.Off == off:
		return nil
	}
	k.Off = off
	return e.change(ctx, known.with(id, &k))
}

// Off tells for every editor that has a key of its own whether it is switched
// off.
func (e *Editors) Off(ctx context.Context) (map[string]bool, error) {
	known, err := e.all.get(ctx)
	if err != nil {
		return nil, err
	}
	off := make(map[string]bool, len(known.byID))
	for id, k := range known.byID {
		off[id] = k.Off
	}
	return off, nil
}

// Moved is what Keys.Moved is.
func (e *Editors) Moved(ctx context.Context) error {
	e.changes.Lock()
	defer e.changes.Unlock()
	known, read := e.all.peek()
	if !read || len(known.byID) == 0 {
		e.all.forget()
		return nil
	}
	return e.change(ctx, known)
}

// ForThisRun tells whether the keys are lost when this process ends. It is
// false as long as none was read.
func (e *Editors) ForThisRun() bool {
	known, read := e.all.peek()
	return read && len(known.byID) > 0 && (known.unstored || e.cfg.Store.Kind() == "memory")
}

// Close ends a read that is under way and returns when it is over.
func (e *Editors) Close() { e.all.close() }

// with returns the keys with one in the place of an editor's; nil takes it out.
func (k editorKeys) with(id string, key *editorKey) editorKeys {
	k.byID = maps.Clone(k.byID)
	if key == nil {
		delete(k.byID, id)
	} else {
		k.byID[id] = *key
	}
	return k
}

func (e *Editors) change(ctx context.Context, next editorKeys) error {
	if err := e.save(ctx, &next); err != nil {
		return err
	}
	e.all.set(next)
	return nil
}

// save stores the keys; next.unstored tells afterwards whether that was
// possible. What is in the store already stays there if it is not. Where there
// never was a store, the main key has been the first to say so.
func (e *Editors) save(ctx context.Context, next *editorKeys) error {
	var err error
	if len(next.byID) == 0 {
		err = e.cfg.Store.Delete(ctx, editorsEntry)
		if errors.Is(err, keychain.ErrNotFound) {
			err = nil
		}
	} else {
		var text []byte
		if text, err = json.Marshal(next.byID); err == nil {
			err = e.cfg.Store.Set(ctx, editorsEntry, text)
		}
	}
	switch {
	case err == nil:
		next.unstored = false
	case errors.Is(err, keychain.ErrUnavailable):
		if !next.unstored {
			e.cfg.Logger.Warn("the keys of editors end with this run; set CURSORTRAY_TOKEN_STORE=file or CURSORTRAY_API_KEY before setting editors up", "reason", err)
		}
		next.unstored = true
	default:
		return unreadable(err)
	}
	return nil
}
