package agentrpc

import (
	"sync"
	"time"
)

// stall notices writes that do not get on. A long message over a slow line is
// none: some of it is taken all the time.
type stall struct {
	out   *outbox
	timer *time.Timer

	mu    sync.Mutex
	limit time.Duration
	began time.Time // of the write; zero is none
}

func newStall(o *outbox) *stall {
	// The first write waits for the connection.
	s := &stall{out: o, limit: o.times.connect}
	s.timer = time.AfterFunc(s.limit, s.look)
	s.timer.Stop()
	return s
}

func (s *stall) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = time.Now()
	s.timer.Reset(s.limit)
}

func (s *stall) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began, s.limit = time.Time{}, s.out.times.write
	s.timer.Stop()
}

func (s *stall) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		return
	}
	idle := min(time.Since(s.began), s.out.taken())
	if idle >= s.limit {
		s.out.stalled()
		return
	}
	s.timer.Reset(s.limit - idle)
}
