//go:build !linux && !darwin && !windows

package app

import (
	"context"
	"errors"
	"syscall"
)

func addrInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// portOwner does not know these systems.
func portOwner(context.Context, uint16) string { return "" }
