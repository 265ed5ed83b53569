package app

import (
	"context"
	"sync"
)

// hub keeps the latest Snapshot and hands it to watchers.
type hub struct {
	mu       sync.Mutex
	latest   Snapshot
	watchers map[chan Snapshot]func() bool // each with the stop of its end-of-context hook
	closed   bool
}

func (h *hub) get() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.latest
}

// publish makes s the latest and gives it to every watcher, in place of an
// older one that was not read yet.
func (h *hub) publish(s Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s == h.latest {
		return
	}
	h.latest = s
	for ch := range h.watchers {
		// Only publish sends, and under the lock, so the emptied buffer has room.
		select {
		case <-ch:
		default:
		}
		ch <- s
	}
}

func (h *hub) watch(ctx context.Context) <-chan Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan Snapshot, 1)
	ch <- h.latest
	if h.closed {
		close(ch)
		return ch
	}
	if h.watchers == nil {
		h.watchers = make(map[chan Snapshot]func() bool)
	}
	h.watchers[ch] = context.AfterFunc(ctx, func() { h.drop(ch) })
	return ch
}

func (h *hub) drop(ch chan Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.watchers[ch]; ok {
		delete(h.watchers, ch)
		close(ch)
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for ch, stop := range h.watchers {
		stop()
		close(ch)
	}
	h.watchers = nil
}
