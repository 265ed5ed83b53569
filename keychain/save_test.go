package keychain

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// long returns n printable bytes that begin with mark.
func long(mark string, n int) []byte {
	return []byte(mark + strings.Repeat("0123456789", n/10+1))[:n]
}

func TestKC1_WhatIsStoredIsRead(t *testing.T) {
	tests := []struct {
		name  string
		value []byte
		items int
	}{
		{"empty", []byte{}, 1},
		{"short", []byte("sk-123"), 1},
		{"2000 bytes", long("a", 2000), 1},
		{"2001 bytes", long("a", 2001), 3},
		{"4000 bytes", long("a", 4000), 3},
		{"64 KiB", long("a", 64<<10), 34},
		{"the most", bytes.Repeat([]byte{0xff}, maxValue), maxParts + 1},
		{"zero byte", []byte("a\x00b"), 2},
		{"line break at the end", []byte("token\n"), 2},
		{"not UTF-8", []byte{0xff, 0xfe}, 2},
		{"unicode", []byte("schlüssel"), 2},
		{"JSON", []byte(`{"version":1,"access":"x"}`), 1},
		{"like a head", []byte(`{"v":1,"n":3,"gen":"9f86d081","sha256":"00"}`), 2},
		{"like a later head", []byte(`{"v":27,"n":x`), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf()
			for range 2 { // the second time over a former value
				if err := save(s, "login", tt.value); err != nil {
					t.Fatal(err)
				}
				s.wantOnly(t, "login", tt.value)
			}
			if len(s.texts) != tt.items || s.longest > maxItem {
				t.Errorf("%d items, the longest of %d bytes", len(s.texts), s.longest)
			}
			if err := remove(s, "login"); err != nil {
				t.Fatal(err)
			}
			s.wantEmpty(t)
		})
	}
}

