package agentcli

import (
	"errors"
	"sync"
)

var errClosed = errors.New("the back-end is closed")

// children are the live processes of a back-end. Each has one goroutine that
// waits for its end; close waits for all of them.
type children struct {
	guard *guardian

	mu     sync.Mutex
	live   map[*child]bool
	closed bool
	waits  sync.WaitGroup
}

// start starts a process and takes over its end: whatever the caller does, the
// process is collected and l.gone is called. If start fails, l.gone is not
// called.
func (s *children) start(l launch) (*child, error) {
	// The lock spans the start, so that close misses no process.
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	c, err := startChild(l)
	if err != nil {
		return nil, err
	}
	if s.live == nil {
		s.live = map[*child]bool{}
	}
	s.live[c] = true
	s.guard.watch(c.group)
	s.waits.Go(func() {
		c.wait()
		s.guard.release(c.group)
		s.mu.Lock()
		delete(s.live, c)
		s.mu.Unlock()
		if l.gone != nil {
			l.gone()
		}
	})
	return c, nil
}

// hurry ends children that have given their result soon.
func (s *children) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.live {
		c.hurry(hurriedGrace)
	}
}

// close ends all processes and returns when they are gone. No more start.
func (s *children) close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.live {
		c.stop(stopClosing)
	}
	s.mu.Unlock()
	s.waits.Wait()
	s.guard.close()
}
