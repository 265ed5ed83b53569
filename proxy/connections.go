package proxy

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// connections knows which connections are between the first byte of a request
// and the last byte of its answer. Only these are worth waiting for: clients
// keep idle ones open, and open new ones in advance.
type connections struct {
	mu   sync.Mutex
	busy map[net.Conn]struct{}
	idle chan struct{} // closed when busy became empty; nil while nobody waits
}

// track is the ConnState hook of an http.Server. A connection becomes idle
// after its answer has been flushed, not when the handler returns; a closed one
// is reported after its handler has returned.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateActive {
		if c.busy == nil {
			c.busy = map[net.Conn]struct{}{}
		}
		c.busy[conn] = struct{}{}
		return
	}
	delete(c.busy, conn)
	if len(c.busy) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// wait returns true when no connection is busy, or false after the given time.
// Only one goroutine may wait.
func (c *connections) wait(atMost time.Duration) bool {
	c.mu.Lock()
	if len(c.busy) == 0 {
		c.mu.Unlock()
		return true
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}
