package app

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/cursor"
)

// A sleep of the machine shows in the clock on the wall only. (TD-4)
func TestTD4_SleepIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		account := signedIn(catalogOfIDs(t, time.Now(), "default"))
		account.plan = cursor.Plan{Name: "Pro", Fetched: time.Now()}
		var asleep atomic.Int64
		var wakes atomic.Int32
		b := &counting{Backend: chattest.New()}
		a := New(Config{
			Addr: "127.0.0.1:8765", Backend: b, Keys: &fakeKeys{}, Account: account, AccountChanged: account.changed,
			Listen: func(string) (net.Listener, error) { return &silent{end: make(chan struct{})}, nil },
			Now:    func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) },
			Wake: func(context.Context) {
				wakes.Add(1)
				time.Sleep(3 * time.Second) // a renewal
			},
		})
		ended := make(chan error, 1)
		go func() { ended <- a.Run(t.Context()) }()
		refreshed := func() bool {
			var asked []string
			account.do(func() { asked = slices.Clone(account.asked) })
			return slices.Contains(asked, "refresh")
		}
		time.Sleep(time.Minute + firstCheck)
		synctest.Wait()
		if wakes.Load() != 0 || refreshed() || b.checks.Load() != 1 {
			t.Fatalf("%d times awake without a sleep, %d checks", wakes.Load(), b.checks.Load())
		}
		// A step of the clock by a time server is no sleep.
		asleep.Add(int64(40 * time.Second))
		time.Sleep(wakeInterval)
		synctest.Wait()
		if wakes.Load() != 0 {
			t.Error("a small step of the clock counts as a sleep")
		}
		asleep.Add(int64(8 * time.Hour))
		time.Sleep(wakeInterval)
		synctest.Wait()
		if wakes.Load() != 1 || refreshed() {
			t.Errorf("%d times awake; the figures must wait for the connection", wakes.Load())
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !refreshed() || b.checks.Load() != 2 {
			t.Errorf("the figures were not asked for, or the back-end not checked: %d checks", b.checks.Load())
		}
		asleep.Add(-int64(9 * time.Hour)) // the clock is set back
		time.Sleep(time.Minute)
		synctest.Wait()
		if wakes.Load() != 1 {
			t.Error("a clock that is set back counts as a sleep")
		}
		a.Do(Quit{})
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
