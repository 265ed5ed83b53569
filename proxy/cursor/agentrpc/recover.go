package agentrpc

import "cursortray/proxy/chat"

// recover decides what is to be done about a run that failed, or could not be
// opened (r is nil then). It returns nil if the next run is prepared.
func (t *turn) recover(r *run, f *fault) *fault {
	t.log(f)
	if t.gone || t.conv == nil {
		return f
	}
	if r == nil {
		if !t.prepareNext(nil, f) {
			t.abandon()
			return f
		}
		return nil
	}
	again := t.prepareNext(r, f)
	if !again {
		t.b.giveBack(r)
	}
	r.finish()
	if !again {
		return f
	}
	return t.pause(f)
}

// log tells the cause, which has no words of the conversation in it.
func (t *turn) log(f *fault) {
	if f.err.Kind != chat.Canceled && f.err.Kind != chat.ShuttingDown {
		t.b.cfg.Logger.Warn("a run of the agent failed", "kind", f.err.Kind, "cause", f.err.Err, "runs", t.budget.runs)
	}
}

// abandon puts back a conversation that no run was opened for.
func (t *turn) abandon() {
	if t.conv.state != nil && !t.conv.partial {
		t.b.shelf.put(t.conv)
	}
	t.b.shelf.disk.back(t.conv.id)
}

// prepareNext sets up the next run, if anything may help and the budget allows.
func (t *turn) prepareNext(r *run, f *fault) bool {
	goOn := r != nil && r.isCurrent() && f.remedy != rebuild
	if t.shown && !goOn {
		return false // what comes next would not fit what the client has
	}
	if !t.budget.allows(f.remedy) {
		return false
	}
	switch f.remedy {
	case renewLogin:
		if _, err := t.b.cfg.Login.Renew(t.ctx, t.token); err != nil {
			f.err = chat.AsError(err)
			return false
		}
	case askHost:
		t.b.cfg.Host.Forget()
	}
	switch {
	case goOn:
		t.conv.commit(r.checkpoint)
		t.conv.print, t.conv.resume, t.conv.partial = t.print(), true, t.shown
		t.known, t.resume = len(t.req.Messages), true
		if t.conv.state == nil {
			if t.shown {
				return false
			}
			t.rotate()
		}
	case f.remedy == rebuild:
		if t.conv.state == nil && t.replay == replayBlobs && len(t.req.Messages) > 1 {
			t.replay = replayText // the same in blobs was refused
		}
		t.rotate()
	case r != nil && r.brought():
		t.rotate() // its state does not know the results
	}
	return true
}

// pause waits before the next run, where time is what may help.
func (t *turn) pause(f *fault) *fault {
	if f.remedy != waitAndTry && f.err.Kind != chat.Overloaded {
		return nil
	}
	if t.budget.wait(t.ctx, f.wait) {
		return nil
	}
	t.abandon()
	if err := t.ctx.Err(); err != nil {
		return &fault{err: canceled(err)}
	}
	return f
}

// isCurrent tells whether the newest checkpoint has everything that the client
// has, so that another run can go on from it.
func (r *run) isCurrent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checkpoint != nil && r.atMark == r.mark && len(r.work) == 0
}

// resumable tells whether the request that brought results can be repeated from
// the newest checkpoint: that has the results and nothing of the answer.
func (r *run) resumable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checkpoint != nil && r.mark.results > 0 && r.atMark == mark{results: r.mark.results}
}

// brought tells whether the run was given results of the client.
func (r *run) brought() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark.results > 0
}
