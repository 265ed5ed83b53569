package agentrpc

import "time"

// settle reads a run whose turn has ended to its own end. The service may still
// hand over blobs and a last checkpoint, and asks for answers until it closes.
func (r *run) settle(settled chan struct{}, rebuilt bool) {
	half := time.AfterFunc(r.b.times.halfClose, r.out.end)
	late := time.AfterFunc(r.b.times.late, r.stop)
	for {
		m, err := r.stream.Receive()
		if err != nil {
			break
		}
		if it, ok := r.handle(m); ok && it.call != nil {
			r.out.put(r.ctx, it.call.pending.refuse("the turn has ended")...)
		}
	}
	half.Stop()
	late.Stop()
	c := r.conv
	missing, size := c.blobs.missing, c.size()
	c.commit(r.checkpoint)
	if c.state == nil && len(r.checkpoint) > 0 {
		r.b.cfg.Logger.Warn("the state of a conversation is not whole, or too large; its next turn sends the history",
			"missing", missing, "bytes", size)
	}
	c.turns++
	if r.window.Known {
		c.window = r.window
	}
	saved := r.b.shelf.copyOf(c)
	r.b.runs.gone(r) // before the next turn has the conversation
	close(settled)
	r.finish()
	r.b.shelf.save(saved)
	if rebuilt {
		r.b.shelf.replaces(c)
	}
}
