//go:build unix

package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"cursortray/app/config"
	"cursortray/keychain"
	"cursortray/proxy/cursor/cursorsim/simserver"
)

// After a sleep the old connections are not used again, and a login that has
// run out meanwhile is renewed before anybody asks for it. (TD-4)
func TestTD4_WakeDropsConnectionsAndRenews(t *testing.T) {
	sim, err := simserver.Start(context.Background(), simserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	var dials atomic.Int32
	transport := sim.NewTransport()
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	a, err := newAccountAt(&setup{settings: config.Default()}, place{
		client: &http.Client{Transport: transport},
		runs:   newLate(func() (*http.Transport, error) { return transport.Clone(), nil }),
		store:  keychain.Memory(),
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.close() })
	// A login counts as due 300 s before its end.
	change(t, sim, func(s *simserver.Settings) { s.AccessLifetime = 301 * time.Second })
	if err := a.cursor.LoginWithKey(t.Context(), simserver.DefaultKey); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := a.cursor.Plan(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Fatalf("%d connections before the sleep", n)
	}
	change(t, sim, func(s *simserver.Settings) { s.AccessLifetime = time.Hour })
	before := renewals(sim)
	until(t, "the login is due", func() bool {
		a.wake(t.Context())
		return renewals(sim) > before
	})
	if n := dials.Load(); n < 2 {
		t.Error("the renewal took the old connection")
	}
	a.wake(t.Context())
	if n := renewals(sim); n != before+1 {
		t.Errorf("a login that is good was renewed: %d times", n-before)
	}
}
