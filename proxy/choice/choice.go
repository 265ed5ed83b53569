// Package choice is the chat.Backend that has several ways to answer and picks
// one for each conversation: the way that is fixed, else the first that is
// ready. A conversation that began on one way stays on it as long as it is
// remembered, whatever is chosen for others meanwhile, because another way
// knows nothing of the state that the first one holds.
//
// It knows no wire, logs nobody in and starts no goroutine. It closes the
// back-ends that it was given.
package choice

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"cursortray/proxy/chat"
)

// Auto is the setting that fixes no way.
const Auto = "auto"

// Way is one way to answer.
type Way struct {
	ID      string // the setting that fixes it
	Name    string // for people
	Backend chat.Backend
	// Ready returns nil if the way can serve a new conversation, else the
	// *chat.Error that its requests would get. It may be called at any time from
	// any goroutine.
	Ready func(ctx context.Context) error
	// Trust is how long the way counts as ready after Ready said so, unless a
	// request found otherwise; 0 asks each time.
	Trust time.Duration
	// Reason says why the way is chosen when it is ready.
	Reason string
}

// Config is what a Backend is made of.
type Config struct {
	Ways    []Way  // at least one, the preferred first
	Setting string // Auto, or the ID of the way that is fixed
	// Why, if set, is the reason that is given for a fixed way.
	Why string
}

// Choice is what new conversations get.
type Choice struct {
	Setting string // Auto, or the ID of the way that is fixed
	ID      string // of the way
	Name    string // of the way, for people
	Reason  string // why it is that one; "" before the first choice
}

// Backend is a chat.Backend over several.
type Backend struct {
	ways   []*way
	why    string
	memory memory

	fixed  atomic.Pointer[way] // nil: none
	now    atomic.Pointer[Choice]
	closed atomic.Bool
}

// way is a Way with what is known of it.
type way struct {
	Way
	mu    sync.Mutex
	ready time.Time // when Ready said so last
}

// New returns a Backend. It asks no way before it is used.
func New(cfg Config) *Backend {
	b := &Backend{why: cfg.Why, memory: newMemory()}
	if b.why == "" {
		b.why = "set by the user"
	}
	for _, w := range cfg.Ways {
		b.ways = append(b.ways, &way{Way: w})
	}
	b.Fix(cfg.Setting)
	return b
}

// Fix makes new conversations use the way of that ID, or with Auto the first
// that is ready. An unknown ID counts as Auto.
func (b *Backend) Fix(id string) {
	for _, w := range b.ways {
		if w.ID == id {
			b.fixed.Store(w)
			b.now.Store(&Choice{Setting: id, ID: id, Name: w.Name, Reason: b.why})
			return
		}
	}
	b.fixed.Store(nil)
	b.now.Store(&Choice{Setting: Auto, ID: b.ways[0].ID, Name: b.ways[0].Name})
}

// Now returns the last choice. It does not wait.
func (b *Backend) Now() Choice { return *b.now.Load() }

// choose picks the way for a new conversation.
func (b *Backend) choose(ctx context.Context) (*way, *chat.Error) {
	if b.closed.Load() {
		return nil, &chat.Error{Kind: chat.ShuttingDown, Message: "cursortray is ending"}
	}
	if w := b.fixed.Load(); w != nil {
		return w, nil
	}
	var first *chat.Error
	for _, w := range b.ways {
		err := w.ask(ctx)
		if err == nil {
			b.chosen(Choice{Setting: Auto, ID: w.ID, Name: w.Name, Reason: w.Reason})
			return w, nil
		}
		if ctx.Err() != nil {
			return nil, chat.AsError(ctx.Err())
		}
		if first == nil {
			first = err
		}
	}
	reason := "no back-end can be used"
	if first.Kind == chat.LoginRequired {
		reason = "nobody is logged in"
	}
	b.chosen(Choice{Setting: Auto, ID: b.ways[0].ID, Name: b.ways[0].Name, Reason: reason})
	return nil, first
}

// chosen shows a choice of Auto, unless a way was fixed meanwhile.
func (b *Backend) chosen(c Choice) {
	if old := b.now.Load(); old.Setting == Auto && *old != c {
		b.now.CompareAndSwap(old, &c)
	}
}

func (w *way) ask(ctx context.Context) *chat.Error {
	w.mu.Lock()
	trusted := w.Trust > 0 && time.Since(w.ready) < w.Trust
	w.mu.Unlock()
	if trusted {
		return nil
	}
	err := w.Ready(ctx)
	if err == nil && w.Trust > 0 {
		w.mu.Lock()
		w.ready = time.Now()
		w.mu.Unlock()
	}
	return chat.AsError(err)
}

// doubt makes the next choice ask again after an error that may mean that the
// way is not ready any more.
func (w *way) doubt(err *chat.Error) {
	if err == nil || err.Kind != chat.LoginRequired && err.Kind != chat.Unavailable {
		return
	}
	w.mu.Lock()
	w.ready = time.Time{}
	w.mu.Unlock()
}

// Chat runs one turn on the way of its conversation; see chat.Backend.
func (b *Backend) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		talk, known := b.memory.find(req)
		if !known {
			w, err := b.choose(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			talk.way = w
		}
		tell(ctx, talk.way.ID)
		n := b.memory.note(talk, req)
		for event, err := range talk.way.Backend.Chat(ctx, req) {
			if err != nil {
				talk.way.doubt(chat.AsError(err))
			} else {
				event = n.take(event)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// Models lists the models of the way that new conversations get.
func (b *Backend) Models(ctx context.Context) ([]chat.Model, error) {
	w, err := b.choose(ctx)
	if err != nil {
		return nil, err
	}
	return w.Backend.Models(ctx)
}

// Check tells whether a new conversation would be served.
func (b *Backend) Check(ctx context.Context) error {
	w, failure := b.choose(ctx)
	if failure != nil {
		return failure
	}
	err := w.Backend.Check(ctx)
	w.doubt(chat.AsError(err))
	return err
}

// Close closes all ways.
func (b *Backend) Close() error {
	b.closed.Store(true)
	var errs []error
	for _, w := range b.ways {
		errs = append(errs, w.Backend.Close())
	}
	return errors.Join(errs...)
}
