package cursor

import (
	"context"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

// slowStore is a Store whose Set waits, as for a password.
type slowStore struct {
	*memStore
	asked, answer chan struct{}
}

func (s slowStore) Set(ctx context.Context, name string, value []byte) error {
	s.asked <- struct{}{}
	select {
	case <-s.answer:
		return s.memStore.Set(ctx, name, value)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beginSaving logs in and returns when the login is confirmed and being stored.
func beginSaving(t *testing.T) (a *Account, store slowStore, cancel context.CancelFunc, ended chan error) {
	t.Helper()
	f := newFakeCursor(t)
	store = slowStore{&memStore{}, make(chan struct{}, 1), make(chan struct{})}
	a = newAccount(t, f, store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- a.StartLogin().Wait(ctx) }()
	<-store.asked
	return a, store, cancel, ended
}

// Who cancels a login that Cursor counts as done is too late: it is stored.
func TestCancelAfterTheConfirmationComesTooLate(t *testing.T) {
	a, store, cancel, ended := beginSaving(t)
	cancel()
	close(store.answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, ok := store.stored(t); !ok || !a.State(t.Context()).SignedIn {
		t.Error("the login is lost")
	}
}

// A logout ends also a login that is on its way.
func TestLogoutDuringALogin(t *testing.T) {
	f := newFakeCursor(t)
	store := &memStore{}
	a := newAccount(t, f, store, nil)
	arrived, release := f.holdCalls()
	ended := make(chan error, 1)
	go func() { ended <- a.LoginWithKey(t.Context(), "crsr_secret") }()
	<-arrived
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-ended; chat.AsError(err) == nil || chat.AsError(err).Kind != chat.Canceled {
		t.Errorf("the login ends with %v", err)
	}
	if _, ok := store.stored(t); ok || a.State(t.Context()).SignedIn {
		t.Error("somebody is logged in after a logout")
	}
	if err := a.LoginWithKey(t.Context(), "crsr_secret"); err != nil { // a new one
		t.Error(err)
	}
}

// Whoever waits for the end of the program does not wait for a store for long.
func TestCancelEndsASaveThatHangs(t *testing.T) {
	_, _, cancel, ended := beginSaving(t)
	began := time.Now()
	cancel()
	wantCode(t, <-ended, chat.Unavailable, CodeNotSaved)
	if took := time.Since(began); took < saveGrace/2 {
		t.Errorf("given up after %v", took)
	}
}
