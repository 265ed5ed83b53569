//go:build darwin && !cgo

package tray

import (
	"context"
	"errors"
	"log/slog"
)

// Without cgo there is no way to the menu bar: such a build is for checks and
// for use without a desktop.

func openDesktop(context.Context, *slog.Logger) (*desktop, error) {
	return nil, errors.New("this program was built without a tray (it needs cgo on macOS)")
}

type none struct{}

// tellsOpening says whether the system tells that the menu was opened.
const tellsOpening = true

func newDriver(*slog.Logger) driver { return none{} }

func (none) loop(_, _ func()) error             { return nil }
func (none) build([]Item, func(string), func()) {}
func (none) apply([]change)                     {}
func (none) setLook(look)                       {}
func (none) quit()                              {}
