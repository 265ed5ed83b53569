// Package tray shows the App's state as an icon and a menu in the desktop's
// tray and hands clicks back to it as actions. Menu, which decides what is
// shown, is a pure function; the rest draws it.
//
// The package is the only one that knows the tray library and the desktop. It
// keeps no state of its own beyond what it has drawn, and its troubles never
// end the App. Its goroutines belong to Run, which waits for them.
package tray

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cursortray/app"
	"cursortray/assets"
)

// Controller is what the tray shows and steers; *app.App is one.
type Controller interface {
	// Watch yields the present state, then newer ones, and closes the channel
	// when ctx ends or the App is over.
	Watch(ctx context.Context) <-chan app.Snapshot
	// Do asks for an action and returns at once.
	Do(app.Action)
}

// retryDesktop is how often a desktop that was not there is looked for.
const retryDesktop = 15 * time.Second

// Run shows the tray until ctx ends or the App is over. It must be called on
// the main goroutine, at most once in a process. Where there is no tray it
// says so once, waits for one and otherwise does nothing. When the desktop
// session ends it asks the App to quit. An error means that the tray broke;
// even then Run returns only after the App.
func Run(ctx context.Context, ctl Controller, logger *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snapshots := ctl.Watch(ctx)
	first, open := <-snapshots
	if !open {
		return nil
	}
	desk, first := awaitDesktop(ctx, ctl, snapshots, first, logger)
	if desk == nil {
		return nil
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer desk.close() // which ends hosts
	if desk.hosts != nil {
		tasks.Go(func() {
			for reason := range desk.hosts {
				ctl.Do(app.TrayMissing{Reason: reason})
			}
		})
	}
	r := newRenderer(ctl, newDriver(logger), first, logger)
	return r.show(snapshots, desk)
}

// desktop is the session that the icon lives in. Each system has its own
// openDesktop.
type desktop struct {
	lost   <-chan struct{}     // closed when the session is over; nil: it never tells
	panels <-chan assets.Panel // what the icon lies on, now and after each change; nil: not known
	hosts  <-chan string       // why nothing shows the icon, "" once something does; nil: not known
	close  func()              // ends the desktop's goroutines and waits for them
}

// awaitDesktop opens the desktop, as soon as there is one. It returns nil when
// the App is over first.
func awaitDesktop(ctx context.Context, ctl Controller, snapshots <-chan app.Snapshot, latest app.Snapshot, logger *slog.Logger) (*desktop, app.Snapshot) {
	retry := time.NewTicker(retryDesktop)
	defer retry.Stop()
	for said := false; ; {
		desk, err := openDesktop(ctx, logger)
		if err == nil {
			if said {
				ctl.Do(app.TrayMissing{})
			}
			return desk, latest
		}
		if !said {
			said = true
			logger.Warn("there is no tray, the proxy runs without an icon; `cursortray status` shows it, `cursortray quit` ends it",
				"reason", err)
			ctl.Do(app.TrayMissing{Reason: err.Error()})
		}
		for waiting := true; waiting; {
			select {
			case s, open := <-snapshots:
				if !open {
					return nil, latest
				}
				latest = s
			case <-retry.C:
				waiting = false
			}
		}
	}
}
