package simserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// note remembers how a run ended; the first word counts.
func (r *Run) note(outcome Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(outcome)
}

func (r *Run) noteLocked(outcome Outcome) {
	if r.record.Outcome != OutcomeOpen {
		return
	}
	r.record.Outcome, r.record.Ended = outcome, r.sim.clock()
	if outcome == OutcomeLeft && !r.leftAt.IsZero() {
		r.record.Ended = r.leftAt
	}
}

// closing completes the record of a run and says what the client left undone.
func (r *Run) closing() RunRecord {
	now := r.sim.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(r.outcome())
	if ended := r.record.Ended; ended.Before(now) {
		now = ended
	}
	r.checkBeat(now)
	if r.record.Outcome == OutcomeEnded {
		r.checkOwed()
	}
	for _, e := range r.execs {
		r.record.Execs = append(r.record.Execs, e.answer)
	}
	record := r.record
	record.Execs = slices.Clone(record.Execs)
	return record
}

func (r *Run) outcome() Outcome {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, errCanceled):
		return OutcomeCanceled
	case errors.Is(cause, errHalfClosed):
		return OutcomeHalfClosed
	default:
		return OutcomeLeft
	}
}

// checkOwed: what had to be answered in any case.
func (r *Run) checkOwed() {
	for _, kv := range r.kvs {
		if !kv.answered && !kv.late {
			r.violate("kv-unanswered", fmt.Sprintf("blob request %d got no answer", kv.id))
		}
	}
	for _, q := range r.queries {
		if !q.answered {
			r.violate("query-unanswered", fmt.Sprintf("query %d of kind %d got no answer", q.message.GetId(), q.number))
		}
	}
	for _, e := range r.execs {
		switch {
		case e.aborted != 0:
		case e.settledAlone() && !e.answered:
			r.violate("exec-unanswered", e.kind+" got no answer")
		case e.answered && !e.closed && !e.unclosed:
			r.violate("exec-unclosed", e.kind+" was answered, but no stream_close followed")
		}
	}
}
