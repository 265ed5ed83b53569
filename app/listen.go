package app

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
)

// busyError says that another program holds the port.
type busyError struct {
	port  uint16
	owner string // "" when the system does not tell
	next  string // a free address near, "" if none was found
	err   error
}

func (e *busyError) Error() string {
	if e.owner == "" {
		return fmt.Sprintf("port %d is used by another program", e.port)
	}
	return fmt.Sprintf("port %d is used by %s", e.port, e.owner)
}

func (e *busyError) Unwrap() error { return e.err }

// listen opens addr and nothing else: editors are configured with the number,
// so there is no other port to fall back to.
func listen(cfg *Config, addr string) (net.Listener, error) {
	if err := checkAddr(addr, cfg.AllowRemote); err != nil {
		return nil, err
	}
	ln, err := cfg.Listen(addr)
	if err == nil {
		return ln, nil
	}
	if port := portOf(addr); port != 0 && addrInUse(err) {
		return nil, &busyError{port: port, err: err}
	}
	return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
}

// checkAddr refuses an address that other machines reach, unless remote.
func checkAddr(addr string, remote bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("the address %q is not HOST:PORT", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("the address %q has no port number between 0 and 65535", addr)
	}
	if remote || loopback(host) {
		return nil
	}
	return fmt.Errorf("the address %q can be reached from other machines, which could then use this Cursor account; "+
		"listen on 127.0.0.1, or set allow_remote = true if that is what you want", addr)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func portOf(addr string) uint16 {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

// baseURL is where a client on this machine finds the API of a proxy at addr;
// "" when its port is not known yet.
func baseURL(addr string) string {
	port := portOf(addr)
	if port == 0 {
		return ""
	}
	host, _, _ := net.SplitHostPort(addr)
	// A name resolves to what the listener took, in all likelihood, but an
	// address saves every client from trying the other family first.
	ip, err := netip.ParseAddr(host)
	if host == "" || strings.EqualFold(host, "localhost") || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(int(port))) + "/v1"
}

// connections is a listener that can close what it has accepted, for the quit
// that does not wait.
type connections struct {
	net.Listener

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func track(ln net.Listener) *connections {
	return &connections{Listener: ln, open: make(map[net.Conn]struct{})}
}

func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tracked := &trackedConn{Conn: conn, all: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[tracked] = struct{}{}
	return tracked, nil
}

func (c *connections) closeAll() {
	c.mu.Lock()
	open := c.open
	c.open = make(map[net.Conn]struct{})
	c.mu.Unlock()
	for conn := range open {
		conn.Close()
	}
}

type trackedConn struct {
	net.Conn
	all *connections
}

func (c *trackedConn) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
