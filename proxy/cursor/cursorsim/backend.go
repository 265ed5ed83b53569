package cursorsim

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

// NaturalPace is the pause between two pieces of a stream that reads like a
// real model's.
const NaturalPace = 25 * time.Millisecond

// Config sets up a Backend.
type Config struct {
	Pace time.Duration // pause before each piece of text; 0 for none
}

// Backend is the demo: a chat.Backend that needs no account and no network.
// Its turns run on their callers' goroutines.
type Backend struct {
	pace time.Duration

	ctx   context.Context // ends with Close
	close context.CancelCauseFunc
	mu    sync.Mutex // guards ended, and runs.Add against runs.Wait
	ended bool
	runs  sync.WaitGroup
}

var _ chat.Backend = (*Backend)(nil)

// NewBackend returns a demo back-end.
func NewBackend(c Config) *Backend {
	b := &Backend{pace: c.Pace}
	// Not a request's context: it is the life of the back-end itself.
	b.ctx, b.close = context.WithCancelCause(context.Background())
	return b
}

func models() []chat.Model {
	return []chat.Model{
		{ID: "demo-large", Name: "Demo Large (simulated)", ContextWindow: 200_000, MaxOutput: 32_000, Images: true, Reasoning: true, Default: true},
		{ID: "demo-small", Name: "Demo Small (simulated)", ContextWindow: 32_000, MaxOutput: 8_000},
	}
}

// Models implements chat.Backend.
func (b *Backend) Models(context.Context) ([]chat.Model, error) { return models(), nil }

// Check implements chat.Backend. A demo can always answer, until it is closed.
func (b *Backend) Check(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errClosed()
	}
	return nil
}

// Close implements chat.Backend. It waits for the loops that range over a
// turn, so it must not be called from inside one.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.close(errClosed())
	b.runs.Wait()
	return nil
}

// Chat implements chat.Backend.
func (b *Backend) Chat(ctx context.Context, req *chat.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if err := b.begin(); err != nil {
			yield(nil, err)
			return
		}
		defer b.runs.Done()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })()

		model, err := findModel(req)
		if err != nil {
			yield(nil, err)
			return
		}
		s := stream{ctx: ctx, pace: b.pace, model: model, limit: req.MaxTokens, yield: yield}
		s.play(Play(turnOf(req)), estimate(req))
	}
}

func (b *Backend) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errClosed()
	}
	b.runs.Add(1)
	return nil
}

func errClosed() *chat.Error {
	return chat.Errorf(chat.ShuttingDown, "cursortray is ending; try again when it runs")
}

// findModel returns the model of req, if the conversation fits it.
func findModel(req *chat.Request) (chat.Model, error) {
	all := models()
	i := slices.IndexFunc(all, func(m chat.Model) bool { return m.ID == req.Model })
	if i < 0 {
		var ids []string
		for _, m := range all {
			ids = append(ids, m.ID)
		}
		return chat.Model{}, chat.Errorf(chat.NotFound, "the demo has no model %.80q; it has %s", req.Model, strings.Join(ids, " and "))
	}
	if n := estimate(req); n > all[i].ContextWindow {
		return chat.Model{}, chat.Errorf(chat.TooLong, "prompt is too long: %d tokens > %d maximum", n, all[i].ContextWindow)
	}
	return all[i], nil
}

// newCallID is unique in the process, and hard to guess in any other.
func newCallID() string { return "call_" + rand.Text() }
