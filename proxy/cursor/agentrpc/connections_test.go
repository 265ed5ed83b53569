package agentrpc

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// onNetwork runs test in a bubble with a Transport to a server that tells which
// connection a call came on, and holds calls of "/held" until their client ends
// them, with a word every talk, if that is not 0.
func onNetwork(t *testing.T, talk time.Duration, test func(*testing.T, *Transport, *calling)) {
	synctest.Test(t, func(t *testing.T) {
		type number struct{}
		c := &calling{t: t, open: map[net.Conn]bool{}}
		network := &pipes{conn: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{
			Protocols: new(http.Protocols),
			ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
				c.dialed++
				return context.WithValue(ctx, number{}, c.dialed)
			},
			ConnState: func(conn net.Conn, state http.ConnState) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.open[conn] = state != http.StateClosed
			},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, r.Context().Value(number{}))
				for held := r.URL.Path == "/held"; held; {
					_ = http.NewResponseController(w).Flush()
					var word <-chan time.Time
					if talk > 0 {
						word = time.After(talk)
					}
					select {
					case <-word:
						fmt.Fprint(w, ".")
					case <-r.Context().Done():
						held = false
					}
				}
			}),
		}
		server.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = server.Serve(network) }()
		c.transport = plainTransport(network)
		test(t, c.transport, c)
		c.transport.CloseIdleConnections()
		_ = server.Close()
		synctest.Wait()
	})
}

type calling struct {
	t         *testing.T
	transport *Transport
	dialed    int
	mu        sync.Mutex
	open      map[net.Conn]bool
}

// on makes a call and returns the number of its connection.
func (c *calling) on() (number int) {
	c.t.Helper()
	body := c.begin("/")
	if _, err := fmt.Fscan(body, &number); err != nil {
		c.t.Fatal(err)
	}
	_ = body.Close()
	synctest.Wait()
	return number
}

func (c *calling) begin(path string) io.ReadCloser {
	c.t.Helper()
	req, _ := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://agent"+path, nil)
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.Body
}

func (c *calling) connections() (n int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, open := range c.open {
		if open {
			n++
		}
	}
	return n
}

// Connections older than a quarter of an hour get no new runs; what runs on them
// goes on, and they are closed when it has ended. (5.1)
func TestConnectionsAreRotated(t *testing.T) {
	onNetwork(t, 5*time.Second, func(t *testing.T, transport *Transport, c *calling) {
		held := c.begin("/held")
		for range 14 {
			time.Sleep(time.Minute)
			if n := c.on(); n != 1 {
				t.Fatalf("a young connection was left for number %d", n)
			}
		}
		time.Sleep(time.Minute + time.Second)
		if n := c.on(); n == 1 {
			t.Error("after a quarter of an hour the first connection is used")
		}
		time.Sleep(10 * time.Minute)
		words := make([]byte, 1+25*12)
		if _, err := io.ReadFull(held, words); err != nil {
			t.Errorf("the run on the connection that was left: %v", err)
		}
		_ = held.Close()
		time.Sleep(idleLimit + time.Second)
		if n := c.connections(); n != 0 {
			t.Errorf("%d connections stay open", n)
		}
		if c.on(); len(transport.left) != 0 {
			t.Errorf("%d generations are remembered", len(transport.left))
		}
	})
}

// A connection that nobody uses is asked for signs of life, and used again.
func TestIdleConnectionsAreKeptWhileTheyAnswer(t *testing.T) {
	onNetwork(t, 0, func(t *testing.T, _ *Transport, c *calling) {
		for range 3 {
			if n := c.on(); n != 1 {
				t.Errorf("connection %d is used", n)
			}
			time.Sleep(80 * time.Second)
		}
	})
}

// While the computer sleeps nothing is asked and no time limit passes. A
// connection from before is not used again, whether something runs on it or not,
// since nobody knows if it still leads anywhere. (TD-4)
func TestTD4_ConnectionsFromBeforeASleepAreLeft(t *testing.T) {
	for _, busy := range []bool{false, true} {
		onNetwork(t, 0, func(t *testing.T, transport *Transport, c *calling) {
			transport.base.HTTP2.SendPingTimeout, transport.base.IdleConnTimeout = 0, 0
			if busy {
				defer c.begin("/held").Close()
			}
			c.on()
			time.Sleep(maxQuiet)
			if n := c.on(); n != 1 {
				t.Errorf("busy %v: after a pause connection %d is used", busy, n)
			}
			time.Sleep(maxQuiet + time.Millisecond)
			if n := c.on(); n != 2 {
				t.Errorf("busy %v: after a sleep connection %d is used", busy, n)
			}
			want := 1
			if busy {
				want = 2
			}
			if n := c.connections(); n != want {
				t.Errorf("busy %v: %d connections are open, want %d", busy, n, want)
			}
		})
	}
}
