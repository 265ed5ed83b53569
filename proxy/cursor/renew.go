package cursor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"cursortray/proxy/chat"
)

// run is the work of the source's goroutine: it reads the login if that was
// not done yet, and renews it if that is needed.
func (s *TokenSource) run(ctx context.Context, w *work) (string, *chat.Error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", chat.AsError(ctx.Err())
	}
	if w.settle || s.mustDelete() {
		w.ended = s.settle(ctx)
		if w.settle || w.ended || s.mustDelete() {
			return "", nil
		}
	}
	current, err := s.current(ctx, false)
	if err != nil {
		return "", err
	}
	if token, ok := s.readyFor(w.need); ok {
		return token, nil
	}
	unlock, err := s.lockFile(ctx)
	if err != nil {
		return s.makeDo(current, w.need, err)
	}
	defer unlock()
	return s.renew(ctx, w)
}

// renew renews the login. The caller holds the turn and the lock file.
func (s *TokenSource) renew(ctx context.Context, w *work) (string, *chat.Error) {
	for {
		// Another process may have renewed it, or logged in or out.
		current, err := s.current(ctx, true)
		if err != nil {
			w.ended = true
			return "", err
		}
		if token, ok := s.readyFor(w.need); ok {
			return token, nil
		}
		if !current.renewable() && current.good() && current.access != w.stale {
			s.note(func() { s.tried, s.failed = current.access, time.Now() })
			return current.access, nil
		}
		next, cause := s.call(ctx, current)
		if cause == nil {
			s.save(ctx, next)
			return next.access, nil
		}
		if !isFinal(cause) && !errors.Is(cause, errRunOut) {
			return s.makeDo(current, w.need, callError(cause))
		}
		latest, err := s.current(ctx, true)
		if err == nil && !latest.same(current) {
			continue // what was refused is no longer the stored login
		}
		if current.expiry.IsZero() && current.access != "" && current.access != w.stale && !saysEnded(cause) {
			// It may be good for long: Cursor's answer to a call will tell.
			return s.makeDo(current, w.need, callError(cause))
		}
		w.ended = true
		return "", s.end(ctx, current, cause)
	}
}

var errRunOut = errors.New("the access token has run out, and nothing renews it")

// call renews c with Cursor.
func (s *TokenSource) call(ctx context.Context, c Credentials) (Credentials, error) {
	s.note(func() { s.tried = c.access })
	var t tokens
	var err error
	switch {
	case !c.renewable():
		err = errRunOut
	case c.apiKey != "":
		t, err = s.auth.exchange(ctx, c.apiKey)
	default:
		var way int
		if t, way, err = s.auth.renew(ctx, c.refresh, s.way); err == nil {
			s.way = way
		}
	}
	return c.renewed(t), err
}

// current returns the login. It asks the store if nothing is known, or to see
// what other processes did.
func (s *TokenSource) current(ctx context.Context, look bool) (Credentials, *chat.Error) {
	var known *Credentials
	var problem *chat.Error
	var seen Credentials
	s.note(func() { known, problem, seen = s.creds, s.problem, s.seen })
	if known != nil && !look {
		return *known, nil
	}
	stored, err := s.read(ctx)
	switch {
	case err == nil && known != nil && stored.same(seen):
		return *known, nil // newer than the stored one if saving failed
	case err == nil:
		s.adopt(stored, stored)
		return stored, nil
	case known != nil && (err.Code != CodeLoginRequired || seen.same(Credentials{})):
		return *known, nil // a store that fails now, or never had it, takes nothing away
	case err.Code == CodeLoginRequired && problem != nil && problem.Code == CodeLoginEnded:
		err = problem // tells more
	}
	s.note(func() { s.creds, s.problem, s.unsaved, s.seen = nil, err, nil, Credentials{} })
	return Credentials{}, err
}

// read gets the login from the store.
func (s *TokenSource) read(ctx context.Context) (Credentials, *chat.Error) {
	text, err := s.cfg.Store.Get(ctx, loginName)
	s.note(func() { s.asked = time.Now() })
	if errors.Is(err, fs.ErrNotExist) {
		return Credentials{}, notLoggedIn()
	}
	var c Credentials
	if err == nil {
		c, err = decodeCredentials(text)
	}
	if err != nil {
		return Credentials{}, &chat.Error{Kind: chat.LoginRequired, Code: CodeUnreadable, Err: err,
			Message: fmt.Sprintf("the saved Cursor login cannot be used: %v", err)}
	}
	return c, nil
}

