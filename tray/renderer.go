package tray

import (
	"log/slog"
	"sync"
	"time"

	"cursortray/app"
	"cursortray/assets"
)

// driver is the tray library behind the few calls that are used of it. All
// but loop are called from one goroutine at a time.
type driver interface {
	// loop shows the tray and blocks until quit. It calls ready once, on some
	// goroutine, when rows can be built, and gone when the tray goes, by quit
	// or because the system ends the session; gone may be called again.
	loop(ready, gone func()) error
	// build makes the rows, once. Click is called with the key of a row that
	// was chosen, from any goroutine, and returns at once.
	// Opened is called when the menu was opened, by systems that tell.
	build(items []Item, click func(key string), opened func())
	apply(changes []change)
	setLook(look)
	quit()
}

// look is the icon and its text.
type look struct {
	state   assets.State
	panel   assets.Panel
	tooltip string
}

// pause is the least time between two redrawings. Thousands of updates a
// second starve a panel.
const pause = 250 * time.Millisecond

// burst is how many rows are changed at a time. A list of models that fills
// two hundred rows comes in several bursts, and the menu stays alive.
const burst = 40

// openGuess is how often the menu may have been opened, where the system does
// not tell.
const openGuess = 10 * time.Minute

// sessionEnd is how long a system that ends the session lets us tidy up.
const sessionEnd = 5 * time.Second

// renderer makes the tray show the latest snapshot.
type renderer struct {
	ctl    Controller
	driver driver
	log    *slog.Logger

	latest app.Snapshot // not yet drawn, perhaps
	panel  assets.Panel
	drawn  look
	items  []Item // as drawn

	ready   chan struct{}
	leaving chan struct{} // closed when the App is over, before the tray is told to quit
	over    chan struct{} // closed when the tray is gone

	mu    sync.Mutex
	shown map[string]Item // as drawn, for clicks
}

func newRenderer(ctl Controller, d driver, first app.Snapshot, logger *slog.Logger) *renderer {
	return &renderer{
		ctl: ctl, driver: d, log: logger, latest: first,
		ready: make(chan struct{}), leaving: make(chan struct{}), over: make(chan struct{}),
	}
}

// show runs the tray until the App is over.
func (r *renderer) show(snapshots <-chan app.Snapshot, desk *desktop) error {
	select {
	case r.panel = <-desk.panels:
	default:
	}
	// Some hosts ask for the icon before ready has run.
	r.drawn = r.look()
	r.driver.setLook(r.drawn)

	var follow sync.WaitGroup
	follow.Go(func() {
		r.follow(snapshots, desk)
		close(r.leaving)
		r.awaitReady() // Windows has nothing to send a quit to before
		r.driver.quit()
	})
	err := r.driver.loop(r.build, r.gone)
	close(r.over)
	if err != nil {
		r.log.Error("the tray icon is gone, the proxy stays", "error", err)
	}
	follow.Wait()
	return err
}

func (r *renderer) build() {
	r.items = Menu(r.latest)
	r.remember()
	r.driver.build(r.items, r.click, func() { r.ctl.Do(app.MenuOpened{}) })
	r.driver.setLook(r.drawn)
	close(r.ready)
}

// follow redraws until the snapshots end.
func (r *renderer) follow(snapshots <-chan app.Snapshot, desk *desktop) {
	pacer := time.NewTimer(0)
	defer pacer.Stop()
	perhapsOpen := time.NewTicker(openGuess)
	defer perhapsOpen.Stop()
	if tellsOpening {
		perhapsOpen.Stop()
	}
	ready, paused := r.ready, true
	fresh := r.latest
	for {
		select {
		case s, open := <-snapshots:
			if !open {
				return
			}
			fresh = s
		case r.panel = <-desk.panels:
		case <-pacer.C:
			paused = false
		case <-ready:
			ready = nil
		case <-perhapsOpen.C:
			r.ctl.Do(app.MenuOpened{})
			continue
		case <-desk.lost:
			r.log.Info("the desktop session has ended; quitting")
			r.ctl.Do(app.Quit{})
			for range snapshots { // there is nothing left to draw on
			}
			return
		}
		if ready != nil || paused {
			continue // until ready, build reads what is latest
		}
		if r.latest = fresh; r.draw() {
			paused = true
			pacer.Reset(pause)
		}
	}
}

func (r *renderer) awaitReady() {
	limit := time.NewTimer(sessionEnd)
	defer limit.Stop()
	select {
	case <-r.ready:
	case <-r.over:
	case <-limit.C:
	}
}

// draw changes what differs from the latest snapshot, a burst of it, and
// reports whether anything did.
func (r *renderer) draw() bool {
	items := Menu(r.latest)
	changes := diff(r.items, items)
	if len(changes) > burst {
		changes = changes[:burst]
		items = patched(r.items, changes)
	}
	r.items = items
	if len(changes) > 0 {
		r.remember()
		r.driver.apply(changes)
	}
	l := r.look()
	if l == r.drawn {
		return len(changes) > 0
	}
	r.drawn = l
	r.driver.setLook(l)
	return true
}

func (r *renderer) look() look {
	return look{state: icon(r.latest), panel: r.panel, tooltip: tooltip(r.latest)}
}

func (r *renderer) remember() {
	shown := make(map[string]Item)
	each(r.items, func(item Item) { shown[item.Key] = item })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = shown
}

// click does what the row stood for when it was chosen, which is what was
// drawn last.
func (r *renderer) click(key string) {
	r.mu.Lock()
	item := r.shown[key]
	r.mu.Unlock()
	if item.Enabled && !item.Hidden && item.Action != nil {
		r.ctl.Do(item.Action)
	}
}

// gone is the end of the tray. If the App is not over, the system is ending
// the session: the App gets the time that there is.
func (r *renderer) gone() {
	select {
	case <-r.leaving:
		return
	default:
	}
	r.ctl.Do(app.Quit{})
	limit := time.NewTimer(sessionEnd)
	defer limit.Stop()
	select {
	case <-r.leaving:
	case <-limit.C:
	}
}
