// Package ledger keeps what each request for a model used: when, by which
// editor, which model, by which way, how many tokens, what that costs, how it
// ended. It never gets anything of what was said, no path and no key.
//
// The ledger is one private SQLite file. A Ledger writes it from one goroutine,
// which begins with the first Add and ends in Close; nothing is opened before.
// A Reader only reads, also the file of another process, and has no goroutine
// between calls.
package ledger

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is one request for a model.
type Entry struct {
	At      time.Time // when it came
	Editor  string    // whose key it had; "" is the main key
	Model   string    // an id; "" is not known
	Dialect string    // chat, responses or messages
	Backend string    // that answered, or was to; "" is none: it did not come that far
	Outcome string    // OK, Cancelled, or the code of an error
	// Tokens by kind, apart from each other except that Reasoning is part of
	// Output; all 0 if they were not told.
	Input, Output, CacheRead, CacheWrite, Reasoning int64
	Cost                                            string // exact decimal dollars; "" is not known
	// Paused says that the turn waits for a tool of the client. What it used is
	// told at its end, so nothing is missing here.
	Paused          bool
	Context, Window int64 // tokens in the conversation's window, and its size; 0 is not known
	Took            time.Duration
}

// Outcomes that are no code of an error.
const (
	OK        = "ok"
	Cancelled = "cancelled" // the client left
)

// Options say how a Ledger works. The zero value will do.
type Options struct {
	MaxAge   time.Duration // older entries go; 0 is 400 days
	MaxBytes int64         // the oldest entries go beyond it; 0 is 64 MiB
	Logger   *slog.Logger  // nil is silence
}

const (
	defaultAge   = 400 * 24 * time.Hour
	defaultBytes = 64 << 20
	// maxQueue bounds what waits for a disk that is slow or full.
	maxQueue = 1 << 15
	// gatherTime is how long an entry waits for others to go to the disk with.
	gatherTime = 100 * time.Millisecond
	// gatherMost is how many entries do not wait any longer: together they take
	// the writer a millisecond, and streams are not to miss the processor for
	// more than that.
	gatherMost = 100
	// retryTime is how long the writer waits after a failure.
	retryTime = time.Second
	// flushTime is how long a reader waits for what was added before it.
	flushTime = time.Second
)

// Ledger is the file as its writer has it. Its methods may be called at any
// time from any goroutine.
type Ledger struct {
	reader  *Reader
	path    string
	opts    Options
	log     *slog.Logger
	dropped atomic.Int64  // in all
	suspect atomic.Bool   // somebody could not read the file
	wake    chan struct{} // has an element while entries wait
	many    chan struct{} // has one when many of them do
	flushes chan chan struct{}
	stop    chan struct{}
	writing sync.WaitGroup

	mu     sync.Mutex
	queue  []Entry
	lost   int // entries that found the queue full, since the last warning
	began  bool
	closed bool
}

// Open returns the ledger in the file at path. The file is neither made nor
// opened before it is needed; what is wrong with it then goes to the log, and
// a damaged one is moved aside.
func Open(path string, opts Options) *Ledger {
	if opts.MaxAge <= 0 {
		opts.MaxAge = defaultAge
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = defaultBytes
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Ledger{
		reader: OpenReader(path), path: path, opts: opts, log: opts.Logger,
		wake: make(chan struct{}, 1), many: make(chan struct{}, 1), flushes: make(chan chan struct{}), stop: make(chan struct{}),
	}
}

// Add writes e down, soon. It never waits: what finds the queue full is
// dropped, counted and told in the log.
func (l *Ledger) Add(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if len(l.queue) >= maxQueue {
		l.lost++
		l.dropped.Add(1)
		return
	}
	l.queue = append(l.queue, e)
	if !l.began {
		l.began = true
		l.writing.Go(l.write)
	}
	poke(l.wake)
	if len(l.queue) == gatherMost {
		poke(l.many)
	}
}

// Dropped returns how many entries were lost.
func (l *Ledger) Dropped() int64 { return l.dropped.Load() }

// Close writes what waits and returns when the file is closed.
func (l *Ledger) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		close(l.stop)
	}
	l.writing.Wait()
	return nil
}

// Sum adds up the entries from since until before until; a zero time is no
// bound. What was added before is in it.
func (l *Ledger) Sum(ctx context.Context, by By, since, until time.Time) ([]Row, error) {
	l.flush(ctx)
	rows, err := l.reader.Sum(ctx, by, since, until)
	return rows, l.doubt(err)
}

// Recent returns the last n entries, the newest first.
func (l *Ledger) Recent(ctx context.Context, n int) ([]Entry, error) {
	l.flush(ctx)
	entries, err := l.reader.Recent(ctx, n)
	return entries, l.doubt(err)
}

// Load tells what was used since a moment, in small steps of time.
func (l *Ledger) Load(ctx context.Context, since time.Time, step time.Duration, except string) ([]Load, error) {
	l.flush(ctx)
	loads, err := l.reader.Load(ctx, since, step, except)
	return loads, l.doubt(err)
}

// doubt lets the writer look at the file that could not be read.
func (l *Ledger) doubt(err error) error {
	if damaged(err) {
		l.suspect.Store(true)
	}
	return err
}

// flush returns when what was added before is in the file, or after a while.
func (l *Ledger) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	l.await(ctx)
}

// await returns when the writer has done what it could about what was added
// before, or when ctx ends.
func (l *Ledger) await(ctx context.Context) {
	l.mu.Lock()
	began := l.began
	l.mu.Unlock()
	if !began {
		return
	}
	done := make(chan struct{})
	select {
	case l.flushes <- done:
	case <-l.stop:
		l.writing.Wait()
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}
