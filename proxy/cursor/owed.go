package cursor

import (
	"context"
	"time"

	"cursortray/proxy/chat"
)

// What a store that failed still owes: it is asked again at the next use after
// askAgain, after Reload, and before the program ends. No timer asks it,
// because each time can mean a prompt.

// owes says whether the login is not stored as it should be. It needs s.mu.
func (s *TokenSource) owes() bool { return s.unsaved != nil || s.gone != nil }

// unpaid returns why the login in use will be gone when the program ends, nil
// if it will not.
func (s *TokenSource) unpaid() *chat.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsaved
}

// settle asks the store again. The caller holds the turn.
func (s *TokenSource) settle(ctx context.Context) (lost bool) {
	var creds, gone *Credentials
	var seen Credentials
	var owes bool
	s.note(func() {
		owes = s.owes()
		s.payNow, s.asked = false, time.Now()
		creds, gone, seen = s.creds, s.gone, s.seen
	})
	if !owes {
		return false
	}
	unlock, failed := s.lockFile(ctx)
	if failed != nil {
		return false
	}
	defer unlock()
	// Another process may have replaced what is stored.
	stored, missing := s.read(ctx)
	switch {
	case gone != nil:
		s.payDeletion(ctx, *gone, stored, missing)
	case creds == nil:
	case missing == nil && !stored.same(seen):
		s.adopt(stored, stored)
	case missing != nil && missing.Code == CodeLoginRequired && !seen.same(Credentials{}):
		s.note(func() { s.creds, s.problem, s.unsaved, s.seen = nil, missing, nil, Credentials{} })
		return true
	case s.cfg.Store.Set(ctx, loginName, creds.encode()) == nil:
		s.adopt(*creds, *creds)
	}
	return false
}

// payDeletion deletes the login that has ended, but no newer one.
func (s *TokenSource) payDeletion(ctx context.Context, gone, stored Credentials, missing *chat.Error) {
	if missing == nil && !gone.same(Credentials{}) && !stored.same(gone) {
		s.adopt(stored, stored)
		return
	}
	if missing == nil || missing.Code != CodeLoginRequired {
		if s.cfg.Store.Delete(ctx, loginName) != nil {
			return
		}
	}
	s.note(func() {
		s.gone = nil
		if s.problem == nil || s.problem.Code == CodeNotDeleted {
			s.problem = notLoggedIn()
		}
	})
}

// lastTry asks the store once more before the program ends.
func (s *TokenSource) lastTry() {
	var caller context.Context
	s.note(func() {
		if s.owes() {
			caller = s.caller
		}
	})
	if caller == nil {
		return
	}
	ctx, cancel := context.WithTimeout(caller, closeGrace)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		s.settle(ctx)
		<-s.turn
	case <-ctx.Done():
	}
}

func notDeleted(err error) *chat.Error {
	return &chat.Error{Kind: chat.LoginRequired, Code: CodeNotDeleted, Err: err,
		Message: "you are logged out, but the saved login cannot be deleted yet: " + err.Error() + "; cursortray tries again, and so does \"Log out\""}
}

func renewalNotSaved(err error) *chat.Error {
	return &chat.Error{Kind: chat.Unavailable, Code: CodeNotSaved, Err: err,
		Message: "the renewed login lasts until cursortray ends, because it cannot be saved: " + err.Error()}
}
