package tray

import "cursortray/app"

// settingsMenu has the few settings that are changed often. The others are on
// the dashboard and in the file.
func settingsMenu(s app.Snapshot) Item {
	p, start := s.Preferences, s.Autostart
	title := setAutostart
	if start.Problem != "" {
		title = setAutostartNot
	}
	record := check("set.record", setRecord, s.Recording.Waiting, app.RecordNext{})
	if s.Recording.Waiting {
		record.Title, record.Action = setRecording, app.CancelRecord{}
	}
	return submenu("settings", menuSettings,
		enabledIf(start.Known, check("set.autostart", title, start.On, app.SetAutostart{On: !start.On})),
		enabledIf(p.Known, check("set.launch", setLaunch, p.StartProxy, app.SetStartProxy{On: !p.StartProxy})),
		check("set.notify", setNotify, s.Notifies(), app.SetNotifications{On: !s.Notifies()}),
		record,
		enabledIf(s.LogFile != "", choice("set.log", openLog, app.OpenLogFile{})),
		enabledIf(p.Known, choice("set.file", openSettings, app.OpenSettingsFile{})))
}

// check is a choice with a box.
func check(key, title string, on bool, action app.Action) Item {
	item := choice(key, title, action)
	item.Checkable, item.Checked = true, on
	return item
}
