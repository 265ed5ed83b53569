package agentrpc

import (
	"context"
	"crypto/sha256"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// begin opens a run for the turn.
func (t *turn) begin() (*run, *fault) {
	if f := t.choose(); f != nil {
		return nil, f
	}
	t.budget.runs++
	origin, err := t.b.cfg.Host.Origin(t.ctx)
	if err != nil {
		return nil, &fault{err: chat.AsError(err)}
	}
	if t.token, err = t.b.cfg.Login.Token(t.ctx); err != nil {
		return nil, &fault{err: chat.AsError(err)}
	}
	first, blobs, buildErr := buildRun(t.req, t.b.settings, t.tools, opening{
		conversation: t.conv.id, run: newUUID(), message: newUUID(), model: t.model,
		state: t.conv.state, known: t.known, replay: t.replay, resume: t.resume,
	})
	if buildErr != nil {
		return nil, &fault{err: buildErr}
	}
	// Large lists of tools are a known cause of refusals without a reason.
	t.b.cfg.Logger.Debug("run of the model", "tools", len(t.tools.definitions), "tool_bytes", t.tools.size(), "blobs", len(blobs))
	for _, blob := range blobs {
		t.conv.blobs.set(blob.id, blob.data)
	}
	return t.b.open(t, origin, first)
}

// choose finds the model and the conversation, if that was not done before.
func (t *turn) choose() *fault {
	if t.model.Model == nil {
		catalog, err := t.b.cfg.Catalog(t.ctx)
		if err != nil {
			return &fault{err: chat.AsError(err)}
		}
		if t.model, err = catalog.Resolve(t.req.Model, t.req.Effort); err != nil {
			return &fault{err: chat.AsError(err)}
		}
	}
	if t.conv != nil {
		return nil
	}
	c, known := t.b.shelf.take(t.req.Messages, t.prints, t.req.Session)
	if err := c.wait(t.ctx); err != nil {
		t.b.shelf.put(c)
		return &fault{err: canceled(err)}
	}
	t.conv, t.known, t.resume = c, known, c.resume
	if c.state == nil {
		t.rotate()
	}
	if c.session != "" {
		c.surroundings = t.surroundings()
	}
	t.b.runs.supersede(t.req.Messages, c)
	return nil
}

// rotate gives up the service's side of the conversation; the next run brings
// the client's history.
func (t *turn) rotate() {
	t.b.shelf.disk.remove(t.conv.id)
	t.conv.rotate()
	t.known, t.resume = 0, false
}

// surroundings is the hash of the request context.
func (t *turn) surroundings() [sha256.Size]byte {
	encoded, err := cursorpb.Codec{}.Marshal(requestContext(t.req, t.b.settings, t.tools))
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(encoded)
}

// open makes the call and sends the first message. The run does not end with
// the client's request, which may be over while it waits for a tool.
func (b *Backend) open(t *turn, origin string, first *cursorpb.AgentRunRequest) (*run, *fault) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.ctx))
	r := &run{
		b: b, conv: t.conv, key: newRunKey(), ctx: ctx, held: newHold(), done: make(chan struct{}),
		print: t.print(), mapper: newExecMapper(b.settings, t.req, t.tools),
		tap: &tap{transport: b.cfg.Transport, started: time.Now(), buffers: &b.buffers},
	}
	r.stop = func() { cancel(); r.tap.abort() }
	r.stream = b.calls.open(ctx, r.tap, origin)
	r.out = newOutbox(&outbox{
		send: r.stream.Send, close: r.endHalf, pending: r.pending, tick: r.watch, taken: r.tap.taken, times: b.times,
		start:   b.goroutines.start,
		stalled: func() { r.end(stalled()) },
	})
	r.tap.onEnd, r.tap.more = r.out.end, r.out.waiting
	if err := b.runs.admit(r); err != nil {
		cancel()
		return nil, &fault{err: err}
	}
	_ = r.stream.Send(nil) // the headers, while the message is encoded; an error comes again with it
	r.out.put(ctx, &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_RunRequest{RunRequest: first}})
	b.goroutines.run(func() { r.out.run(ctx) })
	return r, nil
}

// stalled is a service that does not read. Another try would not be read either.
func stalled() *fault {
	return &fault{err: &chat.Error{Kind: chat.Timeout, Code: CodeSilent, Message: "Cursor does not take what it asked for"}}
}
