package app

import "sync"

// inbox holds the steps that the machine has yet to take. It has no limit, so
// that putting never blocks: a face that waits for the machine while the
// machine waits for nothing is the only safe order.
type inbox struct {
	wake chan struct{} // has one element while steps wait
	over chan struct{} // closed when no step is taken any more

	mu     sync.Mutex
	steps  []func(*machine)
	closed bool
}

func newInbox() inbox { return inbox{wake: make(chan struct{}, 1), over: make(chan struct{})} }

func (b *inbox) put(step func(*machine)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.steps = append(b.steps, step)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func(*machine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := b.steps
	b.steps = nil
	return steps
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		close(b.over)
	}
	b.closed, b.steps = true, nil
}
