package agentrpc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"cursortray/proxy/cursor/cursorpb"
)

// forRuns returns a copy of base that is fit for runs: HTTP/2 and nothing else,
// because other versions cannot carry them, and quick to notice that a connection
// is dead.
func forRuns(base *http.Transport) *http.Transport {
	t := base.Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
	if t.DialContext == nil {
		t.DialContext = (&net.Dialer{Timeout: connectLimit}).DialContext
	}
	t.TLSHandshakeTimeout = connectLimit
	if t.IdleConnTimeout == 0 {
		t.IdleConnTimeout = idleLimit
	}
	t.HTTP2 = &http.HTTP2Config{
		// A run has signs of life every five seconds, so only an idle or dead
		// connection is asked.
		SendPingTimeout: pingAfter,
		PingTimeout:     pingLimit,
		// A slow client must not hold up others on its connection, and a fast
		// service must not wait for us.
		MaxReceiveBufferPerStream: 1 << 20,
	}
	return t
}

const (
	connectLimit = 15 * time.Second
	idleLimit    = 90 * time.Second
)

// duplex is the call of one run.
type duplex = connect.BidiStreamForClient[cursorpb.AgentClientMessage, cursorpb.AgentServerMessage]

// calls opens the calls of runs. Their client is made once: it takes longer than
// all else that there is to do for a call.
type calls struct {
	mu     sync.Mutex
	origin string
	client cursorpb.AgentServiceClient
}

// open opens a call through a tap. Nothing is sent before the first message.
func (c *calls) open(ctx context.Context, t *tap, origin string) *duplex {
	stream := c.at(origin).Run(context.WithValue(ctx, tapKey{}, t))
	h := stream.RequestHeader()
	// As the command-line client of Cursor has them.
	h.Set("User-Agent", "connect-es/1.6.1")
	h.Set("Te", "trailers")
	h.Set("X-Cursor-Streaming", "true")
	return stream
}

func (c *calls) at(origin string) cursorpb.AgentServiceClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil || c.origin != origin {
		c.origin = origin
		c.client = cursorpb.NewAgentServiceClient(tapped{}, origin, connect.WithCodec(codec{}), connect.WithReadMaxBytes(maxFrame))
	}
	return c.client
}

// tapKey finds the tap in the context of a call.
type tapKey struct{}

// tapped is connect's HTTP client, which is the tap of each run.
type tapped struct{}

func (tapped) Do(req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(tapKey{}).(*tap)
	if !ok {
		return nil, errors.New("a call without a tap")
	}
	return t.Do(req)
}
