package cursor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"
)

// mortal is a Store of a process that is killed at one of its calls, before or
// after the call has its effect. What is in values outlives it.
type mortal struct {
	*memStore
	calls  int
	killAt int // 0 is never
	after  bool
	dead   bool
}

var errKilled = errors.New("killed")

func (m *mortal) step(effect func() error) error {
	if m.calls++; m.dead {
		return errKilled
	}
	if m.calls != m.killAt {
		return effect()
	}
	if m.dead = true; m.after {
		_ = effect()
	}
	return errKilled
}

func (m *mortal) Get(ctx context.Context, name string) (value []byte, err error) {
	err = m.step(func() error { value, err = m.memStore.Get(ctx, name); return err })
	return value, err
}

func (m *mortal) Set(ctx context.Context, name string, value []byte) error {
	return m.step(func() error { return m.memStore.Set(ctx, name, value) })
}

func (m *mortal) Delete(ctx context.Context, name string) error {
	return m.step(func() error { return m.memStore.Delete(ctx, name) })
}

// A process that is killed at any of its calls of the store, in a login, a
// renewal, a logout, or when it pays what a store that failed owes, leaves the
// state before or after.
func TestKilledAtEveryCallOfTheStore(t *testing.T) {
	// Each makes the change; fail lets the store fail until it returns.
	for name, c := range map[string]struct {
		old  time.Duration // what is left of the stored login; 0: there is none
		do   func(ctx context.Context, s *TokenSource, next Credentials, fail func() (mend func()))
		none bool // nobody logged in is a good end
	}{
		"login": {do: func(ctx context.Context, s *TokenSource, next Credentials, _ func() func()) {
			_ = s.SignIn(ctx, next)
		}, none: true},
		"another login": {old: time.Hour, do: func(ctx context.Context, s *TokenSource, next Credentials, _ func() func()) {
			_, _ = s.Token(ctx)
			_ = s.SignIn(ctx, next)
		}},
		"renewal": {old: time.Minute, do: func(ctx context.Context, s *TokenSource, _ Credentials, _ func() func()) {
			_, _ = s.Token(ctx)
		}},
		"renewal that is saved late": {old: time.Minute, do: func(ctx context.Context, s *TokenSource, _ Credentials, fail func() func()) {
			mend := fail()
			_, _ = s.Token(ctx)
			mend()
			s.Reload()
			_ = s.SignedIn(ctx)
		}},
		"logout": {old: time.Hour, do: func(ctx context.Context, s *TokenSource, _ Credentials, _ func() func()) {
			_, _ = s.Token(ctx)
			_ = s.SignOut(ctx)
		}, none: true},
		"logout that is done late": {old: time.Hour, do: func(ctx context.Context, s *TokenSource, _ Credentials, fail func() func()) {
			_, _ = s.Token(ctx)
			mend := fail()
			_ = s.SignOut(ctx)
			mend()
			s.Reload()
			_ = s.SignedIn(ctx)
		}, none: true},
		"login that is saved at the end": {do: func(ctx context.Context, s *TokenSource, next Credentials, fail func() func()) {
			mend := fail()
			_ = s.SignIn(ctx, next)
			mend()
			_ = s.Close()
		}, none: true},
		"move": {old: time.Hour, do: func(ctx context.Context, s *TokenSource, _ Credentials, _ func() func()) {
			_, _ = s.Token(ctx)
			_ = s.Moved(ctx)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCursor(t)
			f.rotate = false // else a login dies with the process between Cursor's answer and saving it
			for killAt, whole := 1, false; !whole; killAt++ {
				for _, after := range []bool{false, true} {
					store := &mortal{memStore: &memStore{}, killAt: killAt, after: after}
					var before []byte
					if c.old != 0 {
						before = f.login(c.old).encode()
						store.values = map[string][]byte{loginName: before}
					}
					fail := func() func() {
						store.mu.Lock()
						defer store.mu.Unlock()
						store.setErr, store.delErr = errors.New("locked"), errors.New("locked")
						return func() {
							store.mu.Lock()
							defer store.mu.Unlock()
							store.setErr, store.delErr = nil, nil
						}
					}
					s := newSource(t, f.config(t, store))
					c.do(t.Context(), s, f.login(time.Hour), fail)
					whole = !store.dead
					s.Close()
					checkAfterKill(t, f, store.memStore, before, c.none, fmt.Sprintf("call %d, after %v", killAt, after))
				}
			}
		})
	}
}

// checkAfterKill looks at what a killed process left, as the next one does.
func checkAfterKill(t *testing.T, f *fakeCursor, store *memStore, before []byte, none bool, when string) {
	t.Helper()
	text, err := store.Get(t.Context(), loginName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !none {
			t.Errorf("%s: the login is gone", when)
		}
		return
	case err != nil:
		t.Fatal(err)
	case before != nil && bytes.Equal(text, before):
	default:
		if _, err := decodeCredentials(text); err != nil {
			t.Fatalf("%s: half a login is stored: %v", when, err)
		}
	}
	next := newSource(t, f.config(t, store))
	token, err := next.Token(t.Context())
	f.set(func() {
		if err != nil || !f.valid[token] {
			t.Errorf("%s: the stored login is not good: %v", when, err)
		}
	})
}
