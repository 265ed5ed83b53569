package app

import "cursortray/proxy/choice"

// Chooser decides between the ways of a back-end. *choice.Backend is one. Its
// methods may be called at the same time.
type Chooser interface {
	// Now tells which way new conversations get. It does not wait.
	Now() choice.Choice
	// Fix makes new conversations use the way of that setting.
	Fix(setting string)
}

func backendStatus(cfg Config) BackendStatus {
	if cfg.Chooser == nil {
		return BackendStatus{Fixed: true}
	}
	now := cfg.Chooser.Now()
	return BackendStatus{ID: now.ID, Name: now.Name, Choice: now.Setting, Reason: now.Reason, Fixed: cfg.SaveBackend == nil}
}

// showChoice shows which way is chosen; requests and checks choose.
func (m *machine) showChoice() {
	if m.app.cfg.Chooser == nil {
		return
	}
	now, shown := m.app.cfg.Chooser.Now(), &m.snap.Backend
	if shown.Name != now.Name && shown.Reason != "" && now.Reason != "" {
		m.app.cfg.Logger.Info("new conversations use another back-end", "name", now.Name, "reason", now.Reason)
	}
	shown.ID, shown.Name, shown.Choice, shown.Reason = now.ID, now.Name, now.Setting, now.Reason
}

// chooseBackend fixes the way of new conversations, now and after the next
// start.
func (m *machine) chooseBackend(setting string) {
	cfg := m.app.cfg
	if cfg.Chooser == nil || cfg.SaveBackend == nil || m.quitting || setting == m.snap.Backend.Choice {
		return
	}
	cfg.Chooser.Fix(setting)
	m.health.failed = nil // it was the other one's
	m.check()
	m.notify("New conversations use the chosen back-end")
	m.spawnSave(func() error { return cfg.SaveBackend(setting) }, func(err error) func(*machine) {
		return func(m *machine) {
			if err != nil {
				cfg.Logger.Warn("the choice of the back-end could not be saved", "error", err)
				m.notify("The choice holds until cursortray ends: it was not saved")
			}
		}
	})
}
