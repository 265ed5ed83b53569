package app

// setNotifications says which kinds of notifications are shown from now on.
func (m *machine) setNotifications(kinds string) {
	if kinds == m.snap.Notifications {
		return
	}
	m.snap.Notifications = kinds
	m.save("notifications", kinds, "It holds until cursortray ends: it was not saved")
}
