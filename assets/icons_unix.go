//go:build !windows && !darwin

package assets

import "embed"

//go:embed icons/tray/*-any.png icons/tray/*-light.png icons/tray/*-dark.png
var icons embed.FS

// trayFile names a PNG of 48 pixels, which hosts scale to their panel.
func trayFile(state State, panel Panel) string { return state.String() + "-" + panel.String() + ".png" }
