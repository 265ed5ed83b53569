package app

import "context"

// Preferences are the settings that every face shows and can change.
type Preferences struct {
	Known      bool // false: there is no settings file
	StartProxy bool // the proxy starts with the program
}

func (m *machine) setStartProxy(on bool) {
	if !m.snap.Preferences.Known || on == m.snap.Preferences.StartProxy {
		return
	}
	m.snap.Preferences.StartProxy = on
	m.save("start_proxy", on, "The next start does it, but not those after: it was not saved")
}

// save stores a setting for the next start. What cannot be stored is said with
// the words of failed.
func (m *machine) save(key string, value any, failed string) {
	store := m.app.cfg.SaveSetting
	if store == nil {
		m.notify(failed)
		return
	}
	m.spawnSave(func() error { return store(key, value) }, func(err error) func(*machine) {
		return func(m *machine) {
			if err != nil {
				m.app.cfg.Logger.Warn("a setting could not be saved", "key", key, "error", err)
				m.notify(failed)
			}
		}
	})
}

// spawnSave is spawn for what is stored: one after another, so that the last
// choice is the one that stays.
func (m *machine) spawnSave(save func() error, then func(err error) func(*machine)) {
	before, over := m.saving, make(chan struct{})
	m.saving = over
	m.spawn(m.life, func(context.Context) func(*machine) {
		defer close(over)
		if before != nil {
			<-before
		}
		return then(save())
	})
}

func (m *machine) openSettingsFile() {
	cfg := &m.app.cfg
	if cfg.SettingsFile != "" && !m.quitting {
		m.showFile(cfg.OpenFile, cfg.SettingsFile, "The settings were not opened; they are in "+cfg.SettingsFile)
	}
}
