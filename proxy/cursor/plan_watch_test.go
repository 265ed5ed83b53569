package cursor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"cursortray/proxy/chat"
)

// watched is a PlanWatch at work on fake figures.
type watched struct {
	*PlanWatch
	fake  *fakePlan
	cache *planCache
	shown []error
}

func (w *watched) Plan(ctx context.Context, maxAge time.Duration) (Plan, error) {
	return w.cache.get(ctx, maxAge)
}

func (w *watched) nextPlanTry() time.Time { return w.cache.nextTry() }

// watch runs test in a bubble with a PlanWatch that has asked once.
func watch(t *testing.T, test func(w *watched)) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{fake: &fakePlan{}}
		w.cache = &planCache{fetch: w.fake.fetch}
		w.PlanWatch = newPlanWatch(w, func(_ Plan, err error) { w.shown = append(w.shown, err) })
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		synctest.Wait()
		w.fake.wantCalls(t, "at the start", 1)
		test(w)
		stop()
		<-done
	})
}

func (w *watched) after(t *testing.T, wait time.Duration, when string, want int) {
	t.Helper()
	time.Sleep(wait)
	synctest.Wait()
	w.fake.wantCalls(t, when, want)
}

func TestPlanWatchAsleep(t *testing.T) {
	watch(t, func(w *watched) { w.after(t, 24*time.Hour, "nobody looks", 0) })
}

func TestPlanWatchMenu(t *testing.T) {
	watch(t, func(w *watched) {
		time.Sleep(10 * time.Second)
		w.MenuOpened()
		w.after(t, time.Minute, "opened with new figures", 0)
		w.MenuOpened()
		w.after(t, time.Second, "opened with old figures", 1)
		for range 5 {
			w.after(t, 9*time.Minute+55*time.Second, "before the interval's end", 0)
			w.after(t, 5*time.Second, "at the interval's end", 1)
		}
		w.after(t, 24*time.Hour, "not opened for an hour", 0)
		w.MenuOpened()
		w.after(t, time.Second, "opened the next day", 1)
	})
}

func TestPlanWatchRuns(t *testing.T) {
	watch(t, func(w *watched) {
		time.Sleep(time.Minute)
		w.RunEnded()
		w.after(t, 10*time.Second, "just ended", 0)
		w.RunEnded()
		w.after(t, 14*time.Second, "another has ended", 0)
		w.after(t, time.Second, "quiet", 1)
		w.after(t, time.Hour, "nothing more", 0)
		for range 17 { // one run after the other
			w.RunEnded()
			time.Sleep(10 * time.Second)
		}
		synctest.Wait()
		w.fake.wantCalls(t, "busy for 170 seconds", 1)
		w.after(t, time.Minute, "quiet again", 1)
	})
}

func TestPlanWatchRefresh(t *testing.T) {
	watch(t, func(w *watched) {
		w.Refresh()
		w.after(t, 0, "wanted", 1)
		w.Refresh()
		w.after(t, time.Second, "wanted again", 1)
	})
}

func TestPlanWatchFailures(t *testing.T) {
	watch(t, func(w *watched) {
		time.Sleep(time.Minute)
		w.fake.fail(&chat.Error{Kind: chat.BadGateway})
		w.MenuOpened()
		w.after(t, time.Second, "opened", 1)
		for range 10 {
			w.MenuOpened()
			w.RunEnded()
		}
		w.after(t, 58*time.Second, "not at once", 0)
		w.after(t, 2*time.Second, "after a minute", 1)
		w.after(t, 59*time.Minute, "rarer and rarer", 4)
		w.after(t, 24*time.Hour, "not opened for an hour", 0)
		w.Refresh()
		w.after(t, time.Second, "wanted", 1)
		if n := len(w.shown); n != 8 || w.shown[0] != nil || w.shown[n-1] == nil {
			t.Errorf("shown: %v", w.shown)
		}
	})
}