func TestNamesDoNotTouchEachOther(t *testing.T) {
	s := newShelf()
	for _, name := range []string{"login", "login2"} {
		if err := save(s, name, long(name, 5000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(s, "login"); err != nil {
		t.Fatal(err)
	}
	s.wantOnly(t, "login2", long("login2", 5000))
}

// sizes are the ways a value can lie in the store: not at all, as one item,
// and in parts.
var sizes = []int{-1, 100, 2500, 7000}

func sized(mark string, n int) []byte {
	if n < 0 {
		return nil
	}
	return long(mark, n)
}

// apply makes value the stored one, or removes what is stored for nil.
func apply(it items, name string, value []byte) error {
	if value == nil {
		return remove(it, name)
	}
	return save(it, name, value)
}

// current returns the stored value, or nil.
func current(t *testing.T, it items) []byte {
	t.Helper()
	value, err := load(it, "login")
	if gone(err) != nil {
		t.Fatalf("the value cannot be read any more: %v", err)
	}
	return value
}

// eachFault calls f for every pair of an old and a new value and every fault
// at every step of the change from one to the other. The shelf is as the
// change left it.
func eachFault(t *testing.T, f func(t *testing.T, s *shelf, before, after []byte, err error)) {
	changed := func(before, after []byte, at int, kind fault) (*shelf, error) {
		s := newShelf()
		if err := apply(s, "login", before); err != nil {
			t.Fatal(err)
		}
		s.steps, s.faultAt, s.fault = 0, at, kind
		return s, apply(s, "login", after)
	}
	for _, oldSize := range sizes {
		for _, newSize := range sizes {
			before, after := sized("old", oldSize), sized("new", newSize)
			whole, err := changed(before, after, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for kind := dieBefore; kind <= failAfter; kind++ {
				for at := 1; at <= whole.steps; at++ {
					s, err := changed(before, after, at, kind)
					t.Run(fmt.Sprintf("%d to %d/%s step %d", oldSize, newSize, faultNames[kind], at), func(t *testing.T) {
						f(t, s.reboot(), before, after, err)
					})
				}
			}
		}
	}
}

func TestAFaultAtAnyStepLeavesTheOldOrTheNewValue(t *testing.T) {
	eachFault(t, func(t *testing.T, s *shelf, before, after []byte, err error) {
		got := current(t, s)
		isOld, isNew := bytes.Equal(got, before), bytes.Equal(got, after)
		if !isOld && !isNew || err == nil && !isNew {
			t.Fatalf("the call returned %v and the value is %s", err, brief(got))
		}
		if err != nil && strings.Contains(err.Error(), "0123456789") {
			t.Errorf("the error quotes the secret: %v", err)
		}
	})
}

func TestTheNextWriteCleansUp(t *testing.T) {
	for _, size := range sizes {
		next := sized("next", size)
		eachFault(t, func(t *testing.T, s *shelf, _, _ []byte, _ error) {
			if err := apply(s, "login", next); err != nil {
				t.Fatal(err)
			}
			if next == nil {
				s.wantEmpty(t)
			} else {
				s.wantOnly(t, "login", next)
			}
		})
	}
}

// TestManyFaults interrupts one change after the other.
func TestManyFaults(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newShelf()
		var before []byte
		for i := range 12 {
			after := sized(fmt.Sprintf("<%d>", i), sizes[r.IntN(len(sizes))])
			s.steps, s.faultAt, s.fault = 0, 1+r.IntN(20), fault(r.IntN(4))
			_ = apply(s, "login", after)
			s = s.reboot()
			got := current(t, s)
			if !bytes.Equal(got, before) && !bytes.Equal(got, after) {
				t.Fatalf("seed %d, change %d: the value is %s", seed, i, brief(got))
			}
			before = got
		}
		if err := remove(s, "login"); err != nil {
			t.Fatal(err)
		}
		s.wantEmpty(t)
	}
}

func TestKC1_AStoreThatCutsIsFoundOut(t *testing.T) {
	for _, oldSize := range sizes {
		for _, newSize := range sizes[1:] {
			for _, cut := range []int{1, 60, 1999} {
				if newSize <= cut {
					continue
				}
				t.Run(fmt.Sprintf("%d to %d cut to %d", oldSize, newSize, cut), func(t *testing.T) {
					s := newShelf()
					before := sized("old", oldSize)
					if err := apply(s, "login", before); err != nil {
						t.Fatal(err)
					}
					oldText := s.texts["login"]
					s.onSet = func(name string) {
						if s.texts[name] != oldText[:min(len(oldText), cut)] {
							return
						}
						s.texts[name] = oldText // short enough once is short enough again
					}
					s.cut = cut
					if err := save(s, "login", sized("new", newSize)); !errors.Is(err, ErrUnavailable) {
						t.Fatalf("err = %v", err)
					}
					if got := current(t, s); !bytes.Equal(got, before) {
						t.Errorf("the value became %s", brief(got))
					}
				})
			}
		}
	}
}

func TestDamageIsTold(t *testing.T) {
	value := long("x", 5000)
	sum := strings.Repeat("0", 64)
	tests := []struct {
		name   string
		damage func(s *shelf, part func(int) string)
	}{
		{"part missing", func(s *shelf, part func(int) string) { delete(s.texts, part(1)) }},
		{"part changed", func(s *shelf, part func(int) string) { s.texts[part(0)] = "y" + s.texts[part(0)][1:] }},
		{"part cut", func(s *shelf, part func(int) string) { s.texts[part(2)] = "" }},
		{"parts swapped", func(s *shelf, part func(int) string) {
			s.texts[part(0)], s.texts[part(1)] = s.texts[part(1)], s.texts[part(0)]
		}},
		{"head cut", func(s *shelf, _ func(int) string) { s.texts["login"] = s.texts["login"][:50] }},
		{"head with more", func(s *shelf, _ func(int) string) { s.texts["login"] += "}" }},
		{"head of a later version", func(s *shelf, _ func(int) string) {
			s.texts["login"] = `{"v":2,"n":1,"gen":"01234567","sha256":"` + sum + `"}`
		}},
		{"head with too many parts", func(s *shelf, _ func(int) string) {
			s.texts["login"] = `{"v":1,"n":999999999,"gen":"01234567","sha256":"` + sum + `"}`
		}},
		{"not base64", func(s *shelf, part func(int) string) {
			s.texts["login"] = strings.TrimSuffix(s.texts["login"], "}") + `,"b64":true}`
			s.texts[part(0)] = "!"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf()
			if err := save(s, "login", value); err != nil {
				t.Fatal(err)
			}
			h, _, _ := parseHead(s.texts["login"])
			tt.damage(s, func(i int) string { return h.generation().item("login", i) })
			if _, err := load(s, "login"); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("err = %v, want ErrCorrupt", err)
			}
			if err := save(s, "login", []byte("again")); err != nil {
				t.Fatalf("a damaged value cannot be replaced: %v", err)
			}
			if got := current(t, s); string(got) != "again" {
				t.Errorf("value = %s", brief(got))
			}
		})
	}
}

func TestReadingWhileAnotherProcessWrites(t *testing.T) {
	s := newShelf()
	if err := save(s, "login", long("old", 5000)); err != nil {
		t.Fatal(err)
	}
	first, _, _ := parseHead(s.texts["login"])
	s.onGet = func(name string) {
		if name == first.generation().item("login", 1) {
			s.onGet = nil
			if err := save(s, "login", long("new", 9000)); err != nil {
				t.Error(err)
			}
		}
	}
	if got := current(t, s); !bytes.Equal(got, long("new", 9000)) {
		t.Errorf("value = %s", brief(got))
	}
}

func TestTheLaterOfTwoWritersWins(t *testing.T) {
	theirs := long("theirs", 9000)
	tests := []struct {
		name  string
		write func(s *shelf) error
	}{
		{"began after our write", func(s *shelf) error { return save(s, "login", theirs) }},
		{"began before our write", func(s *shelf) error {
			// As if it had seen the value before ours: it does not know our parts.
			head, h, parts := layOut(theirs, "01234567")
			if err := writeParts(s, "login", h.generation(), parts); err != nil {
				return err
			}
			return s.set("login", head)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf()
			s.onSet = func(name string) {
				if name == "login" {
					s.onSet = nil
					if err := tt.write(s); err != nil {
						t.Error(err)
					}
				}
			}
			if err := save(s, "login", long("ours", 7000)); err != nil {
				t.Error(err)
			}
			delete(s.texts, journalItem("login")) // whoever's it is, the next call clears it
			s.wantOnly(t, "login", theirs)
		})
	}
}
