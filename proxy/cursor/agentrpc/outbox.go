package agentrpc

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/cursor/cursorpb"
)

// outbox writes the messages of one run, one after the other and each only when
// the transport has taken the one before. What the service waits for goes
// before signs of life.
type outbox struct {
	send    func(*cursorpb.AgentClientMessage) error
	close   func() error         // ends the client's half of the stream
	pending func() []pendingExec // work that wants signs of life
	taken   func() time.Duration // since some of it was taken
	stalled func()               // a write does not get on
	tick    func()               // called with each heartbeat
	start   func(func()) bool    // starts a goroutine, if the program does not end; may be nil
	times   timing

	wake chan struct{} // something changed
	room chan struct{} // the queue has shrunk
	done chan struct{} // nothing is written any more

	mu     sync.Mutex
	begun  bool // the first message was taken from the queue
	urgent *cursorpb.AgentClientMessage
	queue  []*cursorpb.AgentClientMessage
	ending bool // close once the queue is empty
}

// maxQueued bounds the answers that wait for a service which does not read: the
// next request is not read until one of them is written.
const maxQueued = 1024

// newOutbox fills in what the caller need not give.
func newOutbox(o *outbox) *outbox {
	o.wake, o.room, o.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	return o
}

// put queues messages that belong together. It waits while the queue is full.
func (o *outbox) put(ctx context.Context, messages ...*cursorpb.AgentClientMessage) {
	for {
		o.mu.Lock()
		if o.ending || len(o.queue) < maxQueued {
			if !o.ending {
				o.queue = append(o.queue, messages...)
			}
			o.mu.Unlock()
			poke(o.wake)
			return
		}
		o.mu.Unlock()
		select {
		case <-o.room:
		case <-o.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// putFirst sends a message before all that wait. If nothing was written yet it
// returns false, and nothing is: the service takes no other message first than
// the one that opens the run.
func (o *outbox) putFirst(m *cursorpb.AgentClientMessage) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.begun {
		o.queue = nil
		return false
	}
	o.urgent = m
	poke(o.wake)
	return true
}

// end closes our half of the stream after what is queued.
func (o *outbox) end() {
	o.mu.Lock()
	o.ending = true
	o.mu.Unlock()
	poke(o.wake)
}

func (o *outbox) take() (m *cursorpb.AgentClientMessage, ending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.urgent != nil:
		m, o.urgent = o.urgent, nil
	case len(o.queue) > 0:
		o.begun = true
		m = o.queue[0]
		o.queue[0] = nil
		o.queue = o.queue[1:]
		if len(o.queue) == 0 {
			o.queue = nil
		}
		poke(o.room)
	default:
		ending = o.ending
	}
	return m, ending
}

// waiting tells whether there is something to write.
func (o *outbox) waiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.urgent != nil || len(o.queue) > 0
}

// clocks are what an outbox waits for besides messages.
type clocks struct {
	beat  *time.Ticker
	work  *time.Timer // signs of life for work
	rest  *time.Timer // since the last write; nil before it
	stall *stall
	due   bool // a heartbeat
	wrote bool // since the goroutine began
	idle  bool // and then nothing came for a while
}

// restful is how long a run is quiet after a write until it counts as waiting.
const restful = 200 * time.Millisecond

// run writes until the end, a failed write or the end of ctx. Only the first of
// these is a proper end of our half.
func (o *outbox) run(ctx context.Context) {
	o.loop(ctx, &clocks{beat: time.NewTicker(o.times.heartbeat), work: time.NewTimer(o.times.execHeartbeat), stall: newStall(o)})
}

// loop is run. Its goroutine's stack grows by the encoding of messages to
// several times of what the wait for the next one needs, which may be long, so
// a wait that does not end soon is left to a new goroutine.
func (o *outbox) loop(ctx context.Context, c *clocks) {
	for {
		m, ending := o.take()
		if m == nil && ending {
			_ = o.close()
			break
		}
		if m == nil && c.due {
			m, c.due = heartbeat(), false
		}
		if m != nil {
			if !o.write(m, c) {
				break
			}
			continue
		}
		if c.idle && o.start != nil {
			c.wrote, c.idle = false, false
			if o.start(func() { o.loop(ctx, c) }) {
				return
			}
		}
		if !o.idle(ctx, c) {
			break
		}
	}
	c.beat.Stop()
	c.work.Stop()
	if c.rest != nil {
		c.rest.Stop()
	}
	c.stall.stop()
	close(o.done)
}

func (o *outbox) write(m *cursorpb.AgentClientMessage, c *clocks) bool {
	c.stall.start()
	err := o.send(m)
	c.stall.stop()
	c.wrote = true
	if c.rest == nil {
		c.rest = time.NewTimer(restful)
	} else {
		c.rest.Reset(restful)
	}
	return err == nil
}

// idle waits for something to do. It returns false at the end.
func (o *outbox) idle(ctx context.Context, c *clocks) bool {
	var rested <-chan time.Time
	if c.wrote {
		rested = c.rest.C
	}
	select {
	case <-o.wake:
	case <-rested:
		c.idle = true
	case <-c.beat.C:
		o.tick()
		c.due = true
	case <-c.work.C:
		for _, p := range o.pending() {
			// An answer that waits may be the one to p.
			if o.waiting() {
				break
			}
			if !o.write(p.heartbeat(), c) {
				return false
			}
		}
		c.work.Reset(o.times.execHeartbeat)
	case <-ctx.Done():
		return false
	}
	return true
}

func heartbeat() *cursorpb.AgentClientMessage {
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ClientHeartbeat{ClientHeartbeat: &cursorpb.ClientHeartbeat{}}}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
