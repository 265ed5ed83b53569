package keychain

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func reachable() (bool, error) { return false, nil }

// hanging is a store whose calls wait until released.
type hanging struct {
	*shelf
	released chan struct{}
}

func (h hanging) get(name string) (string, error) {
	<-h.released
	return h.shelf.get(name)
}

func (h hanging) set(name, text string) error {
	<-h.released
	return h.shelf.set(name, text)
}

func TestSystemStore(t *testing.T) {
	testStore(t, &system{items: newShelf(), reach: reachable})
}

// testStore is what every Store has to do.
func testStore(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	if _, err := s.Get(ctx, "login"); !errors.Is(err, ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of nothing: %v", err)
	}
	if err := s.Delete(ctx, "login"); err != nil {
		t.Errorf("Delete of nothing: %v", err)
	}
	for _, value := range []string{"first", "", "a\x00b\n", string(long("x", 4000)), string(long("y", 64<<10))} {
		given := []byte(value)
		if err := s.Set(ctx, "login", given); err != nil {
			t.Fatalf("Set: %v", err)
		}
		clear(given)
		got, err := s.Get(ctx, "login")
		if err != nil || string(got) != value {
			t.Fatalf("Get = %s, %v; want %s", brief(got), err, brief([]byte(value)))
		}
		clear(got)
		if again, err := s.Get(ctx, "login"); err != nil || string(again) != value {
			t.Fatalf("the value shares memory with a caller")
		}
	}
	if _, err := s.Get(ctx, "key"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of another name: %v", err)
	}
	if err := s.Delete(ctx, "login"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := s.Get(ctx, "login"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get after Delete: %v", err)
	}
	if err := s.Set(ctx, "login", make([]byte, maxValue+1)); s.Kind() != "memory" && err == nil {
		t.Error("a value of any size is taken")
	}
	for _, name := range []string{"", "a/b", "../a", "A", "a#1", "a b", ".a", "ä", strings.Repeat("a", 65)} {
		if err := s.Set(ctx, name, []byte("x")); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Set(canceled, "login", []byte("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("Set after the end of ctx: %v", err)
	}
}

func TestMemoryStore(t *testing.T) { testStore(t, Memory()) }

func TestKC2_AStoreThatNeverAnswers(t *testing.T) {
	tests := []struct {
		name   string
		where  string // "reach" or "call"
		locked bool
		after  time.Duration
		want   error
	}{
		{"not even there", "reach", false, reachLimit, ErrUnavailable},
		{"hangs in a call", "call", false, callLimit, ErrUnavailable},
		{"waits for a password", "call", true, callLimit, ErrLocked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released := make(chan struct{})
				shelf := newShelf()
				shelf.texts["key"] = "sk-123"
				s := &system{items: shelf, reach: func() (bool, error) {
					if tt.where == "reach" {
						<-released
					}
					return tt.locked, nil
				}}
				if tt.where == "call" {
					s.items = hanging{shelf, released}
				}
				start := time.Now()
				if _, err := s.Get(t.Context(), "key"); !errors.Is(err, tt.want) {
					t.Errorf("err = %v, want %v", err, tt.want)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("the call took %v", took)
				}
				callMany(t, s)
				if n := callsUnderWay(); n != 1 {
					t.Errorf("%d goroutines wait for the store, want the first call's", n)
				}
				close(released)
				synctest.Wait()
				if got, err := s.Get(t.Context(), "key"); err != nil || string(got) != "sk-123" {
					t.Errorf("once it answers again: %q, %v", got, err)
				}
			})
		})
	}
}

// callMany makes 1,000 calls at once to a store with a call that hangs.
// callsUnderWay counts the goroutines that a store has begun and that have not
// come back. The plain number of goroutines counts those of the runtime, too.
func callsUnderWay() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("keychain.(*system).run("))
}

func callMany(t *testing.T, s Store) {
	t.Helper()
	start := time.Now()
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			if _, err := s.Get(t.Context(), "key"); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a call behind the hanging one: %v", err)
			}
		})
	}
	all.Wait()
	synctest.Wait()
	if took := time.Since(start); took != reachLimit {
		t.Errorf("calls behind the hanging one took %v", took)
	}
}

func TestKC2_TheCallerMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf, released := newShelf(), make(chan struct{})
		shelf.texts["key"] = "old"
		s := &system{items: hanging{shelf, released}, reach: reachable}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.Set(ctx, "key", []byte("new"))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("err = %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := s.Get(ctx, "key"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
			t.Errorf("err = %v", err)
		}
		close(released)
		synctest.Wait()
		if shelf.texts["key"] != "old" {
			t.Error("the abandoned call went on and wrote")
		}
	})
}

func TestCallsTakeTurns(t *testing.T) {
	shelf := newShelf()
	s := &system{items: shelf, reach: reachable}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := s.Set(t.Context(), "key", long(string(rune('a'+i%26)), 5000)); err != nil {
				t.Error(err)
			}
			if _, err := s.Get(t.Context(), "key"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(shelf.texts) != 4 {
		t.Errorf("items: %v", shelf.names())
	}
}

// moody fails its first calls.
type moody struct {
	*shelf
	errs []error
}

func (m *moody) get(name string) (string, error) {
	if len(m.errs) > 0 {
		err := m.errs[0]
		m.errs = m.errs[1:]
		return "", err
	}
	return m.shelf.get(name)
}

func TestLocked(t *testing.T) {
	refused := errors.New("failed to unlock correct collection")
	tests := []struct {
		name   string
		locked []bool // answers of reach, the last one again and again
		errs   []error
		want   error
	}{
		{"opens without a prompt", []bool{true}, nil, nil},
		{"prompt answered, signal of another call taken", []bool{true, false}, []error{refused}, nil},
		{"prompt refused", []bool{true}, []error{refused}, ErrLocked},
		{"fails twice", []bool{true, false}, []error{errBroken, ErrUnavailable}, ErrUnavailable},
		{"broken, not locked", []bool{false}, []error{ErrUnavailable}, ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := &moody{shelf: newShelf(), errs: tt.errs}
			it.texts["key"] = "x"
			asked := 0
			s := &system{items: it, reach: func() (bool, error) {
				asked++
				return tt.locked[min(asked, len(tt.locked))-1], nil
			}}
			if _, err := s.Get(t.Context(), "key"); !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestAPanicOfTheLibraryIsAnError(t *testing.T) {
	s := &system{items: newShelf(), reach: func() (bool, error) { panic("nil signal") }}
	if _, err := s.Get(t.Context(), "key"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
	s.reach = reachable
	if _, err := s.Get(t.Context(), "key"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the next call: %v", err)
	}
}
