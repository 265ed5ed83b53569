package app

import (
	"context"
	"time"
)

// openTimeout is how long a program that opens a browser may take to say that
// it could not. Some stay until the browser is closed.
const openTimeout = 30 * time.Second

// show opens a page or a file beside all else, and calls failed if that did not
// work.
func (m *machine) show(open func(context.Context, string) error, target string, failed func(*machine, error)) {
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		err := open(ctx, target)
		if err == nil || ctx.Err() != nil { // a program that stays is a browser or an editor
			return func(*machine) {}
		}
		return func(m *machine) { failed(m, err) }
	})
}