func notLoggedIn() *chat.Error {
	return &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginRequired,
		Message: "nobody is logged in to Cursor; log in from the tray or with \"cursortray login\""}
}

// save keeps the renewed login before anyone uses it.
func (s *TokenSource) save(ctx context.Context, next Credentials) {
	seen := next
	var unsaved *chat.Error
	if err := s.cfg.Store.Set(ctx, loginName, next.encode()); err != nil {
		s.cfg.logger().Warn("the renewed Cursor login could not be saved; it is good until the program ends", "error", err)
		s.note(func() { seen = s.seen })
		unsaved = renewalNotSaved(err)
	}
	s.adopt(next, seen)
	s.note(func() {
		if s.unsaved = unsaved; unsaved != nil {
			s.asked = time.Now()
		}
		s.renewed, s.failed, s.tried = time.Now(), time.Time{}, next.access
	})
}

// makeDo returns the token of c if its renewal failed for a passing reason and
// it will still do.
func (s *TokenSource) makeDo(c Credentials, n need, err *chat.Error) (string, *chat.Error) {
	s.note(func() { s.failed = time.Now() })
	if !c.good() || c.access == n.stale {
		return "", err
	}
	s.cfg.logger().Warn("the Cursor login could not be renewed yet", "error", err.Err)
	return c.access, nil
}

// end logs out after Cursor refused c for good.
func (s *TokenSource) end(ctx context.Context, c Credentials, cause error) *chat.Error {
	var gone *Credentials
	if err := s.cfg.Store.Delete(ctx, loginName); err != nil {
		left := c
		s.note(func() {
			if s.unsaved != nil { // what is stored is older
				left = s.seen
			}
		})
		gone = &left
		s.cfg.logger().Warn("the ended Cursor login could not be deleted", "error", err)
	}
	message := "Cursor has ended the login; log in again from the tray or with \"cursortray login\""
	if c.apiKey != "" {
		message = "Cursor no longer accepts the API key; log in again from the tray or with \"cursortray login\""
	}
	ended := &chat.Error{Kind: chat.LoginRequired, Code: CodeLoginEnded, Message: message, Err: cause}
	s.forget(ended, gone)
	return ended
}

// forget ends the login in use for a reason; gone is what is still to be
// deleted of it, nil for nothing.
func (s *TokenSource) forget(why *chat.Error, gone *Credentials) {
	s.note(func() {
		s.creds, s.problem, s.unsaved, s.gone, s.seen, s.asked = nil, why, nil, gone, Credentials{}, time.Now()
	})
}

func (s *TokenSource) mustDelete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone != nil
}

// adopt makes c the login in use; seen is what the store holds. If it is
// somebody else's than the last one, whoever put it there, what was kept of
// that one has to go.
func (s *TokenSource) adopt(c, seen Credentials) {
	owner, replaced := subjectOf(c.access), false
	s.note(func() {
		s.creds, s.problem, s.unsaved, s.gone, s.seen = &c, nil, nil, nil, seen
		replaced = s.owner != nil && *s.owner != owner
		s.owner = &owner
	})
	if replaced && s.cfg.replaced != nil {
		s.cfg.replaced()
	}
}

func (s *TokenSource) readyFor(n need) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready(n)
}

// lockFile takes the lock that renewals and log-ins of all processes share. It
// ends with the process that holds it.
func (s *TokenSource) lockFile(ctx context.Context) (unlock func(), failed *chat.Error) {
	if s.cfg.LockFile == "" {
		return func() {}, nil
	}
	l := flock.New(s.cfg.LockFile, flock.SetPermissions(0o600))
	err := os.MkdirAll(filepath.Dir(s.cfg.LockFile), 0o700)
	if err == nil {
		_, err = l.TryLockContext(ctx, 20*time.Millisecond)
	}
	if err != nil {
		return nil, &chat.Error{Kind: chat.Unavailable, Err: err,
			Message: "the Cursor login cannot be changed now: its lock file is held by another process or cannot be made"}
	}
	return func() { l.Close() }, nil
}
