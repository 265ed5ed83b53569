package cursor

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"cursortray/proxy/chat"
)

// SignIn stores c as the login and uses it from now on. If it cannot be
// stored, the error has the code CodeNotSaved and c is good until the program
// ends: say so to the user.
func (s *TokenSource) SignIn(ctx context.Context, c Credentials) error {
	return s.signIn(ctx, c, func() bool { return true })
}

// signIn does not take c if it is not wanted any more once its turn has come.
func (s *TokenSource) signIn(ctx context.Context, c Credentials, wanted func() bool) error {
	return s.replace(ctx, true, func(ctx context.Context) error {
		if !wanted() {
			return &chat.Error{Kind: chat.Canceled, Message: "somebody has logged out meanwhile"}
		}
		err := s.cfg.Store.Set(ctx, loginName, c.encode())
		if err == nil {
			s.adopt(c, c)
			return nil
		}
		seen, _ := s.read(ctx) // a former login that is still there is not newer
		failed := &chat.Error{Kind: chat.Unavailable, Code: CodeNotSaved, Err: err,
			Message: "the login lasts until cursortray ends, because it cannot be saved: " + err.Error()}
		s.adopt(c, seen)
		s.note(func() { s.unsaved, s.asked = failed, time.Now() })
		return failed
	})
}

// SignOut deletes the login here and in the store; Cursor knows no call that
// revokes one. If the store fails, the login is gone for this program, which goes
// on trying to delete it, and the error has the code CodeNotSaved.
func (s *TokenSource) SignOut(ctx context.Context) error {
	return s.replace(ctx, false, func(ctx context.Context) error {
		var gone Credentials // what is not to come back
		s.note(func() {
			gone = s.seen
			if s.gone != nil {
				gone = *s.gone
			}
		})
		err := s.cfg.Store.Delete(ctx, loginName)
		s.clearOthers(ctx)
		if err == nil {
			s.forget(notLoggedIn(), nil)
			return nil
		}
		if gone.same(Credentials{}) {
			gone, _ = s.read(ctx)
		}
		s.forget(notDeleted(err), &gone)
		return &chat.Error{Kind: chat.Unavailable, Code: CodeNotSaved, Err: err,
			Message: "the saved login cannot be deleted: " + err.Error()}
	})
}

// Moved is called after the Store began to keep things elsewhere: the login in
// use is stored there, and if there is none, the next call looks there for one.
func (s *TokenSource) Moved(ctx context.Context) error {
	return s.alone(ctx, func(ctx context.Context) error {
		var creds *Credentials
		s.note(func() { creds = s.creds })
		if creds == nil {
			s.note(func() { s.problem, s.gone, s.seen, s.asked = nil, nil, Credentials{}, time.Time{} })
			return nil
		}
		if err := s.cfg.Store.Set(ctx, loginName, creds.encode()); err != nil {
			return err
		}
		s.adopt(*creds, *creds)
		return nil
	})
}

// clearOthers does what it can: most of these stores are never used, and some
// are not there.
func (s *TokenSource) clearOthers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, othersLimit)
	defer cancel()
	for _, store := range s.cfg.OtherStores {
		if err := store.Delete(ctx, loginName); err != nil {
			s.cfg.logger().Debug("a store of secrets that is not in use was not cleared", "error", err)
		}
	}
}

// whileLoggedIn runs write, unless the login of subject is no longer the stored
// one. No process logs in or out meanwhile.
func (s *TokenSource) whileLoggedIn(ctx context.Context, subject string, write func() error) error {
	unlock, failed := s.lockFile(ctx)
	if failed != nil {
		return failed
	}
	defer unlock()
	unsaved := false
	s.note(func() { unsaved = s.unsaved != nil })
	if !unsaved {
		text, err := s.cfg.Store.Get(ctx, loginName)
		stored, damaged := decodeCredentials(text)
		if errors.Is(err, fs.ErrNotExist) || err == nil && damaged == nil && stored.access != "" && subjectOf(stored.access) != subject {
			return errors.New("the login has ended meanwhile")
		}
	}
	return write()
}

// replace runs change while neither this nor another process renews or
// replaces the login, and tells that it has.
func (s *TokenSource) replace(ctx context.Context, signedIn bool, change func(context.Context) error) error {
	return s.alone(ctx, func(ctx context.Context) error {
		s.note(func() { s.caller = context.WithoutCancel(ctx) })
		err := change(ctx)
		if s.cfg.Changed != nil {
			s.cfg.Changed(signedIn)
		}
		return err
	})
}

// alone runs work while neither this nor another process renews or replaces the
// login.
func (s *TokenSource) alone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return chat.AsError(ctx.Err())
	}
	defer func() { <-s.turn }()
	unlock, failed := s.lockFile(ctx)
	if failed != nil {
		return failed
	}
	defer unlock()
	return work(ctx)
}
