package cursor

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

// fakePlan is an answer that a test changes.
type fakePlan struct {
	takes time.Duration

	mu    sync.Mutex
	calls int
	err   error
}

func (f *fakePlan) fetch(ctx context.Context) (Plan, error) {
	f.mu.Lock()
	f.calls++
	err := f.err
	f.mu.Unlock()
	if err := sleep(ctx, f.takes); err != nil {
		return Plan{}, chat.AsError(err)
	}
	if err != nil {
		return Plan{}, err
	}
	return Plan{State: PlanOK, Fetched: time.Now().UTC().Round(0)}, nil
}

func (f *fakePlan) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// wantCalls looks at the number of calls since it did so last.
func (f *fakePlan) wantCalls(t *testing.T, when string, want int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls != want {
		t.Errorf("%s: %d calls, want %d", when, f.calls, want)
	}
	f.calls = 0
}

func TestPlanIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePlan{takes: time.Second}
		c := &planCache{fetch: f.fetch}
		results := make(chan error)
		for range 20 {
			go func() {
				_, err := c.get(t.Context(), time.Minute)
				results <- err
			}()
		}
		for range 20 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		f.wantCalls(t, "20 at once", 1)
		time.Sleep(time.Minute)
		if _, err := c.get(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		f.wantCalls(t, "still good", 0)
		time.Sleep(time.Second)
		if _, err := c.get(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		f.wantCalls(t, "too old", 1)
		if _, err := c.get(t.Context(), 0); err != nil {
			t.Error(err)
		}
		f.wantCalls(t, "the user wants it", 1)
	})
}

// TestPlanAskedForByOneWhoLeaves: the others still get an answer.
func TestPlanAskedForByOneWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePlan{takes: time.Second}
		c := &planCache{fetch: f.fetch}
		ctx, leave := context.WithCancel(t.Context())
		left, stayed := make(chan error), make(chan error)
		go func() {
			_, err := c.get(ctx, time.Minute)
			left <- err
		}()
		synctest.Wait()
		go func() {
			_, err := c.get(t.Context(), time.Minute)
			stayed <- err
		}()
		synctest.Wait()
		leave()
		wantCode(t, <-left, chat.Canceled, "")
		if err := <-stayed; err != nil {
			t.Error(err)
		}
		f.wantCalls(t, "one left, one stayed", 2)
	})
}

// TestPlanBackOff: failures make calls rarer, up to half an hour; the last
// figures stay.
func TestPlanBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePlan{}
		c := &planCache{fetch: f.fetch}
		first, err := c.get(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		f.calls = 0
		f.fail(&chat.Error{Kind: chat.BadGateway})
		start := time.Now()
		var tries []time.Duration
		for time.Since(start) < 3*time.Hour {
			time.Sleep(10 * time.Second)
			before := f.calls
			p, err := c.get(t.Context(), 5*time.Second)
			if err == nil || p != first {
				t.Fatalf("%+v, %v", p, err)
			}
			if f.calls > before {
				tries = append(tries, time.Since(start))
			}
		}
		want := []time.Duration{10 * time.Second, 70 * time.Second, 190 * time.Second, 430 * time.Second, 910 * time.Second,
			1870 * time.Second, 3670 * time.Second, 5470 * time.Second, 7270 * time.Second, 9070 * time.Second}
		if len(tries) != len(want) {
			t.Fatalf("tries at %v", tries)
		}
		for i := range want {
			if tries[i] != want[i] {
				t.Errorf("try %d at %v, want %v", i, tries[i], want[i])
			}
		}
		f.calls = 0
		if _, err := c.get(t.Context(), 0); err == nil {
			t.Error("no error")
		}
		f.wantCalls(t, "the user wants it", 1)
		f.fail(nil)
		if _, err := c.get(t.Context(), 0); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		f.calls = 0
		if _, err := c.get(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
		f.wantCalls(t, "good again", 1)
	})
}

// TestPlanRetryAfter: what Cursor asks for holds for users, too.
func TestPlanRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePlan{err: &chat.Error{Kind: chat.RateLimited, RetryAfter: 5 * time.Minute}}
		c := &planCache{fetch: f.fetch}
		for range 3 {
			_, err := c.get(t.Context(), 0)
			wantCode(t, err, chat.RateLimited, "")
			time.Sleep(time.Minute)
		}
		f.wantCalls(t, "within the time", 1)
		time.Sleep(2 * time.Minute)
		_, _ = c.get(t.Context(), 0)
		f.wantCalls(t, "afterwards", 1)
	})
}

// TestPlanOfAnotherLogin: an answer that comes after a log-out is dropped.
func TestPlanOfAnotherLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePlan{takes: time.Second}
		c := &planCache{fetch: f.fetch}
		done := make(chan Plan)
		go func() {
			p, _ := c.get(t.Context(), time.Minute)
			done <- p
		}()
		synctest.Wait()
		c.forget()
		if p := <-done; p != (Plan{}) {
			t.Errorf("got %+v", p)
		}
		if p := c.current(); p != (Plan{}) {
			t.Errorf("kept %+v", p)
		}
	})
}
