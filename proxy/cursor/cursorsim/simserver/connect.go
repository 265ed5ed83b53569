package simserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// serveProxy is the CONNECT proxy. It leads the names of Cursor to the TLS
// server and refuses everything else, on record: whatever the program under
// test wanted there, it must not get it during a test.
func (s *Sim) serveProxy(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	_, known := lookUpHost(s.hosts, host)
	if r.Method != http.MethodConnect || err != nil || port != "443" || !known {
		s.journal.refuse(r.Method + " " + r.Host)
		s.log.Warn("the proxy refuses", "method", r.Method, "host", r.Host)
		http.Error(w, "the simulated Cursor does not lead there", http.StatusForbidden)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "cannot take over the connection", http.StatusInternalServerError)
		return
	}
	if buffered.Reader.Buffered() > 0 { // it spoke before the tunnel was there
		s.journal.refuse("early data for " + r.Host)
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	s.handed.give(conn)
}

// handover is a listener whose connections come from the proxy. Passing them
// on as they are, instead of copying bytes between two connections, lets a
// reset of the server reach the client as a reset.
type handover struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newHandover() *handover {
	return &handover{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (h *handover) give(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.done:
		_ = conn.Close()
	}
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handover) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (h *handover) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// connKey finds the connection of a call in its context.
type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// resetConn ends the TCP connection of a call with a reset, and so every other
// call on it.
func resetConn(ctx context.Context) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}
