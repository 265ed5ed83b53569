package agentcli

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// slowReader takes that long for each read.
type slowReader struct{ pause time.Duration }

func (s *slowReader) Read(p []byte) (int, error) {
	if s.pause < 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pause) // of the synctest bubble
	return min(1, len(p)), nil
}

// TestRS2_Watch: only the time of one read counts as silence.
func TestRS2_Watch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var expired time.Duration
		r := &slowReader{pause: 9 * time.Second}
		w := newWatch(r, 10*time.Second, time.Hour, func() { expired = time.Since(start) })
		buf := make([]byte, 8)
		for range 20 {
			w.Read(buf)
			time.Sleep(30 * time.Second) // a slow client
		}
		synctest.Wait()
		if expired != 0 {
			t.Fatalf("expired after %v", expired)
		}
		w.setLimit(time.Minute)
		r.pause = 59 * time.Second
		w.Read(buf)
		w.setLimit(10 * time.Second) // shorter again: counts at once
		start = time.Now()
		r.pause = 30 * time.Second
		w.Read(buf)
		synctest.Wait()
		if expired != 10*time.Second {
			t.Errorf("expired after %v of silence", expired)
		}
	})
}

func TestRS2_WatchEndsTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		count := 0
		var expired time.Duration
		w := newWatch(&slowReader{pause: time.Second}, time.Minute, 90*time.Second, func() { count++; expired = time.Since(start) })
		for range 200 {
			w.Read(make([]byte, 1))
		}
		synctest.Wait()
		if expired != 90*time.Second || count != 1 {
			t.Errorf("expired %d times, after %v", count, expired)
		}
		w.stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		if count != 1 {
			t.Error("expired after its end")
		}
	})
}

// TestRS2_SenselessLimits: nonsense stands for the default.
func TestRS2_SenselessLimits(t *testing.T) {
	got := Timeouts{Start: -1, Idle: 999999999 * time.Second, Tool: 3 * time.Second}.withDefaults()
	want := Timeouts{Start: time.Minute, Idle: 2 * time.Minute, Tool: 3 * time.Second, Run: 30 * time.Minute}
	if got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
}
