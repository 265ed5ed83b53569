// Package proxy is the local HTTP server: its routes and their aliases, who may
// call them (Host, Origin, key), limits, the request log and the graceful stop.
// What a request says is read by the front-ends, who answers it is a
// chat.Backend; proxy knows neither dialects nor Cursor. Serve owns the
// goroutines of the server and of all requests, and returns after their end.
package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"cursortray/proxy/anthropic"
	"cursortray/proxy/chat"
	"cursortray/proxy/modellist"
	"cursortray/proxy/openai"
	"cursortray/proxy/turn"
)

// Config is what a Server needs.
type Config struct {
	Backend chat.Backend
	// Authorize tells whether key opens the proxy, and whose it is. It compares
	// in constant time. An error, a *chat.Error, says that it cannot tell now,
	// for example because the key is not readable yet. nil lets everybody in.
	Authorize func(ctx context.Context, key string) (who Caller, ok bool, err error)
	// Health describes the state of the program. It is called only for requests
	// with a valid key.
	Health func(ctx context.Context) Health
	// Wrap, if set, goes around the handler of all requests.
	Wrap    func(http.Handler) http.Handler
	Hosts   []string // names besides the loopback ones that the Host header may have
	Origins []string // allowed values of the Origin header: exact, or "scheme://*"
	Logger  *slog.Logger
	// MaxStreams is how many requests for a model may run at once; 0 is 64.
	MaxStreams int
	// Grace is how long running answers may go on after the end of Serve's
	// context; 0 is 5 s.
	Grace     time.Duration
	KeepAlive time.Duration // silence before a stream gets a comment; 0 is 10 s
	// Activity is told the number of running requests for a model whenever it
	// changed, one call at a time. It must not block.
	Activity func(active int)
	// TurnedAway, if set, is told each request for a model that never reached
	// the Backend, at its end. It must not block.
	TurnedAway func(TurnedAway)
	// Pages serves what is below /dashboard/, for browsers. It asks for no key
	// and checks for itself who may see what; the guard against foreign hosts
	// and origins stands before it. nil: there are no pages.
	Pages http.Handler
}

// Caller is whose key a request has.
type Caller struct {
	Editor string // the id of an editor with a key of its own; "" is the main key
	Off    bool   // the user has switched this editor off
}

// Health is the body of GET /health for a caller with the key.
type Health struct {
	Status  string `json:"status"` // "ok" or "problem"
	Version string `json:"version"`
	Demo    bool   `json:"demo"` // nothing is real
	// Backend is the name of the back-end in use, Choice what the user set, and
	// Reason why that gave this back-end.
	Backend  string    `json:"backend"`
	Choice   string    `json:"choice,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is something that keeps requests from being answered.
type Problem struct {
	Area    string `json:"area"`    // "login", "plan", "backend", "key" or "port"
	Message string `json:"message"` // what is wrong and what to do
}

// Server serves the local port, once.
type Server struct {
	cfg     Config
	log     *slog.Logger
	guard   guard
	slots   slots // for requests for a model
	counts  slots // for counts of tokens, which run here
	handler http.Handler

	chat     *openai.Handler
	messages *anthropic.Handler
	models   *modellist.Handler

	served   atomic.Bool
	stopping atomic.Bool // new requests are turned away

	maxBody     int64
	bodyTimeout time.Duration
	forceAfter  time.Duration // from the end of Grace until connections are cut
}

// Limits of a well-behaved client; see also maxBody and bodyTimeout in New.
const (
	maxHeader     = 64 << 10 // Codex sends several headers of 1 KiB of JSON each
	headerTimeout = 10 * time.Second
	idleTimeout   = 120 * time.Second
	// handlerPatience is how long a back-end may take to end a canceled turn
	// before the program ends without it.
	handlerPatience = 5 * time.Second
)

// New returns a Server. It starts nothing.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, log: cfg.Logger, maxBody: 64 << 20, bodyTimeout: time.Minute, forceAfter: time.Second}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.cfg.Grace == 0 {
		s.cfg.Grace = 5 * time.Second
	}
	if s.cfg.KeepAlive == 0 {
		s.cfg.KeepAlive = 10 * time.Second
	}
	if s.cfg.MaxStreams == 0 {
		s.cfg.MaxStreams = 64
	}
	s.slots = slots{size: s.cfg.MaxStreams, changed: cfg.Activity}
	s.guard = newGuard(cfg.Hosts, cfg.Origins, s.log)
	s.counts = slots{size: s.cfg.MaxStreams}
	turns := turn.Config{Backend: noted{cfg.Backend}, KeepAlive: s.cfg.KeepAlive, Logger: s.log, Done: noteOutcome}
	s.chat, s.messages, s.models = openai.New(turns), anthropic.New(turns), modellist.New(turns, fail)
	s.handler = s.recorded(s.guarded(s.routes()))
	if cfg.Wrap != nil {
		s.handler = cfg.Wrap(s.handler)
	}
	return s
}

// Serve answers requests on ln, which it closes, until ctx ends. Then it takes
// no new ones, gives running answers up to Config.Grace, and cancels what is
// left; streams end with an error event, never as if they were whole. It
// returns nil after such a stop. A Server serves once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.served.Swap(true) {
		return errors.New("proxy: this server has served before")
	}
	// Requests outlive ctx by the grace period.
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	requests, endPages := withPages(requests)
	defer endPages()
	var busy connections
	srv := &http.Server{
		Handler:                      s.handler,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		ConnState:                    busy.track,
		BaseContext:                  func(net.Listener) context.Context { return requests },
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // "OPTIONS *" passes the guard as well
	}
	broken := make(chan error, 1)
	go func() { broken <- srv.Serve(ln) }()
	var failure error
	select {
	case <-ctx.Done():
		s.stopping.Store(true)
		endPages()
		_ = ln.Close() // Serve returns the error
		<-broken
	case failure = <-broken:
		s.stopping.Store(true)
	}
	busy.wait(s.cfg.Grace)
	cancel(errShuttingDown())
	busy.wait(s.forceAfter)
	_ = srv.Close() // nothing is left to lose: the connections are idle or stuck
	if !busy.wait(handlerPatience) {
		failure = errors.Join(failure, errors.New("proxy: requests did not end when they were canceled"))
	}
	return failure
}

func errShuttingDown() *chat.Error {
	return &chat.Error{Kind: chat.ShuttingDown, Message: "cursortray is stopping; try again in a moment", RetryAfter: time.Second}
}
