// Package notify tells the user by notifications of the desktop what needs him:
// a login, a port, a limit. What is told is a pure function of two Snapshots;
// the rest sees to it that each cause is told once, and not too many in a row,
// and that a click leads to the fix.
//
// A desktop without notifications is no problem worth a word. All goroutines
// belong to Run, which waits for them.
package notify

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cursortray/app"
)

// Controller is what is watched and steered; *app.App is one.
type Controller interface {
	// Watch yields the present state, then newer ones, and closes the channel
	// when ctx ends or the App is over.
	Watch(ctx context.Context) <-chan app.Snapshot
	// Do asks for an action and returns at once.
	Do(app.Action)
}

// desktop shows notifications. Each system has its own newDesktop.
type desktop interface {
	// show shows a note in place of the last one of its kind. It may take a
	// while. An error says that there is nobody to show it.
	show(ctx context.Context, n Note) error
	// clicks has an element for each click on a note; nil where clicks are not
	// told.
	clicks() <-chan app.Action
	// close ends what show has begun, and waits for it.
	close()
}

// At most maxNotes notes are shown within the span; what is more can be seen in
// the menu.
const (
	maxNotes = 4
	span     = 10 * time.Minute
)

// Run shows notifications until ctx ends or the App is over.
func Run(ctx context.Context, ctl Controller, logger *slog.Logger) {
	run(ctx, ctl, newDesktop(), logger)
}

func run(ctx context.Context, ctl Controller, desk desktop, logger *slog.Logger) {
	defer desk.close()
	t := teller{told: map[Kind]string{}, now: time.Now}
	var was app.Snapshot
	snapshots := ctl.Watch(ctx)
	for {
		select {
		case is, open := <-snapshots:
			if !open {
				return
			}
			for _, n := range t.sift(was, is) {
				if err := desk.show(ctx, n); err != nil && ctx.Err() == nil {
					logger.Debug("a notification was not shown", "kind", n.Kind, "reason", err)
				}
			}
			was = is
		case action := <-desk.clicks():
			ctl.Do(action)
		}
	}
}

// teller remembers what was told.
type teller struct {
	told  map[Kind]string // the cause that was told last, while it lasts
	shown []time.Time     // when, within the span
	now   func() time.Time
}

// sift returns what is to be shown now.
func (t *teller) sift(was, is app.Snapshot) []Note {
	for kind := range t.told {
		if passed(kind, is) {
			delete(t.told, kind)
		}
	}
	var notes []Note
	for _, n := range Decide(was, is) {
		if t.told[n.Kind] == n.Cause {
			continue
		}
		t.told[n.Kind] = n.Cause
		if !wanted(is.Notifications, n.Kind) || !t.room() {
			continue
		}
		notes = append(notes, n)
	}
	return notes
}

func (t *teller) room() bool {
	now := t.now()
	t.shown = slices.DeleteFunc(t.shown, func(at time.Time) bool { return now.Sub(at) >= span })
	if len(t.shown) >= maxNotes {
		return false
	}
	t.shown = append(t.shown, now)
	return true
}

// wanted looks a kind up in the setting, which lists them.
func wanted(setting string, kind Kind) bool {
	return slices.Contains(strings.Split(setting, ","), string(kind))
}
