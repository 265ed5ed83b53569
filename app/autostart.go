package app

import (
	"context"

	"cursortray/app/autostart"
)

// Autostart is the entry that starts the program when its user logs in.
// *autostart.Item is one. Its methods read and write the disk.
type Autostart interface {
	State() (autostart.State, error)
	Set(on bool) error
}

// AutostartStatus says whether the program starts at login, as the entry said
// when it was last looked at: other programs change it, too.
type AutostartStatus struct {
	Known bool // there is a system for that, and it has been asked
	On    bool
	// Problem says why the entry could not be read or changed; "" is none.
	Problem string
}

// readAutostart looks at the entry, which is the only truth.
func (m *machine) readAutostart() {
	m.atAutostart(func(Autostart) error { return nil }, func(*machine, AutostartStatus) {})
}

// setAutostart writes or removes the entry. Nothing is started.
func (m *machine) setAutostart(on bool) {
	m.atAutostart(func(entry Autostart) error { return entry.Set(on) }, func(m *machine, now AutostartStatus) {
		switch {
		case now.Problem != "":
			m.notify("Not changed: " + now.Problem)
		case now.On:
			m.notify("cursortray starts when you log in")
		default:
			m.notify("cursortray no longer starts when you log in")
		}
	})
}

// atAutostart does something to the entry, shows what it says since, and goes on
// with then.
func (m *machine) atAutostart(do func(Autostart) error, then func(*machine, AutostartStatus)) {
	entry := m.app.cfg.Autostart
	if entry == nil || m.quitting {
		return
	}
	m.spawn(m.work, func(context.Context) func(*machine) {
		err := do(entry)
		state, readErr := entry.State()
		if err == nil {
			err = readErr
		}
		now := AutostartStatus{Known: true, On: state.On}
		if err != nil {
			now.Problem = err.Error()
		}
		return func(m *machine) {
			if now.Problem != "" && now.Problem != m.snap.Autostart.Problem {
				m.app.cfg.Logger.Warn("start at login", "problem", now.Problem)
			}
			m.snap.Autostart = now
			then(m, now)
		}
	})
}
