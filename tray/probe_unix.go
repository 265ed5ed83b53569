//go:build !windows && !darwin

package tray

import (
	"context"
	"errors"
	"fmt"

	"cursortray/app/sessionbus"
)

// Probe says what keeps an icon from showing on this desktop; nil when nothing
// does. It starts nothing that stays.
func Probe(ctx context.Context) error {
	addr, err := sessionbus.Address()
	if err != nil {
		return err
	}
	conn, err := sessionbus.Connect(ctx, addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, sessionbus.Timeout)
	defer cancel()
	var here bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcherName).Store(&here); err != nil {
		return fmt.Errorf("the session bus does not answer: %w", err)
	}
	if !here {
		return errors.New(noHost)
	}
	return nil
}
