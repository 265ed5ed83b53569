package agentrpc

import "sync"

// crew is the goroutines of a Backend.
type crew struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
}

// start runs f in a goroutine, unless the crew is closed.
func (c *crew) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.group.Go(f)
	return true
}

// run is start for what has to be done in any case: after the end it is done by
// the caller.
func (c *crew) run(f func()) {
	if !c.start(f) {
		f()
	}
}

// wait closes the crew and waits for all of it.
func (c *crew) wait() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.group.Wait()
}
