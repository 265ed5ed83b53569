package cursor

import (
	"errors"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

// later lets askAgain pass.
func (s *TokenSource) later() {
	s.note(func() { s.asked = time.Now().Add(-2 * askAgain) })
}

// settled waits for the work that runs behind the answers.
func (s *TokenSource) settled() {
	for {
		var w *work
		s.note(func() { w = s.work })
		if w == nil {
			return
		}
		<-w.done
	}
}

func TestLogoutThatCannotBeStoredStays(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Hour))
	cfg := f.config(t, store)
	stored := make(chan struct{}, 10)
	cfg.Stored = func() { stored <- struct{}{} }
	s := newSource(t, cfg)
	if _, err := s.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.delErr = errors.New("locked")
	wantCode(t, s.SignOut(t.Context()), chat.Unavailable, CodeNotSaved)
	for _, again := range []func(){func() {}, s.later, s.Reload} {
		again()
		_, err := s.Token(t.Context())
		wantCode(t, err, chat.LoginRequired, CodeNotDeleted)
	}
	if _, ok := store.stored(t); !ok {
		t.Fatal("the test's store has deleted the login")
	}
	store.delErr = nil
	s.later()
	_, err := s.Token(t.Context())
	wantCode(t, err, chat.LoginRequired, CodeLoginRequired)
	if _, ok := store.stored(t); ok {
		t.Error("the login is still stored")
	}
	<-stored
}

func TestLogoutIsRepeatedAtTheEnd(t *testing.T) {
	f := newFakeCursor(t)
	for _, known := range []bool{true, false} {
		store := storeOf(f.login(time.Hour))
		s := newSource(t, f.config(t, store))
		if known {
			if _, err := s.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		store.delErr = errors.New("locked")
		wantCode(t, s.SignOut(t.Context()), chat.Unavailable, CodeNotSaved)
		store.delErr = nil
		s.Close()
		if _, ok := store.stored(t); ok {
			t.Error("the login is still stored")
		}
	}
}

func TestLogoutThatIsOwedSparesANewLogin(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Hour))
	s := newSource(t, f.config(t, store))
	store.delErr = errors.New("locked")
	wantCode(t, s.SignOut(t.Context()), chat.Unavailable, CodeNotSaved)
	store.delErr = nil
	newer := f.login(time.Hour) // by another process
	if err := store.Set(t.Context(), loginName, newer.encode()); err != nil {
		t.Fatal(err)
	}
	s.later()
	if token, err := s.Token(t.Context()); err != nil || token != newer.access {
		t.Errorf("the new login is not used: %v", err)
	}
}

func TestEndedLoginThatCannotBeDeleted(t *testing.T) {
	f := newFakeCursor(t)
	f.faults[exchangePath] = status(401)
	store := storeOf(f.login(time.Minute))
	store.delErr = errors.New("locked")
	s := newSource(t, f.config(t, store))
	for range 3 {
		_, err := s.Token(t.Context())
		wantCode(t, err, chat.LoginRequired, CodeLoginEnded)
		s.later()
	}
	f.wantCalls(t, exchangePath, 1)
	store.delErr = nil
	s.Close()
	if _, ok := store.stored(t); ok {
		t.Error("the login is still stored")
	}
}

func TestRenewalThatCannotBeSaved(t *testing.T) {
	for name, again := range map[string]func(t *testing.T, s *TokenSource){
		"next use": func(t *testing.T, s *TokenSource) {
			s.later()
			if _, err := s.Token(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.settled()
		},
		"check again": func(t *testing.T, s *TokenSource) {
			s.Reload()
			if err := s.SignedIn(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"end of the program": func(_ *testing.T, s *TokenSource) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCursor(t)
			store := storeOf(f.login(time.Minute))
			store.setErr = errors.New("locked")
			cfg := f.config(t, store)
			stored := make(chan struct{}, 10)
			cfg.Stored = func() { stored <- struct{}{} }
			s := newSource(t, cfg)
			token, err := s.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			<-stored
			if e := s.unpaid(); e == nil || e.Code != CodeNotSaved {
				t.Fatalf("no warning: %v", e)
			}
			for range 5 {
				if again, err := s.Token(t.Context()); err != nil || again != token {
					t.Fatal(err)
				}
			}
			if store.sets != 1 {
				t.Errorf("the store was asked %d times", store.sets)
			}
			s.Reload() // which must not bring the old login back
			if err := s.SignedIn(t.Context()); err != nil || s.unpaid() == nil {
				t.Errorf("after a vain try: %v, warning %v", err, s.unpaid())
			}
			store.mu.Lock()
			store.setErr = nil
			store.mu.Unlock()
			again(t, s)
			if e := s.unpaid(); e != nil {
				t.Errorf("still a warning: %v", e)
			}
			if c, ok := store.stored(t); !ok || c.access != token || c.refresh != f.refresh {
				t.Error("the renewed login is not stored")
			}
			f.wantCalls(t, exchangePath, 1)
		})
	}
}

func TestUnsavedRenewalMeetsALogoutElsewhere(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Minute))
	store.setErr = errors.New("locked")
	cfg := f.config(t, store)
	changes := make(chan bool, 10)
	cfg.Changed = func(in bool) { changes <- in }
	s := newSource(t, cfg)
	if _, err := s.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.mu.Lock()
	store.setErr = nil
	delete(store.values, loginName)
	store.mu.Unlock()
	s.Reload()
	wantCode(t, s.SignedIn(t.Context()), chat.LoginRequired, CodeLoginRequired)
	if <-changes {
		t.Error("wrong report of the change")
	}
	if len(store.values) > 0 {
		t.Error("the login came back")
	}
}
