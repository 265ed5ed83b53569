package agentcli

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Timeouts are the limits of one run of the CLI. A value that makes no sense
// (not above 0, or above a day) stands for the default.
type Timeouts struct {
	Start time.Duration // to the first output; 60 s
	Idle  time.Duration // of silence while no tool of the CLI is at work; 120 s
	Tool  time.Duration // of silence while one is; 10 min
	Run   time.Duration // the whole run; 30 min
}

func (t Timeouts) withDefaults() Timeouts {
	pick := func(value, def time.Duration) time.Duration {
		if value <= 0 || value > 24*time.Hour {
			return def
		}
		return value
	}
	return Timeouts{
		Start: pick(t.Start, time.Minute),
		Idle:  pick(t.Idle, 2*time.Minute),
		Tool:  pick(t.Tool, 10*time.Minute),
		Run:   pick(t.Run, 30*time.Minute),
	}
}

// watch is a reader that calls expire once when one read takes longer than the
// limit, or when the run does. Only time spent in Read counts as silence: while
// the client is slow to take what came, nothing is expected. The timer is never
// set back for data; when it fires it looks how long the current read has
// lasted, so that a read costs one look at the clock and no lock.
type watch struct {
	r      io.Reader
	base   time.Time
	expire func()

	since atomic.Int64 // start of the current read after base; 0 between reads
	limit atomic.Int64

	mu    sync.Mutex
	done  bool
	timer *time.Timer
	run   *time.Timer
}

func newWatch(r io.Reader, limit, run time.Duration, expire func()) *watch {
	w := &watch{r: r, base: time.Now().Add(-time.Nanosecond), expire: expire}
	w.limit.Store(int64(limit))
	w.mu.Lock() // the timers may fire before they are stored
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.check)
	w.run = time.AfterFunc(run, w.expired)
	return w
}

// Read implements io.Reader.
func (w *watch) Read(p []byte) (int, error) {
	w.since.Store(int64(time.Since(w.base)))
	n, err := w.r.Read(p)
	w.since.Store(0)
	return n, err
}

// setLimit changes how long a read may take.
func (w *watch) setLimit(limit time.Duration) {
	if w.limit.Swap(int64(limit)) == int64(limit) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.timer.Reset(limit)
	}
}

// stop ends the watch. expire is not called after it, but may be under way.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.timer.Stop()
	w.run.Stop()
}

func (w *watch) check() {
	limit := time.Duration(w.limit.Load())
	var silent time.Duration
	if since := w.since.Load(); since != 0 {
		silent = time.Since(w.base) - time.Duration(since)
	}
	if silent >= limit {
		w.expired()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.timer.Reset(limit - silent)
	}
}

func (w *watch) expired() {
	w.mu.Lock()
	first := !w.done
	w.done = true
	w.mu.Unlock()
	if first {
		w.expire()
	}
}
