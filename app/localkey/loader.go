package localkey

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// retryAfter keeps a store that failed from being asked once per request.
const retryAfter = 10 * time.Second

// loader reads a value from its store once, in one goroutine at a time, for all
// who ask for it.
type loader[T any] struct {
	fetch func(ctx context.Context) (T, *chat.Error)
	wait  sync.WaitGroup

	mu      sync.Mutex
	value   T
	known   bool
	reading *read       // the read that is under way
	failed  *chat.Error // what the last read met
	again   time.Time   // when a read may be tried after failed
	closed  bool
}

// read is one attempt; done is closed after its result is in the loader.
type read struct {
	done   chan struct{}
	cancel context.CancelFunc
}

// get returns the value. It waits for the store as long as ctx lets it.
func (l *loader[T]) get(ctx context.Context) (T, *chat.Error) {
	var none T
	l.mu.Lock()
	if l.known {
		defer l.mu.Unlock()
		return l.value, nil
	}
	if l.failed != nil && time.Now().Before(l.again) {
		defer l.mu.Unlock()
		return none, l.failed
	}
	if l.closed {
		defer l.mu.Unlock()
		return none, chat.Errorf(chat.ShuttingDown, "cursortray is ending")
	}
	if l.reading == nil {
		l.begin(ctx)
	}
	done := l.reading.done
	l.mu.Unlock()

	select {
	case <-done:
	case <-ctx.Done():
		return none, chat.AsError(ctx.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return none, l.failed
	}
	return l.value, nil
}

// begin starts a read, which outlives the caller that happened to be first.
// The store itself limits its time.
func (l *loader[T]) begin(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &read{done: make(chan struct{}), cancel: cancel}
	l.reading = r
	l.wait.Go(func() {
		defer cancel()
		value, err := l.fetch(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.value, l.known, l.failed, l.reading = value, err == nil, err, nil
		l.again = time.Now().Add(retryAfter)
		close(r.done)
	})
}

// set puts a value in the place of what was read.
func (l *loader[T]) set(value T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.value, l.known, l.failed = value, true, nil
}

// forget makes the next get read, unless a read is under way.
func (l *loader[T]) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var none T
	l.value, l.known, l.failed = none, false, nil
}

// retry makes the next get read if the last read failed.
func (l *loader[T]) retry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = nil
}

// peek returns the value if it is known already.
func (l *loader[T]) peek() (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value, l.known
}

// close ends a read that is under way and returns when it is over.
func (l *loader[T]) close() {
	l.mu.Lock()
	l.closed = true
	if l.reading != nil {
		l.reading.cancel()
	}
	l.mu.Unlock()
	l.wait.Wait()
}
