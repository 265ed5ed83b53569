package proxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// takeAll takes every slot and fails the test if one is not to be had.
func takeAll(t *testing.T, s *slots) {
	t.Helper()
	for range s.size {
		if !s.enter(t.Context()) {
			t.Fatal("no slot although one is free")
		}
	}
}

// TestSlotsWaitForAnEnd: who asks right after the last answers came must not be
// turned away because their handlers are not quite through.
func TestSlotsWaitForAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []int
		s := &slots{size: 64, changed: func(active int) { reports = append(reports, active) }}
		takeAll(t, s)
		start := time.Now()
		results := make(chan bool, s.size)
		for range s.size {
			go func() { results <- s.enter(t.Context()) }()
		}
		synctest.Wait()
		reports = nil
		time.Sleep(slotPatience - time.Millisecond)
		for range s.size {
			s.leave()
		}
		for range s.size {
			if !<-results {
				t.Error("turned away although a slot became free in time")
			}
		}
		if waited := time.Since(start); waited >= slotPatience {
			t.Errorf("waited %v", waited)
		}
		if len(reports) > 0 {
			t.Errorf("reported %v, though as many ran all the time", reports)
		}
		for range s.size {
			s.leave()
		}
		takeAll(t, s)
	})
}

func TestSlotsTurnAway(t *testing.T) {
	for name, test := range map[string]struct {
		waiting int // requests that wait before
		give    func(s *slots, cancel func())
		after   time.Duration
	}{
		"none becomes free":   {0, func(*slots, func()) {}, slotPatience},
		"the line is full":    {2, func(*slots, func()) {}, 0},
		"the client has left": {0, func(_ *slots, cancel func()) { cancel() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slots{size: 2}
				takeAll(t, s)
				for range test.waiting {
					go s.enter(t.Context())
				}
				synctest.Wait()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				test.give(s, cancel)
				start := time.Now()
				if s.enter(ctx) {
					t.Error("there is no slot")
				}
				if waited := time.Since(start); waited != test.after {
					t.Errorf("turned away after %v, want %v", waited, test.after)
				}
				time.Sleep(slotPatience) // those who wait give up
				synctest.Wait()
				s.leave()
				s.leave()
				takeAll(t, s)
			})
		})
	}
}

// TestSlotsKeepOrder: the first who waits is the first who enters.
func TestSlotsKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{size: 3}
		takeAll(t, s)
		entered := make(chan int, s.size)
		for i := range s.size {
			go func() {
				if s.enter(t.Context()) {
					entered <- i
				}
			}()
			synctest.Wait()
		}
		for i := range s.size {
			s.leave()
			if got := <-entered; got != i {
				t.Errorf("number %d entered, want %d", got, i)
			}
		}
	})
}
