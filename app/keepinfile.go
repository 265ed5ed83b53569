package app

import (
	"context"

	"cursortray/proxy/chat"
)

// KeepLoginInFile moves the login and the local keys to private files, now and
// for the next start. The user has to have agreed: every program that runs as
// him can read them there. It is a method beside the Action because some callers
// wait for the result.
func (a *App) KeepLoginInFile(ctx context.Context) error {
	if a.cfg.KeepInFile == nil {
		return chat.Errorf(chat.Unavailable, "this cursortray keeps no login")
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	if err := a.cfg.KeepInFile(ctx); err != nil {
		return &chat.Error{Kind: chat.Unavailable, Err: err, Message: "the login cannot be kept in a file: " + err.Error()}
	}
	a.inbox.put(func(m *machine) {
		m.readKey()
		m.readAccount()
	})
	return nil
}

// keepLoginInFile is the same for a click. It is not an errand that a quit
// interrupts.
func (m *machine) keepLoginInFile() {
	if m.app.cfg.KeepInFile == nil || m.quitting {
		return
	}
	m.spawn(context.WithoutCancel(m.life), func(ctx context.Context) func(*machine) {
		err := m.app.KeepLoginInFile(ctx)
		return func(m *machine) {
			if err != nil {
				m.app.cfg.Logger.Warn("no move to a file", "error", err)
				m.notify(chat.AsError(err).Message)
				return
			}
			m.app.cfg.Logger.Info("secrets are kept in private files now")
			m.notify("Logins are kept in a private file from now on")
		}
	})
}
