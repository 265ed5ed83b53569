// Package simserver is Cursor's side of the wire, simulated: the login page
// and its poll, tokens and their renewal, GetServerConfig, models, plan and
// usage, and runs of the agent service, over real TLS and HTTP/2 on the
// loopback interface. A program reaches
// it through a CONNECT proxy and a certificate authority of its own, so that
// nothing in the program need know that it is being tested. It checks every
// call against what Cursor's clients are known to send and can be told to
// answer wrongly.
//
// Runs follow scripts of a test, or Demo: see Script, Step, Violations, Runs.
//
// It gives no real answer, holds no real account and talks to no other
// machine. It knows nothing of the code under test.
//
// A Sim owns its goroutines: those of its listeners and connections, one per
// call being answered, and four more per run. Close ends them and waits.
package simserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say where a simulation listens and keeps its certificate. The zero
// value suits tests.
type Options struct {
	Dir          string           // for ca.pem; "" for a private folder that Close removes
	ProxyAddr    string           // of the CONNECT proxy; "" for a free loopback port
	ControlAddr  string           // of the control port; "" for a free loopback port
	Now          func() time.Time // nil for time.Now
	Logger       *slog.Logger     // gets one line per call, without secrets; nil for none
	AllowedHosts []string         // served besides those of Cursor

	// Certified is when the certificates are valid: some years around it. Zero is
	// the present; another time is what a program with a wrong clock sees.
	Certified time.Time

	Clock        func() time.Time // times what clients do in runs; nil for time.Now
	StreamWindow int              // bytes a client may send ahead in a run; 0 for Go's default
}

// Sim is a running simulation. All methods may be called at any time from any
// goroutine.
type Sim struct {
	now     func() time.Time
	log     *slog.Logger
	ca      *authority
	caFile  string
	tempDir string // removed by Close; "" if the folder is the caller's
	hosts   map[string]hostKind
	routes  map[string]route

	tls     *http.Server // the hosts of Cursor
	proxy   *http.Server // the CONNECT proxy
	control *http.Server
	handed  *handover // connections from the proxy to tls
	addrs   struct{ tls, proxy, control string }
	client  *http.Client

	journal journal
	faults  faults
	clients clientMemory

	clock      func() time.Time
	runs       runs
	runHandler http.Handler

	mu       sync.Mutex // guards all below
	settings Settings
	catalog  Catalog
	plans    planBook
	accounts accounts
	logins   map[string]*login // by uuid
	closed   bool              // also guards calls.Add against calls.Wait

	ctx    context.Context // of every call; ends with Close
	cancel context.CancelFunc
	serves sync.WaitGroup // listeners
	conns  sync.WaitGroup
	calls  sync.WaitGroup
}

// Start runs a simulation until Close. The end of ctx only ends the calls that
// are being answered.
func Start(ctx context.Context, o Options) (*Sim, error) {
	s := &Sim{now: o.Now, log: o.Logger, hosts: hostTable(o.AllowedHosts), routes: routeTable(), logins: map[string]*login{}, clock: o.Clock, runs: newRuns()}
	s.runHandler = s.newRunHandler()
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.settings = defaultSettings()
	s.accounts = newAccounts()
	var err error
	if s.catalog, err = DefaultCatalog(); err != nil {
		return nil, err
	}
	if s.plans, err = readPlans(); err != nil {
		return nil, err
	}
	if err := s.makeCA(o.Dir, o.Certified); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if err := s.listen(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.client = s.newClient()
	return s, nil
}

func (s *Sim) makeCA(dir string, at time.Time) error {
	var err error
	if at.IsZero() {
		at = time.Now()
	}
	// The certificates follow the machine's clock, whatever the tests' clock says.
	if s.ca, err = newAuthority(at); err != nil {
		return fmt.Errorf("make the certificate authority: %w", err)
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "cursorsim-"); err != nil {
			return fmt.Errorf("make a folder for the certificate: %w", err)
		}
		s.tempDir = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for the certificate: %w", err)
	}
	s.caFile = filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(s.caFile, s.ca.pem, 0o600); err != nil {
		return errors.Join(fmt.Errorf("write the certificate: %w", err), s.removeTemp())
	}
	return nil
}

