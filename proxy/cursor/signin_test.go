package cursor

import (
	"errors"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

func TestSignOut(t *testing.T) {
	f := newFakeCursor(t)
	store := storeOf(f.login(time.Hour))
	s := newSource(t, f.config(t, store))
	if _, err := s.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := s.Token(t.Context())
	wantCode(t, err, chat.LoginRequired, CodeLoginRequired)
	if len(store.values) > 0 {
		t.Error("the login is still stored")
	}
	store.setErr = errors.New("locked")
	wantCode(t, s.SignOut(t.Context()), chat.Unavailable, CodeNotSaved)
}

func TestSignOutClearsStoresOfOtherSettings(t *testing.T) {
	f := newFakeCursor(t)
	other, away := storeOf(f.login(time.Hour)), &memStore{delErr: errors.New("no keychain")}
	cfg := f.config(t, storeOf(f.login(time.Hour)))
	cfg.OtherStores = []Store{away, other}
	s := newSource(t, cfg)
	if err := s.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := other.stored(t); ok {
		t.Error("a login lies in the store of another setting")
	}
}

func TestSignOutDuringARenewal(t *testing.T) {
	f := newFakeCursor(t)
	arrived, release := f.holdCalls()
	store := storeOf(f.login(time.Minute))
	s := newSource(t, f.config(t, store))
	renewed := make(chan error, 1)
	go func() {
		_, err := s.Token(t.Context())
		renewed <- err
	}()
	<-arrived
	out := make(chan error, 1)
	go func() { out <- s.SignOut(t.Context()) }()
	release()
	if err := <-renewed; err != nil {
		t.Error(err)
	}
	if err := <-out; err != nil {
		t.Error(err)
	}
	if len(store.values) > 0 {
		t.Error("the renewal brought the login back")
	}
	wantCode(t, s.SignedIn(t.Context()), chat.LoginRequired, CodeLoginRequired)
}
