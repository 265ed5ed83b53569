package agentrpc

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Transport carries runs over connections that are fresh and alive. Those older
// than a quarter of an hour get no new runs, and neither do those from which
// nothing was heard for longer than it takes to ask them: the computer slept
// meanwhile. What runs on one that was left goes on there.
type Transport struct {
	base *http.Transport

	mu   sync.Mutex
	now  *generation   // new runs go there; nil before the first
	left []*generation // older ones with open connections
}

// NewTransport returns a Transport with the proxy, the certificates and the
// dialer of base. The login is added by whoever wraps it. It starts nothing
// before its first call.
func NewTransport(base *http.Transport) *Transport { return &Transport{base: forRuns(base)} }

const (
	maxAge = 15 * time.Minute // of a connection that gets new runs
	// Idle connections are asked for a sign of life after pingAfter, and are gone
	// after pingLimit without one. As these times stand still while the computer
	// sleeps, the clock on the wall tells which connections were not asked.
	pingAfter = 15 * time.Second
	pingLimit = 5 * time.Second
	maxQuiet  = pingAfter + pingLimit
)

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	g, left := t.pick()
	for _, old := range left {
		old.CloseIdleConnections()
	}
	return g.RoundTrip(req)
}

// CloseIdleConnections closes those that no run is on.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	all := slices.Clone(t.left)
	if t.now != nil {
		all = append(all, t.now)
	}
	t.mu.Unlock()
	for _, g := range all {
		g.CloseIdleConnections()
	}
}

// pick returns the connections for a new run, and those that were left.
func (t *Transport) pick() (now *generation, left []*generation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now != nil && !t.now.fit() {
		t.left = append(t.left, t.now)
		t.now = nil
	}
	if t.now == nil {
		t.now = newGeneration(t.base)
	}
	t.left = slices.DeleteFunc(t.left, func(g *generation) bool { return g.open.Load() == 0 })
	return t.now, slices.Clone(t.left)
}

// generation is connections of about the same age. There is more than one where
// the service limits what a connection carries.
type generation struct {
	*http.Transport
	born  time.Time
	open  atomic.Int32 // connections, and attempts at one
	heard atomic.Int64 // when something came last, on the wall's clock
}

func newGeneration(base *http.Transport) *generation {
	g := &generation{Transport: base.Clone(), born: time.Now()}
	g.hear()
	dial := base.DialContext
	g.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		g.hear()
		g.open.Add(1)
		conn, err := dial(ctx, network, address)
		if err != nil {
			g.open.Add(-1)
			return nil, err
		}
		g.hear()
		return &heardConn{Conn: conn, generation: g}, nil
	}
	return g
}

// fit tells whether new runs may use these connections.
func (g *generation) fit() bool {
	if time.Since(g.born) > maxAge {
		return false
	}
	quiet := time.Duration(time.Now().UnixNano() - g.heard.Load())
	return g.open.Load() == 0 || quiet >= 0 && quiet <= maxQuiet
}

func (g *generation) hear() { g.heard.Store(time.Now().UnixNano()) }

// heardConn notes when something comes.
type heardConn struct {
	net.Conn
	generation *generation
	closed     sync.Once
}

func (c *heardConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.generation.hear()
	}
	return n, err
}

func (c *heardConn) Close() error {
	c.closed.Do(func() { c.generation.open.Add(-1) })
	return c.Conn.Close()
}
