//go:build cgo

package tray

import (
	"context"
	"log/slog"
)

// openDesktop has nothing to look for: the menu bar is there, and it colours
// template icons by itself.
func openDesktop(context.Context, *slog.Logger) (*desktop, error) {
	return &desktop{close: func() {}}, nil
}
