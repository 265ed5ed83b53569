package keychain

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shelf is a fake store of items with the limits of the real ones.
type shelf struct {
	mu      sync.Mutex
	texts   map[string]string
	longest int // item ever offered
	steps   int // calls so far
	faultAt int // step that fails; 0 is never
	fault   fault
	dead    bool
	cut     int // silently keep no more than so many bytes of a text

	// onGet and onSet, if set, run before and after such a step.
	onGet, onSet func(name string)
}

// fault is what happens at the step faultAt.
type fault int

const (
	dieBefore fault = iota // kill -9 before the step took effect
	dieAfter               // and after
	failBefore
	failAfter // the step took effect and says that it failed
)

var faultNames = [...]string{"die before", "die after", "fail before", "fail after"}

var errBroken = errors.New("broken shelf")

func newShelf() *shelf { return &shelf{texts: map[string]string{}} }

// reboot returns a working shelf with s's items.
func (s *shelf) reboot() *shelf { return &shelf{texts: maps.Clone(s.texts)} }

func (s *shelf) step(effect func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps++
	if s.dead {
		return errBroken
	}
	if s.steps != s.faultAt {
		effect()
		return nil
	}
	s.dead = s.fault == dieBefore || s.fault == dieAfter
	if s.fault == dieAfter || s.fault == failAfter {
		effect()
	}
	return errBroken
}

func (s *shelf) get(name string) (text string, err error) {
	if s.onGet != nil {
		s.onGet(name)
	}
	ok := false
	if err := s.step(func() { text, ok = s.texts[name] }); err != nil {
		return "", err
	}
	if !ok {
		return "", ErrNotFound
	}
	return text, nil
}

func (s *shelf) set(name, text string) error {
	s.longest = max(s.longest, len(text))
	// Windows refuses values above 2,560 bytes; the macOS tool takes 4,096
	// bytes with the value in base64, about 2,950 for all three together.
	if len(text) > 2560 || len("cursortray")+len(name)+len(text) > 2950 {
		return errors.New("data passed to Set was too big")
	}
	if s.cut > 0 {
		text = text[:min(len(text), s.cut)]
	}
	err := s.step(func() { s.texts[name] = text })
	if s.onSet != nil {
		s.onSet(name)
	}
	return err
}

func (s *shelf) delete(name string) error {
	ok := false
	err := s.step(func() {
		_, ok = s.texts[name]
		delete(s.texts, name)
	})
	if err == nil && !ok {
		return ErrNotFound
	}
	return err
}

// wantOnly checks that s holds the items of value and nothing else.
func (s *shelf) wantOnly(t *testing.T, name string, value []byte) {
	t.Helper()
	got, err := load(s, name)
	if err != nil || string(got) != string(value) {
		t.Fatalf("load = %s, %v; want %s", brief(got), err, brief(value))
	}
	want := 1
	if h, isHead, _ := parseHead(s.texts[name]); isHead {
		want += h.N
	}
	if len(s.texts) != want {
		t.Fatalf("%d items instead of %d are stored: %v", len(s.texts), want, s.names())
	}
}

func (s *shelf) wantEmpty(t *testing.T) {
	t.Helper()
	if len(s.texts) > 0 {
		t.Fatalf("items are left: %v", s.names())
	}
}

func (s *shelf) names() []string { return slices.Sorted(maps.Keys(s.texts)) }

func brief(value []byte) string {
	if value == nil {
		return "nothing"
	}
	return strings.TrimSpace(string(value[:min(len(value), 20)])) + "..."
}
