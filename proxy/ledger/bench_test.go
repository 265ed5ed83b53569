package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAdd is what a request pays for its entry, with the writer at work.
func BenchmarkAdd(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{})
	defer l.Close()
	e := Entry{At: time.Now(), Editor: "codex", Model: "claude-opus-5-5", Dialect: "messages", Backend: "agent", Outcome: OK, Input: 84_250, Cost: "1.25"}
	for b.Loop() {
		l.Add(e)
	}
}

// BenchmarkWrite is what one entry costs the writer; its inverse is how many a
// second it sustains.
func BenchmarkWrite(b *testing.B) {
	l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{})
	defer l.Close()
	e := Entry{At: time.Now(), Editor: "codex", Model: "claude-opus-5-5", Dialect: "messages", Backend: "agent", Outcome: OK, Input: 84_250, Cost: "1.25"}
	n := 0
	for b.Loop() {
		l.Add(e)
		if n++; n%1000 == 0 {
			l.await(b.Context())
		}
	}
	l.await(b.Context())
}

// BenchmarkTickUnderLoad is the worst and the mean delay of a goroutine that
// wakes every millisecond, as a stream does, while 10,000 entries a second are
// added.
func BenchmarkTickUnderLoad(b *testing.B) {
	for _, rate := range []int{0, 10_000} {
		b.Run(map[int]string{0: "idle", 10_000: "10000-a-second"}[rate], func(b *testing.B) {
			l := Open(filepath.Join(b.TempDir(), "ledger.db"), Options{})
			defer l.Close()
			var sum, worst time.Duration
			n := 0
			for b.Loop() {
				begin := time.Now()
				timer := time.NewTimer(time.Millisecond)
				<-timer.C
				late := time.Since(begin) - time.Millisecond
				sum, worst = sum+late, max(worst, late)
				n++
				for range rate / 1000 {
					l.Add(Entry{At: begin, Editor: "codex", Model: "claude-opus-5-5", Outcome: OK})
				}
			}
			b.ReportMetric(float64(sum.Microseconds())/float64(n), "us-late")
			b.ReportMetric(float64(worst.Microseconds()), "us-worst")
			if l.Dropped() > 0 {
				b.Errorf("%d were dropped", l.Dropped())
			}
		})
	}
}

// BenchmarkWriteFull is the same for a file that is as large as it may be, so
// that old entries go as new ones come.
func BenchmarkWriteFull(b *testing.B) {
	const size = 16 << 20
	path := filepath.Join(b.TempDir(), "ledger.db")
	l := Open(path, Options{MaxBytes: size})
	defer l.Close()
	e := Entry{At: time.Now(), Editor: "codex", Model: "claude-opus-5-5", Dialect: "messages", Backend: "agent", Outcome: OK, Input: 84_250, Cost: "1.25"}
	add := func(n int) {
		for range n {
			e.At = e.At.Add(time.Millisecond)
			l.Add(e)
		}
		l.await(b.Context())
	}
	for {
		add(maxQueue / 2)
		if info, err := os.Stat(path); err == nil && info.Size() > size*9/10 {
			break
		}
	}
	n := 0
	for b.Loop() {
		if n++; n%1000 == 0 {
			add(1000)
		}
	}
	l.await(b.Context())
}
