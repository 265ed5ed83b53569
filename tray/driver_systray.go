//go:build cgo || !darwin

package tray

import (
	"bytes"
	"fmt"
	"log"
	"log/slog"
	"sync"

	"fyne.io/systray"

	"cursortray/assets"
)

// library drives fyne.io/systray.
type library struct {
	log   *slog.Logger
	rows  map[string]*systray.MenuItem
	over  chan struct{} // closed when the tray is gone
	taps  sync.WaitGroup
	click func(key string)
	built bool
}

func newDriver(logger *slog.Logger) driver {
	return &library{log: logger, rows: make(map[string]*systray.MenuItem), over: make(chan struct{})}
}

func (l *library) loop(ready, gone func()) error {
	// The library talks to the standard logger alone, for each thing that we
	// have said in words of our own.
	old := log.Writer()
	log.SetOutput(debugLines{l.log})
	defer log.SetOutput(old)
	defer func() {
		close(l.over)
		l.taps.Wait()
	}()
	return contain(func() {
		beforeLoop()
		systray.Run(ready, gone)
	})
}

// contain turns a panic of the library into an error. Version 1.12.2 panics
// when it sets an icon on a bus that is gone, and at its end when the bus went
// away between our look at it and its own.
func contain(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tray library panicked: %v", p)
		}
	}()
	f()
	return nil
}

func (l *library) try(f func()) {
	if err := contain(f); err != nil {
		l.log.Debug("the tray is not up to date", "error", err)
	}
}

func (l *library) build(items []Item, click func(key string), opened func()) {
	l.click, l.built = click, true
	l.taps.Go(func() { l.watchOpening(opened) })
	for _, item := range items {
		switch {
		case item.Separator:
			systray.AddSeparator()
		case item.Checkable:
			l.add(item, systray.AddMenuItemCheckbox(escape(item.Title), "", item.Checked))
		default:
			l.add(item, systray.AddMenuItem(escape(item.Title), ""))
		}
	}
}

func (l *library) add(item Item, row *systray.MenuItem) {
	l.rows[item.Key] = row
	if !item.Enabled {
		row.Disable()
	}
	l.taps.Go(func() { l.forward(item.Key, row) })
	for _, sub := range item.Items {
		switch {
		case sub.Separator:
			row.AddSeparator()
		case sub.Checkable:
			l.add(sub, row.AddSubMenuItemCheckbox(escape(sub.Title), "", sub.Checked))
		default:
			l.add(sub, row.AddSubMenuItem(escape(sub.Title), ""))
		}
	}
	if item.Hidden { // last, because on Windows any update shows a row
		row.Hide()
	}
}

// forward is all that a row's goroutine does: the library drops a click that
// nobody is waiting for.
func (l *library) forward(key string, row *systray.MenuItem) {
	for {
		select {
		case _, open := <-row.ClickedCh:
			if !open {
				return
			}
			l.click(key)
		case <-l.over:
			return
		}
	}
}

// watchOpening forwards that the menu was opened.
func (l *library) watchOpening(opened func()) {
	for {
		select {
		case <-systray.TrayOpenedCh:
			opened()
		case <-l.over:
			return
		}
	}
}

func (l *library) apply(changes []change) {
	for _, c := range changes {
		row := l.rows[c.item.Key]
		if row == nil {
			continue // a separator
		}
		l.try(func() { c.to(row) })
	}
}

func (c change) to(row *systray.MenuItem) {
	if c.title {
		row.SetTitle(escape(c.item.Title))
	}
	if c.enabled {
		set(c.item.Enabled, row.Enable, row.Disable)
	}
	if c.checked {
		set(c.item.Checked, row.Check, row.Uncheck)
	}
	if c.hidden {
		set(c.item.Hidden, row.Hide, row.Show)
	}
}

func set(on bool, yes, no func()) {
	if on {
		yes()
	} else {
		no()
	}
}

func (l *library) setLook(k look) {
	if !l.built && !earlyLook {
		return
	}
	l.try(func() {
		setIcon(assets.TrayIcon(k.state, k.panel))
		systray.SetTooltip(k.tooltip)
	})
}

func (l *library) quit() { systray.Quit() }

// debugLines takes the standard logger's lines to ours.
type debugLines struct{ log *slog.Logger }

func (d debugLines) Write(line []byte) (int, error) {
	d.log.Debug("tray library", "line", string(bytes.TrimSpace(line)))
	return len(line), nil
}
