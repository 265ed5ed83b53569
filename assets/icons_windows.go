package assets

import "embed"

//go:embed icons/tray/*.ico
var icons embed.FS

// trayFile names an icon file of all sizes that Windows asks for. An unknown
// taskbar is a dark one, which is what Windows 10 and 11 come with.
func trayFile(state State, panel Panel) string {
	if panel == AnyPanel {
		panel = DarkPanel
	}
	return state.String() + "-" + panel.String() + ".ico"
}
