// Package chattest helps to test both sides of chat.Backend: a scripted fake
// back-end for front-ends, and Suite, which checks the contract of Chat on any
// real back-end. It knows no wire format and is imported by tests only. It
// starts goroutines only inside Suite, which waits for them.
package chattest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"cursortray/proxy/chat"
)

// Turn is what the fake does in one turn, step by step. A turn that runs out
// of steps without Finish, Fail or Panic just stops, as a broken back-end
// would.
type Turn []Step

// Backend is a scripted chat.Backend. It keeps the contract as long as its
// script does, and adds what a test wants to know about the calls it got.
type Backend struct {
	script func(*chat.Request) Turn

	ctx   context.Context // ends with Close
	close context.CancelCauseFunc
	runs  sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	live     int
	requests []*chat.Request
	models   []chat.Model
	modelErr error
	checkErr error
}

var _ chat.Backend = (*Backend)(nil)

// New returns a fake that plays the turns in the order in which they are
// asked for; the last one repeats.
func New(turns ...Turn) *Backend {
	var mu sync.Mutex
	next := 0
	return NewFunc(func(*chat.Request) Turn {
		if len(turns) == 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		turn := turns[min(next, len(turns)-1)]
		next++
		return turn
	})
}

// NewFunc returns a fake that asks script what to do for each request. Script
// is called by several goroutines at once when turns run in parallel.
func NewFunc(script func(*chat.Request) Turn) *Backend {
	b := &Backend{
		script: script,
		models: []chat.Model{{ID: "fake-model", Name: "Fake model", Default: true}},
	}
	b.ctx, b.close = context.WithCancelCause(context.Background())
	return b
}

// Chat implements chat.Backend. Ranging twice over one sequence panics.
func (b *Backend) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	var once sync.Once
	return func(yield func(chat.Event, error) bool) {
		first := false
		once.Do(func() { first = true })
		if !first {
			panic("chattest: a turn was ranged over twice")
		}
		if err := b.begin(req); err != nil {
			yield(nil, err)
			return
		}
		defer b.end()
		b.play(ctx, b.script(req), yield)
	}
}

func (b *Backend) play(ctx context.Context, turn Turn, yield func(chat.Event, error) bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })()
	for _, step := range turn {
		if ctx.Err() != nil {
			yield(nil, chat.AsError(context.Cause(ctx)))
			return
		}
		if !step(ctx, yield) {
			return
		}
	}
}

func (b *Backend) begin(req *chat.Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed()
	}
	b.requests = append(b.requests, req)
	b.live++
	b.runs.Add(1)
	return nil
}

func (b *Backend) end() {
	b.mu.Lock()
	b.live--
	b.mu.Unlock()
	b.runs.Done()
}

// Models implements chat.Backend.
func (b *Backend) Models(context.Context) ([]chat.Model, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.models), b.modelErr
}

// Check implements chat.Backend.
func (b *Backend) Check(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed()
	}
	return b.checkErr
}

// Close implements chat.Backend. It waits for the loops that range over a
// turn, so it must not be called from inside one.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.close(errClosed())
	b.runs.Wait()
	return nil
}

// SetModels makes Models answer with these.
func (b *Backend) SetModels(models []chat.Model, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.models, b.modelErr = models, err
}

// SetCheck makes Check answer with err.
func (b *Backend) SetCheck(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checkErr = err
}

// Live returns the number of turns that are being ranged over.
func (b *Backend) Live() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live
}

// Requests returns the requests so far, in the order of their start.
func (b *Backend) Requests() []*chat.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Last returns the latest request, nil before the first.
func (b *Backend) Last() *chat.Request {
	all := b.Requests()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func errClosed() *chat.Error {
	return chat.Errorf(chat.ShuttingDown, "the fake back-end is closed")
}
