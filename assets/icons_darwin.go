package assets

import "embed"

//go:embed icons/tray/*-template.png
var icons embed.FS

// trayFile names a template picture, which macOS colours for its menu bar; 32
// pixels for the 16 points of a Retina display.
func trayFile(state State, _ Panel) string { return state.String() + "-template.png" }
