// Package cursor is the user's Cursor account: logging in with the browser or
// an API key, keeping the login alive, the headers and host rules of calls to
// Cursor, the list of the account's models with the names that stand for them,
// what they cost, and how much of the plan is used. Account puts all of that
// together. It does not talk to models. The login lies in the Store it is
// given; itself it stores only lists of models, in the folder it is given.
//
// Goroutines: a TokenSource runs at most one, for a read or renewal that
// several callers wait for, and a ModelCache one for a refresh, with one per
// call; Close waits for their end. A question about the plan is several calls
// at once, which end before it does. A PlanWatch runs in its caller's.
package cursor

import (
	"context"
	"log/slog"
	"net/http"
)

// Store keeps the login under one name. Its methods may be called at the same
// time. Get's error matches fs.ErrNotExist when there is none; an interrupted
// Set leaves the former value or the new one.
type Store interface {
	Get(ctx context.Context, name string) ([]byte, error)
	Set(ctx context.Context, name string, value []byte) error
	Delete(ctx context.Context, name string) error
}

// Config is what the account needs from the program.
type Config struct {
	// Client carries the proxy and certificate settings. Its time-out and
	// redirect rules are not used: each call has its own limit, and no answer
	// may send a token elsewhere.
	Client *http.Client
	Hosts  Hosts
	Store  Store
	// OtherStores are those that other settings would choose, and in which an
	// older login may lie: a logout deletes it there, too, as far as they can be
	// reached.
	OtherStores []Store
	// LockFile is held while the login is renewed or replaced, so that two
	// processes with one Store take turns. "" means that there is only one.
	LockFile string
	// Changed is called after the account was signed in, or signed out by the
	// user or by Cursor. It must not block. May be nil.
	Changed func(signedIn bool)
	// Stored is called when a login in use could not be saved, and when the
	// store has done what it could not do before. It must not block. May be
	// nil.
	Stored func()
	Logger *slog.Logger // nil discards

	identity *Identity // set by NewAccount
	replaced func()    // likewise; called when the login is somebody else's. It must not block.
}

func (c Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
