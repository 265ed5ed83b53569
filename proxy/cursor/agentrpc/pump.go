package agentrpc

import (
	"time"

	"cursortray/proxy/chat"
)

// hold is what a run needs while no turn reads it: the pump, which answers the
// service and keeps what comes for the next turn. A turn that attaches gets
// what was kept, and then the reading itself back with the next message, so
// that deltas take no detour. All of it is guarded by run.mu, except the
// channels.
type hold struct {
	attached bool // to a turn
	pumping  bool // the pump has the reading
	wanted   bool // the turn would like to have it back
	queue    []item
	over     bool // the pump has met the end
	deadline *time.Timer
	since    time.Time

	news chan struct{} // the queue has grown, or the pump has stopped
	room chan struct{} // the queue has shrunk
}

// maxKept bounds what is kept for a turn that does not come.
const maxKept = 1024

func newHold() hold {
	return hold{attached: true, news: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// next returns what comes next for the attached turn. If timeout fires first it
// returns false; there must be a pump then, see letPump.
func (r *run) next(timeout <-chan time.Time) (item, bool) {
	for {
		r.mu.Lock()
		if len(r.held.queue) > 0 {
			it := r.held.queue[0]
			r.held.queue[0] = item{}
			r.held.queue = r.held.queue[1:]
			r.mu.Unlock()
			poke(r.held.room)
			return it, true
		}
		pumping := r.held.pumping
		r.mu.Unlock()
		if !pumping {
			return r.read(), true
		}
		select {
		case <-r.held.news:
		case <-timeout:
			return item{}, false
		}
	}
}

// letPump hands the reading to a pump, for a turn that wants to look at the
// clock meanwhile, or that ends.
func (r *run) letPump() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held.wanted = false
	r.startPump()
}

// startPump needs r.mu.
func (r *run) startPump() {
	if r.held.pumping || r.held.over {
		return
	}
	r.held.pumping = r.b.goroutines.start(r.pump)
	if !r.held.pumping { // the program ends
		r.held.over = true
		r.held.queue = append(r.held.queue, item{fault: &fault{err: shuttingDown()}})
	}
}

func (r *run) pump() {
	for {
		it := r.read()
		over := it.event == nil
		r.mu.Lock()
		r.held.queue = append(r.held.queue, it)
		r.held.over = over
		stop := over || r.held.wanted
		r.held.pumping = !stop
		alone := over && !r.held.attached
		full := len(r.held.queue) >= maxKept
		r.mu.Unlock()
		poke(r.held.news)
		switch {
		case alone:
			r.bury()
			return
		case stop:
			return
		case full:
			select {
			case <-r.held.room:
			case <-r.ctx.Done():
			}
		}
	}
}

// park leaves the run open without a turn until the client brings results. It
// returns false if something came meanwhile that the turn should have, unless
// it wants no more of it.
func (r *run) park(noMore bool) bool {
	r.mu.Lock()
	h := &r.held
	if len(h.queue) > 0 && !noMore {
		r.mu.Unlock()
		return false
	}
	h.attached, h.wanted, h.since = false, false, time.Now()
	h.deadline = time.AfterFunc(r.b.times.tool, func() {
		r.leave(&fault{err: &chat.Error{Kind: chat.Timeout, Message: "the client brought no result of a tool in time"}})
	})
	r.startPump()
	over := h.over // in the last moments
	r.mu.Unlock()
	if over {
		r.b.goroutines.run(r.bury)
	}
	return true
}

// attach gives a parked run to a turn. It returns false if the run is over, or
// has a turn.
func (r *run) attach() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &r.held
	if h.attached || h.over || r.left() {
		return false
	}
	h.deadline.Stop()
	h.attached, h.wanted = true, true
	return true
}

// bury ends a run that is over while it was parked. What the service said last
// was never shown, so the turn counts as not made.
func (r *run) bury() {
	r.mu.Lock()
	deadline := r.held.deadline
	r.mu.Unlock()
	if deadline != nil {
		deadline.Stop()
	}
	r.b.giveBack(r)
	r.finish()
}

// drain reads a run that was given up to its end.
func (r *run) drain() {
	for {
		it, _ := r.next(nil)
		if it.event == nil {
			break
		}
	}
	r.b.giveBack(r)
	r.finish()
}
