// Package keychain keeps small secrets: the local API key and the Cursor
// login. System puts them into the operating system's own store, File into
// private files for users who asked for that, Memory nowhere at all. A store
// never falls back to another one by itself, and it does not cache: callers
// read a secret once and keep it.
//
// It does not encrypt anything itself, and it is no protection against other
// programs of the same user: an unlocked keyring answers all of them.
//
// Goroutines: each call of a System store runs in one goroutine and waits for
// its end. An operating system that never answers costs that one goroutine
// for as long as it stays silent: the caller gets its error at the time limit,
// and later calls fail at once instead of queueing up behind it. File and
// Memory start none.
package keychain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Store keeps named secrets. All methods may be called at the same time, and
// none blocks longer than its ctx or the store's own time limit, whichever
// ends first. Names are 1 to 64 characters of a-z, 0-9, dot, dash and
// underscore and begin with a letter or digit.
//
// Errors match one of the Err values of this package, or the ctx's own error,
// with errors.Is. Their texts say what to do and hold no secret.
type Store interface {
	// Get returns the value, in memory of the caller's own; ErrNotFound if
	// there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// Set stores value in place of the former one. Whatever happens in
	// between, a crash included, a later Get returns the former value or this
	// one and nothing else.
	Set(ctx context.Context, name string, value []byte) error
	// Delete removes the value and what interrupted calls left of others. It
	// is no error if there is none.
	Delete(ctx context.Context, name string) error
	// Kind names the sort of store: "keychain", "file" or "memory".
	Kind() string
}

// What may be wrong with a store. ErrNotFound is also fs.ErrNotExist.
// ErrUnavailable also stands for a store that failed or refused to work in a
// way that is none of the others.
var (
	ErrNotFound    error = notFound{}
	ErrLocked            = errors.New("the keychain is locked")
	ErrUnavailable       = errors.New("the store of secrets is not available")
	ErrCorrupt           = errors.New("the stored value is damaged")
)

type notFound struct{}

func (notFound) Error() string        { return "not found" }
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }

const maxName = 64

func checkName(name string) error {
	ok := name != "" && len(name) <= maxName
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		ok = ok && (letter || i > 0 && (c == '.' || c == '-' || c == '_'))
	}
	if !ok {
		return fmt.Errorf("keychain: %q is no name for a secret", name)
	}
	return nil
}
