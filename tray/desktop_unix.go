//go:build !windows && !darwin

package tray

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"cursortray/app/sessionbus"
	"cursortray/assets"
)

// openDesktop connects to the session bus, over which trays are reached here.
// The connection is our own: it tells when the bus goes away, and whether
// there is a bus at all before the library looks. Without one the library
// would start a bus of its own, which outlives us.
func openDesktop(ctx context.Context, logger *slog.Logger) (*desktop, error) {
	addr, err := sessionbus.Address()
	if err != nil {
		return nil, err
	}
	conn, err := sessionbus.Connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	// So that the library takes the bus that was found, whatever happens to
	// the socket meanwhile.
	if err := os.Setenv(sessionbus.Variable, addr); err != nil {
		conn.Close()
		return nil, err
	}
	watch, stop := context.WithCancel(ctx)
	panels := make(chan assets.Panel, 1)
	hosts := make(chan string, 1)
	var tasks sync.WaitGroup
	tasks.Go(func() { watchHost(watch, conn, hosts, logger) })
	tasks.Go(func() { watchPanel(watch, conn, os.Getenv("XDG_CURRENT_DESKTOP"), panels) })
	return &desktop{
		lost:   conn.Context().Done(),
		panels: panels,
		hosts:  hosts,
		close: func() {
			stop()
			tasks.Wait()
			conn.Close()
		},
	}, nil
}
