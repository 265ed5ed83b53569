//go:build !windows && !darwin

package tray

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"cursortray/assets"
)

const (
	busVariable = "DBUS_SESSION_BUS_ADDRESS"
	busTimeout  = 5 * time.Second
)

// openDesktop connects to the session bus, over which trays are reached here.
// The connection is our own: it tells when the bus goes away, and whether
// there is a bus at all before the library looks. Without one the library
// would start a bus of its own, which outlives us.
func openDesktop(ctx context.Context, logger *slog.Logger) (*desktop, error) {
	addr, err := busAddress()
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("the session bus does not answer: %w", err)
	}
	// So that the library takes the bus that was found, whatever happens to
	// the socket meanwhile.
	if err := os.Setenv(busVariable, addr); err != nil {
		conn.Close()
		return nil, err
	}
	watch, stop := context.WithCancel(ctx)
	panels := make(chan assets.Panel, 1)
	var tasks sync.WaitGroup
	tasks.Go(func() { watchHost(watch, conn, logger) })
	tasks.Go(func() { watchPanel(watch, conn, os.Getenv("XDG_CURRENT_DESKTOP"), panels) })
	return &desktop{
		lost:   conn.Context().Done(),
		panels: panels,
		close: func() {
			stop()
			tasks.Wait()
			conn.Close()
		},
	}, nil
}

// busAddress finds the session bus without starting one.
func busAddress() (string, error) {
	if addr := os.Getenv(busVariable); addr != "" && addr != "autolaunch:" {
		return addr, nil
	}
	folders := []string{os.Getenv("XDG_RUNTIME_DIR"), filepath.Join("/run/user", strconv.Itoa(os.Getuid()))}
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		socket := filepath.Join(folder, "bus")
		if info, err := os.Stat(socket); err == nil && info.Mode().Type() == fs.ModeSocket {
			return "unix:path=" + dbus.EscapeBusAddressValue(socket), nil
		}
	}
	return "", errors.New("there is no session bus")
}

func connect(ctx context.Context, addr string) (*dbus.Conn, error) {
	// Not ctx itself: the connection has to outlast it to tell a lost bus from
	// an App that ends.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	late := time.AfterFunc(busTimeout, end)
	conn, err := dbus.Connect(addr, dbus.WithContext(life))
	if err != nil {
		late.Stop()
		end()
		return nil, err
	}
	if !late.Stop() {
		conn.Close()
		return nil, errors.New("time-out")
	}
	return conn, nil
}
