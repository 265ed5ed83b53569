//go:build !windows && !darwin

package sessionbus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

// Variable is the environment variable with the address of the bus.
const Variable = "DBUS_SESSION_BUS_ADDRESS"

// Timeout bounds what is asked of the bus.
const Timeout = 5 * time.Second

// Address finds the session bus without starting one.
func Address() (string, error) {
	if addr := os.Getenv(Variable); addr != "" && addr != "autolaunch:" {
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

// Connect returns a connection of the caller's own, which it closes. It outlasts
// ctx, so that a lost bus can be told from an end: conn.Context ends with the
// connection.
func Connect(ctx context.Context, addr string) (*dbus.Conn, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	late := time.AfterFunc(Timeout, end)
	conn, err := dbus.Connect(addr, dbus.WithContext(life))
	if err != nil {
		late.Stop()
		end()
		return nil, fmt.Errorf("the session bus does not answer: %w", err)
	}
	if !late.Stop() {
		conn.Close()
		return nil, errors.New("the session bus does not answer: time-out")
	}
	return conn, nil
}
