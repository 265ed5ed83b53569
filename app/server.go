package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"cursortray/proxy"
)

// server is the machine's hold on the proxy.
type server struct {
	addr  string // with the port that was picked, once one was
	want  bool   // the user wants it to run
	stop  context.CancelFunc
	conns *connections
}

// cut ends running answers at once.
func (s *server) cut() {
	if s.conns != nil {
		s.conns.closeAll()
	}
}

func (m *machine) startProxy() {
	if m.quitting {
		return
	}
	m.server.want = true
	if s := m.snap.Proxy.State; s == Stopped || s == Blocked {
		m.open()
	}
}

// stopProxy closes the port. While it is still being opened, opened sees that
// it is no longer wanted.
func (m *machine) stopProxy() {
	m.server.want = false
	switch m.snap.Proxy.State {
	case Running:
		m.snap.Proxy.State = Stopping
		m.server.stop()
	case Blocked:
		m.setProxy(Stopped, "", "")
	}
}

func (m *machine) setProxy(state ProxyState, problem, owner string) {
	p := &m.snap.Proxy
	p.State, p.Problem, p.Owner, p.Next = state, problem, owner, ""
}

// open listens in a goroutine of its own, because finding out who holds a busy
// port can take a while.
func (m *machine) open() {
	m.setProxy(Starting, "", "")
	m.snap.Proxy.Broke = false
	addr, cfg := m.server.addr, &m.app.cfg
	m.spawn(m.life, func(ctx context.Context) func(*machine) {
		ln, err := listen(cfg, addr)
		var busy *busyError
		if errors.As(err, &busy) {
			busy.owner, busy.next = portOwner(ctx, busy.port), nextFree(cfg, addr)
		}
		return func(m *machine) { m.opened(ln, err) }
	})
}

func (m *machine) opened(ln net.Listener, err error) {
	log := m.app.cfg.Logger
	switch {
	case err != nil:
		log.Warn("the port could not be opened", "addr", m.server.addr, "error", err)
		m.blocked(err)
	case !m.server.want:
		ln.Close()
		m.setProxy(Stopped, "", "")
	default:
		m.server.addr = ln.Addr().String()
		m.snap.Proxy.Addr, m.snap.Proxy.BaseURL = m.server.addr, baseURL(m.server.addr)
		m.setProxy(Running, "", "")
		log.Info("the proxy runs", "addr", m.server.addr)
		m.serve(ln)
	}
}

func (m *machine) serve(ln net.Listener) {
	ctx, stop := context.WithCancel(m.life)
	m.server.stop, m.server.conns = stop, track(ln)
	srv, conns := proxy.New(m.proxyConfig()), m.server.conns
	m.spawn(ctx, func(ctx context.Context) func(*machine) {
		err := srv.Serve(ctx, conns)
		return func(m *machine) { m.served(err) }
	})
}

// served is the end of one server: asked for, or because it broke.
func (m *machine) served(err error) {
	asked := m.snap.Proxy.State == Stopping
	m.server.stop()
	m.server.conns = nil
	m.app.setActive(0) // a server that gave up on a request does not say so
	switch {
	case !asked:
		if err == nil {
			err = errors.New("the listener was closed")
		}
		m.app.cfg.Logger.Error("the proxy broke", "error", err)
		m.blocked(fmt.Errorf("the proxy broke: %w", err))
		m.snap.Proxy.Broke = m.snap.Proxy.State == Blocked
	default:
		if err != nil {
			m.app.cfg.Logger.Warn("the proxy did not stop cleanly", "error", err)
		}
		m.app.cfg.Logger.Info("the proxy is stopped")
		m.setProxy(Stopped, "", "")
		if m.server.want {
			m.open()
		}
	}
}

// blocked shows why there is no proxy, or ends Run with it.
func (m *machine) blocked(err error) {
	var busy *busyError
	owner, next := "", ""
	if errors.As(err, &busy) {
		owner, next = busy.owner, busy.next
	}
	if m.server.want || m.app.cfg.FailFast {
		m.setProxy(Blocked, err.Error(), owner)
		m.snap.Proxy.Next = next
	} else {
		m.setProxy(Stopped, "", "")
	}
	m.server.want = false
	if m.app.cfg.FailFast && m.err == nil && !m.quitting {
		m.err = err
		m.quitting = true
		m.endWork()
	}
}

func (m *machine) proxyConfig() proxy.Config {
	a := m.app
	cfg := a.cfg.Proxy
	cfg.Backend = observed{Backend: a.cfg.Backend, app: a}
	if r := a.cfg.Recorder; r != nil {
		cfg.Backend, cfg.Wrap = overheard{cfg.Backend, r}, r.Wrap
	}
	cfg.Authorize = a.authorize
	cfg.Health = func(context.Context) proxy.Health { return a.Snapshot().Health() }
	cfg.Activity, cfg.TurnedAway = a.setActive, a.turnedAway
	if cfg.Logger == nil {
		cfg.Logger = a.cfg.Logger
	}
	return cfg
}
