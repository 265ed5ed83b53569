package simserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"cursortray/proxy/cursor/cursorpb"
)

// breakOff is how a stream can end besides with an envelope.
type breakOff string

// The ways to break off, as errors of a script.
const (
	endsWithoutFrame breakOff = "the stream ends without a last envelope"
	resetsStream     breakOff = "the stream is reset"
	resetsConnection breakOff = "the connection is reset"
	endsWithTrailers breakOff = "the stream ends with trailers"
)

// Error is for the error interface.
func (b breakOff) Error() string { return string(b) }

// finish ends a run in the way its script wants: nil is a good end.
func (r *Run) finish(err error) {
	_ = r.letGo()
	var failed *RunError
	var broken breakOff
	if errors.Is(err, errHalfClosed) && r.isEnded() {
		err = nil // it need not take what comes after the turn's end
	}
	switch {
	case errors.As(err, &broken):
		r.breakOff(broken)
	case errors.As(err, &failed):
		r.note(OutcomeFailed)
		r.goodbye(failed.endStream())
	case context.Cause(r.ctx) != nil:
		r.goodbye([]byte("{}"))
	case err != nil:
		r.violate("script", err.Error())
		r.note(OutcomeFailed)
		r.goodbye((&RunError{Code: "internal", Message: "Error"}).endStream())
	default:
		r.settle()
		if !r.isEnded() {
			err = r.end(Counters{})
		}
		if err == nil && r.ctx.Err() == nil {
			r.note(OutcomeEnded)
		}
		r.goodbye([]byte("{}"))
	}
}

func (r *Run) isEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// end says that the turn went well.
func (r *Run) end(c Counters) error {
	update := c.update()
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return nil
	}
	r.ended = true
	if c.Output == nil && r.used > 0 {
		used := int64(r.used)
		update.OutputTokens = &used
	}
	r.mu.Unlock()
	r.sim.runs.announce()
	return r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TurnEnded{TurnEnded: update}})
}

// settle waits for what the client owes before the run ends.
func (r *Run) settle() {
	for {
		owed := r.owed()
		if owed == nil {
			return
		}
		if !r.await(owed, r.rules.AnswerWithin) {
			return // the end of the run says what is missing
		}
	}
}

// owed is closed once the next missing answer is there; nil if none is missing.
func (r *Run) owed() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kv := range r.kvs {
		if !kv.answered && !kv.late {
			return kv.done
		}
	}
	for _, q := range r.queries {
		if !q.answered {
			return q.done
		}
	}
	for _, e := range r.execs {
		if (e.settledAlone() || e.answered) && !e.closed && !e.unclosed && e.aborted == 0 {
			return e.done
		}
	}
	return nil
}

// await waits for done, for the end of the run or for a limit; 0 is none.
func (r *Run) await(done chan struct{}, limit time.Duration) bool {
	if err := r.letGo(); err != nil {
		return false
	}
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-done:
		return true
	case <-late:
	case <-r.ctx.Done():
	case <-r.read:
	}
	select { // both may be true
	case <-done:
		return true
	default:
		return false
	}
}

// goodbye sends the last envelope and waits for the client's end.
func (r *Run) goodbye(payload []byte) {
	r.mu.Lock()
	r.ended, r.over = true, r.sim.clock()
	r.mu.Unlock()
	r.out.Lock()
	r.frames = nil
	if !r.wire.muted {
		_ = r.writeFrame(flagEndStream, payload)
	}
	r.wire.muted = true
	r.out.Unlock()
	r.sim.runs.announce()
	timer := time.NewTimer(r.rules.Closing)
	defer timer.Stop()
	select {
	case <-r.read:
	case <-timer.C:
		if r.ctx.Err() == nil {
			r.violate("left-open", "the client did not end its half of the stream after the last envelope")
		}
	}
}

// breakOff ends the stream otherwise.
func (r *Run) breakOff(how breakOff) {
	r.note(OutcomeCut)
	r.mu.Lock()
	r.ended, r.over = true, r.sim.clock()
	r.mu.Unlock()
	r.out.Lock()
	r.wire.muted = true
	r.out.Unlock()
	switch how {
	case resetsStream:
		r.wire.final = func() { panic(http.ErrAbortHandler) }
	case resetsConnection:
		resetConn(r.call.r.Context())
	}
}
