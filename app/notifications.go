package app

import (
	"slices"
	"strings"

	"cursortray/app/config"
)

// noNotifications stands in the setting for no kind at all.
const noNotifications = "none"

// Notifies says whether notifications of any kind are shown.
func (s Snapshot) Notifies() bool { return notifies(s.Notifications) }

func notifies(kinds string) bool { return kinds != "" && kinds != noNotifications }

// setNotifications brings back the kinds that were shown before, so that
// off and on again lose no choice.
func (m *machine) setNotifications(on bool) {
	if on == m.snap.Notifies() {
		return
	}
	kinds := noNotifications
	if on {
		if kinds = m.notified; !notifies(kinds) {
			kinds = strings.Join(config.NotificationKinds(), ",")
		}
	}
	m.showNotifications(kinds)
}

// chooseNotifications takes the kinds that there are; off and on again brings
// those back.
func (m *machine) chooseNotifications(wanted string) {
	var kinds []string
	for _, kind := range config.NotificationKinds() {
		if slices.Contains(strings.Split(wanted, ","), kind) {
			kinds = append(kinds, kind)
		}
	}
	chosen := noNotifications
	if len(kinds) > 0 {
		chosen = strings.Join(kinds, ",")
		m.notified = chosen
	}
	m.showNotifications(chosen)
}

func (m *machine) showNotifications(kinds string) {
	m.snap.Notifications = kinds
	m.save("notifications", kinds, "It holds until cursortray ends: it was not saved")
}
