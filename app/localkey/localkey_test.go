package localkey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"cursortray/keychain"
	"cursortray/proxy/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is a memory store with faults.
type store struct {
	keychain.Store
	getErr, setErr error
	kind           string        // "" is "keychain"
	hang           chan struct{} // Get waits for its end, if set
	gets           atomic.Int64
}

func newStore() *store { return &store{Store: keychain.Memory()} }

func (s *store) Kind() string { return cmp.Or(s.kind, "keychain") }

func (s *store) Get(ctx context.Context, name string) ([]byte, error) {
	s.gets.Add(1)
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.getErr != nil {
		return nil, s.getErr
	}
	return s.Store.Get(ctx, name)
}

func (s *store) Set(ctx context.Context, name string, value []byte) error {
	if s.setErr != nil {
		return s.setErr
	}
	return s.Store.Set(ctx, name, value)
}

func newKeys(t *testing.T, fixed string, s keychain.Store) (*Keys, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	k := New(Config{Fixed: fixed, Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(k.Close)
	return k, &log
}

func get(t *testing.T, k *Keys) string {
	t.Helper()
	key, err := k.Key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	s := newStore()
	first, _ := newKeys(t, "", s)
	key := get(t, first)
	if !strings.HasPrefix(key, "ct-") || len(key) != 3+43 {
		t.Errorf("key %q, want ct- and 32 random bytes", key)
	}
	second, _ := newKeys(t, "", s)
	if again := get(t, second); again != key {
		t.Errorf("the next start has the key %q, not %q", again, key)
	}
	if first.ForThisRun() || second.ForThisRun() {
		t.Error("the key counts as one that is lost with the process")
	}
}

func TestKC2_OneReadPerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.hang = make(chan struct{})
		k, _ := newKeys(t, "", s)
		const requests = 1000
		keys := make(chan string, requests)
		for range requests {
			go func() {
				key, err := k.Key(t.Context())
				if err != nil {
					t.Error(err)
				}
				keys <- key
			}()
		}
		synctest.Wait() // all of them wait for the store
		close(s.hang)
		first := <-keys
		for range requests - 1 {
			if key := <-keys; key != first || key == "" {
				t.Errorf("keys %q and %q", first, key)
			}
		}
		if n := s.gets.Load(); n != 1 {
			t.Errorf("the store was read %d times", n)
		}
	})
}

func TestKC2_AStoreThatHangsHoldsNobodyForLongerThanTheyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.hang = make(chan struct{})
		k, _ := newKeys(t, "", s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := k.Key(ctx); chat.AsError(err).Kind != chat.Canceled {
			t.Errorf("error %v, want the caller's own end", err)
		}
		k.Close() // returns although the store never answers
		if _, err := k.Key(t.Context()); err == nil {
			t.Error("a key after Close")
		}
	})
}

func TestNoKeychainMeansAKeyForThisRun(t *testing.T) {
	for name, s := range map[string]*store{
		"on reading": {Store: keychain.Memory(), getErr: fmt.Errorf("dial: %w", keychain.ErrUnavailable)},
		"on storing": {Store: keychain.Memory(), setErr: fmt.Errorf("dial: %w", keychain.ErrUnavailable)},
	} {
		k, log := newKeys(t, "", s)
		key := get(t, k)
		if get(t, k) != key || !k.ForThisRun() {
			t.Errorf("%s: not one key for this run", name)
		}
		if text := log.String(); !strings.Contains(text, "CURSORTRAY_API_KEY") || !strings.Contains(text, "CURSORTRAY_TOKEN_STORE=file") || strings.Contains(text, key) {
			t.Errorf("%s: the log should say how to keep the key, without it: %s", name, text)
		}
	}
}

// A remedy that is in force already is none.
func TestAFileStoreThatCannotWriteIsNotItsOwnRemedy(t *testing.T) {
	k, log := newKeys(t, "", &store{Store: keychain.Memory(), kind: "file", setErr: fmt.Errorf("no space left: %w", keychain.ErrUnavailable)})
	get(t, k)
	if text := log.String(); strings.Contains(text, "TOKEN_STORE") || !strings.Contains(text, "writable") || !strings.Contains(text, "no space left") {
		t.Errorf("the log should name the folder's fault and another way: %s", text)
	}
}

func TestKC2_ALockedKeychainIsToldAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		k, _ := newKeys(t, "", s)
		key := get(t, k)

		s.getErr = fmt.Errorf("read: %w", keychain.ErrLocked)
		k, _ = newKeys(t, "", s)
		before := s.gets.Load()
		for range 5 {
			_, err := k.Key(t.Context())
			e := chat.AsError(err)
			if e == nil || e.Kind != chat.Unavailable || !strings.Contains(e.Message, "unlock") || e.RetryAfter == 0 {
				t.Fatalf("error %v, want one that says to unlock the keychain", err)
			}
		}
		if n := s.gets.Load() - before; n != 1 {
			t.Errorf("the locked keychain was asked %d times at once", n)
		}
		s.getErr = nil // the user unlocks it
		time.Sleep(retryAfter)
		if again := get(t, k); again != key {
			t.Errorf("after unlocking the key is %q, not the old %q", again, key)
		}
	})
}

// Who has unlocked the keychain and says so does not wait for the next try.
func TestKC2_AnUnlockedKeychainIsAskedAtOnceOnDemand(t *testing.T) {
	s := newStore()
	s.getErr = fmt.Errorf("read: %w", keychain.ErrLocked)
	k, _ := newKeys(t, "", s)
	if _, err := k.Key(t.Context()); err == nil {
		t.Fatal("a locked keychain gave a key")
	}
	s.getErr = nil
	k.Reload()
	key, before := get(t, k), s.gets.Load()
	k.Reload()
	if again := get(t, k); again != key || s.gets.Load() != before {
		t.Errorf("a known key was read again: %q, %q", key, again)
	}
}

func TestDamagedKeyIsReplaced(t *testing.T) {
	s := newStore()
	s.getErr = fmt.Errorf("read: %w", keychain.ErrCorrupt)
	k, log := newKeys(t, "", s)
	key := get(t, k)
	if stored, err := s.Store.Get(t.Context(), entry); err != nil || string(stored) != key {
		t.Errorf("stored %q (%v), want the new key", stored, err)
	}
	if !strings.Contains(log.String(), "damaged") {
		t.Errorf("log: %s", log)
	}
}

func TestNewKey(t *testing.T) {
	s := newStore()
	k, _ := newKeys(t, "", s)
	old := get(t, k)
	fresh, err := k.NewKey(t.Context())
	if err != nil || fresh == old || get(t, k) != fresh {
		t.Errorf("new key %q (%v), old one %q, in use %q", fresh, err, old, get(t, k))
	}
	next, _ := newKeys(t, "", s)
	if get(t, next) != fresh {
		t.Error("the new key was not stored")
	}

	s.setErr = errors.New("disk full")
	if _, err := k.NewKey(t.Context()); err == nil || get(t, k) != fresh {
		t.Errorf("error %v, in use %q: a key that cannot be stored must not replace one that is", err, get(t, k))
	}
}

func TestNewKeyWithoutAKeychain(t *testing.T) {
	s := newStore()
	s.getErr, s.setErr = keychain.ErrUnavailable, keychain.ErrUnavailable
	k, _ := newKeys(t, "", s)
	old := get(t, k)
	fresh, err := k.NewKey(t.Context())
	if err != nil || fresh == old || get(t, k) != fresh || !k.ForThisRun() {
		t.Errorf("new key %q (%v), old one %q", fresh, err, old)
	}
}

func TestFixedKey(t *testing.T) {
	s := newStore()
	s.getErr = keychain.ErrUnavailable
	k, _ := newKeys(t, "mine", s)
	if get(t, k) != "mine" || s.gets.Load() != 0 || k.ForThisRun() {
		t.Error("the key of the settings is not used alone")
	}
	if _, err := k.NewKey(t.Context()); err == nil || !strings.Contains(err.Error(), "CURSORTRAY_API_KEY") {
		t.Errorf("error %v, want one that says where the key comes from", err)
	}
}
