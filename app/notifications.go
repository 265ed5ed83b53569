package app

import (
	"strings"

	"cursortray/app/config"
)

// noNotifications stands in the setting for no kind at all.
const noNotifications = "none"

// Notifies says whether notifications of any kind are shown.
func (s Snapshot) Notifies() bool { return notifies(s.Notifications) }

func notifies(kinds string) bool { return kinds != "" && kinds != noNotifications }

// setNotifications brings back the kinds that were shown at the start, so that
// off and on again lose no choice.
func (m *machine) setNotifications(on bool) {
	if on == m.snap.Notifies() {
		return
	}
	kinds := noNotifications
	if on {
		if kinds = m.app.cfg.Notifications; !notifies(kinds) {
			kinds = strings.Join(config.NotificationKinds(), ",")
		}
	}
	m.snap.Notifications = kinds
	m.save("notifications", kinds, "It holds until cursortray ends: it was not saved")
}
