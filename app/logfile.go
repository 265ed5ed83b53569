package app

import (
	"context"
	"errors"
)

// openLogFile shows the log in the program that the desktop has for text.
func (m *machine) openLogFile() {
	path, open := m.app.cfg.LogFile, m.app.cfg.OpenFile
	if m.quitting {
		return
	}
	if path == "" {
		m.notify("There is no log file: the log goes to standard error")
		return
	}
	m.showFile(open, path, "The log was not opened; it is "+path)
}

// showFile opens a file, and says failed when that cannot be done.
func (m *machine) showFile(open func(context.Context, string) error, path, failed string) {
	if open == nil {
		open = func(context.Context, string) error { return errors.New("there is no desktop") }
	}
	m.show(open, path, func(m *machine, err error) {
		m.app.cfg.Logger.Warn("a file could not be opened", "path", path, "error", err)
		m.notify(failed)
	})
}
