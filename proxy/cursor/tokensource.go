package cursor

import (
	"context"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	// loginName is the login's name in the Store.
	loginName = "cursor-login"
	// workLimit bounds a read or renewal: a store that asks for a password
	// takes up to a minute, another process's renewal and three calls as long.
	workLimit = 2 * time.Minute
	// askAgain is how long a store without a login, or without an answer, is
	// left alone, so that a thousand requests do not mean a thousand prompts.
	askAgain = 30 * time.Second
	// tryAgain is how long a token near its end is used before the next try
	// after a renewal that failed for a passing reason.
	tryAgain = 30 * time.Second
	// freshFor is how long a renewed token is not renewed again: if Cursor
	// refuses one that new, another will not help.
	freshFor = 10 * time.Second
	// closeGrace lets a renewal save its tokens when the program ends.
	closeGrace = 3 * time.Second
	// othersLimit is for a logout to reach stores that are not in use.
	othersLimit = 5 * time.Second
)

// TokenSource gives out access tokens that are good for a while. It reads the
// login from the Store once and renews it before its end, once for all callers
// that wait and in turns with other processes. Its methods may be called at
// the same time; their errors are *chat.Error.
type TokenSource struct {
	cfg  Config
	auth authClient

	// turn is held by whoever reads, renews or replaces the login in this
	// process. It guards way, the one of renewals that worked.
	turn chan struct{}
	way  int

	finished sync.WaitGroup // of the goroutine of work

	mu      sync.Mutex // guards the rest
	closed  bool
	work    *work           // the running read or renewal, nil if there is none
	creds   *Credentials    // nil if there are none, or if they were not read yet
	problem *chat.Error     // why creds is nil; nil if they were not read yet
	asked   time.Time       // when the store was asked last
	unsaved *chat.Error     // why creds are not in the store, nil if they are
	gone    *Credentials    // a login that has ended and is still to be deleted, zero if not known which
	caller  context.Context // of the last change, without its end: Close has none
	payNow  bool            // the next call asks the store for what it owes
	seen    Credentials     // what the store holds, as far as known
	owner   *string         // whose login was in use last; nil if there was none
	failed  time.Time       // last renewal that failed for a passing reason
	renewed time.Time       // last renewal that worked
	tried   string          // access token without a known end that was tried to renew
}

// NewTokenSource returns a source for the login in cfg.Store. It does nothing
// until it is asked.
func NewTokenSource(cfg Config) *TokenSource {
	return &TokenSource{cfg: cfg, auth: newAuthClient(cfg), turn: make(chan struct{}, 1)}
}

// need is what a caller wants.
type need struct {
	stale string // Cursor refused this token; "" is none
	old   bool   // a token that is due will do

	settle bool // no token, but what the store owes
}

// work is one goroutine's read or renewal.
type work struct {
	need
	stop  context.CancelFunc
	done  chan struct{}
	token string      // valid after done
	err   *chat.Error // valid after done
	ended bool        // valid after done: the login was lost
}

// Token returns an access token.
func (s *TokenSource) Token(ctx context.Context) (string, error) { return s.token(ctx, need{}) }

// Renew returns another access token than stale, which Cursor has refused. It
// returns stale itself if that was renewed a moment ago: trying again would
// not help.
func (s *TokenSource) Renew(ctx context.Context, stale string) (string, error) {
	return s.token(ctx, need{stale: stale})
}

// SignedIn returns nil if there is a login, else the error that calls to
// Cursor would have. It reads the login if need be, but does not renew it.
func (s *TokenSource) SignedIn(ctx context.Context) error {
	_, err := s.token(ctx, need{old: true})
	return err
}

// Reload forgets what was read, so that the next call asks the Store again: a
// user may have unlocked it, or logged in with another process.
func (s *TokenSource) Reload() {
	s.note(func() {
		s.asked, s.payNow = time.Time{}, s.unsaved != nil
		if !s.owes() {
			s.creds, s.problem, s.seen = nil, nil, Credentials{}
		}
	})
}

// Close ends the running renewal, if there is one, and waits for its end.
// Calls that come later fail.
func (s *TokenSource) Close() error {
	s.mu.Lock()
	if !s.closed {
		defer s.lastTry()
	}
	s.closed = true
	if w := s.work; w != nil {
		defer time.AfterFunc(closeGrace, w.stop).Stop()
	}
	s.mu.Unlock()
	s.finished.Wait()
	return nil
}

func (s *TokenSource) token(ctx context.Context, n need) (string, error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return "", &chat.Error{Kind: chat.ShuttingDown, Message: "cursortray is ending"}
		}
		if token, ok := s.ready(n); ok && !s.payNow {
			if s.unsaved != nil && s.work == nil && time.Since(s.asked) >= askAgain {
				s.start(ctx, need{settle: true}) // nobody waits for it
			}
			s.mu.Unlock()
			return token, nil
		}
		if err := s.problem; err != nil && time.Since(s.asked) < askAgain {
			s.mu.Unlock()
			return "", err
		}
		w := s.work
		if w == nil {
			if s.payNow {
				w = s.start(ctx, need{settle: true})
			} else {
				w = s.start(ctx, n)
			}
		}
		s.mu.Unlock()
		select {
		case <-w.done:
		case <-ctx.Done():
			return "", chat.AsError(ctx.Err())
		}
		if w.err != nil {
			return "", w.err
		}
		if w.need == n && w.token != "" {
			return w.token, nil
		}
	}
}

// ready returns the token in memory if it will do. It needs s.mu.
func (s *TokenSource) ready(n need) (string, bool) {
	if s.creds == nil {
		return "", false
	}
	c := *s.creds
	if n.old {
		return c.access, true
	}
	if n.stale != "" && n.stale == c.access {
		return c.access, time.Since(s.renewed) < freshFor
	}
	return c.access, c.access != "" && (!s.due(c) || c.good() && time.Since(s.failed) < tryAgain)
}

// due says whether c is to be renewed before it is used. It needs s.mu.
func (s *TokenSource) due(c Credentials) bool {
	if c.expiry.IsZero() {
		return c.access != s.tried
	}
	return c.expiry.Sub(now(c.skew)) < renewMargin
}

// start starts the goroutine that reads or renews. It needs s.mu.
func (s *TokenSource) start(ctx context.Context, n need) *work {
	// The first caller may leave, but others wait too, and tokens that were
	// renewed have to be saved.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), workLimit)
	s.caller = context.WithoutCancel(ctx)
	w := &work{need: n, stop: stop, done: make(chan struct{})}
	s.work = w
	owed := s.owes()
	s.finished.Go(func() {
		defer stop()
		w.token, w.err = s.run(ctx, w)
		paid := false
		s.note(func() { s.work, paid = nil, s.owes() != owed })
		close(w.done)
		switch {
		case w.ended && s.cfg.Changed != nil:
			s.cfg.Changed(false)
		case paid && !w.ended && s.cfg.Stored != nil:
			s.cfg.Stored()
		}
	})
	return w
}

func (s *TokenSource) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