func (s *Sim) removeTemp() error {
	if s.tempDir == "" {
		return nil
	}
	return os.RemoveAll(s.tempDir)
}

// listen opens the three ports and starts a goroutine for each listener.
func (s *Sim) listen(o Options) error {
	s.handed = newHandover()
	quiet := log.New(io.Discard, "", 0) // broken handshakes are a matter of the tests
	base := func(net.Listener) context.Context { return s.ctx }
	s.tls = &http.Server{
		Handler: http.HandlerFunc(s.serve), TLSConfig: s.ca.config(s.hosts), ConnState: s.track,
		ConnContext: withConn, BaseContext: base, ErrorLog: quiet, ReadHeaderTimeout: time.Minute,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream: o.StreamWindow, MaxConcurrentStreams: 1000,
			MaxReadFrameSize: 16 << 10, // as nearly all servers have it; clients size their buffers by it
		},
	}
	s.proxy = &http.Server{Handler: http.HandlerFunc(s.serveProxy), ConnState: s.track, BaseContext: base, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	s.control = &http.Server{Handler: s.controlRoutes(), ConnState: s.track, BaseContext: base, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}

	for _, port := range []struct {
		addr   string
		server *http.Server
		serve  func(net.Listener) error
		got    *string
	}{
		{"", s.tls, func(l net.Listener) error { return s.tls.ServeTLS(l, "", "") }, &s.addrs.tls},
		{o.ProxyAddr, s.proxy, s.proxy.Serve, &s.addrs.proxy},
		{o.ControlAddr, s.control, s.control.Serve, &s.addrs.control},
	} {
		l, err := listenLoopback(port.addr)
		if err != nil {
			return err
		}
		*port.got = l.Addr().String()
		s.serves.Go(func() { _ = port.serve(l) })
	}
	s.serves.Go(func() { _ = s.tls.ServeTLS(s.handed, "", "") })
	return nil
}

func listenLoopback(addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen on %s: a simulation listens on the loopback interface only", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// track counts connections. A hijacked one goes from the proxy to the TLS
// server, which counts it again.
func (s *Sim) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateHijacked, http.StateClosed:
		s.conns.Done()
	}
}

// Close ends the simulation: listeners, connections and calls. It returns when
// all of them are gone, and may be called again.
func (s *Sim) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	_ = s.handed.Close()
	for _, server := range []*http.Server{s.proxy, s.control, s.tls} {
		_ = server.Close() // its error is that of a listener that had to go anyway
	}
	s.serves.Wait()
	s.conns.Wait()
	s.calls.Wait()
	return s.removeTemp()
}

// begin counts a call, unless the simulation is closed.
func (s *Sim) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calls.Add(1)
	return true
}

// Env is what leads a program to the simulation: its proxy and its certificate
// authority. The exceptions from the proxy are emptied, so that no call leaves
// for the real Cursor by way of one.
func (s *Sim) Env() []string {
	return []string{"HTTPS_PROXY=" + s.ProxyURL(), "SSL_CERT_FILE=" + s.caFile, "NO_PROXY=", "no_proxy="}
}

// ProxyURL is the address of the CONNECT proxy.
func (s *Sim) ProxyURL() string { return "http://" + s.addrs.proxy }

// ControlURL is the address of the control port.
func (s *Sim) ControlURL() string { return "http://" + s.addrs.control }

// Addr is the TLS listener itself, for a program that is led there by other
// means than the proxy.
func (s *Sim) Addr() string { return s.addrs.tls }

// CAFile names the file with the certificate authority in PEM form.
func (s *Sim) CAFile() string { return s.caFile }

// KeyPin is the hash of the servers' public key as Chromium's switch
// --ignore-certificate-errors-spki-list takes it.
func (s *Sim) KeyPin() string { return s.ca.pin }
