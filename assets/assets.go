// Package assets holds the files that are part of the program: the pictures
// that it shows, in the form that the operating system's tray takes, drawn by
// the program in assets/draw, and the table of prices. The package does nothing
// but hand them out.
package assets

import "path"

//go:generate go run ./draw icons

// State is what a tray icon tells.
type State int

const (
	Running State = iota // solid
	Stopped              // hollow
	Busy                 // with a dot: something is under way
	Problem              // with an exclamation mark: something needs the user
	Offline              // dim and crossed out: it works, but Cursor does not answer
)

var stateNames = [...]string{"running", "stopped", "busy", "problem", "offline"}

func (s State) String() string { return stateNames[s] }

// Panel is what a tray icon lies on.
type Panel int

const (
	AnyPanel   Panel = iota // not known: middle tones that show on light and dark
	LightPanel              // dark ink
	DarkPanel               // light ink
)

var panelNames = [...]string{"any", "light", "dark"}

func (p Panel) String() string { return panelNames[p] }

// TrayIcon returns the icon for a state on a panel, as this system's tray
// takes it. The bytes must not be changed.
func TrayIcon(state State, panel Panel) []byte {
	data, err := icons.ReadFile(path.Join("icons/tray", trayFile(state, panel)))
	if err != nil {
		panic("assets: " + err.Error()) // a test reads every one
	}
	return data
}
