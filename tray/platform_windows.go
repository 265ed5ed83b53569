package tray

import (
	"strings"

	"fyne.io/systray"
)

// An icon is refused before the loop runs.
const earlyLook = false

// tellsOpening says whether the system tells that the menu was opened.
const tellsOpening = false

// escape keeps the ampersands of a title: one alone marks a key.
func escape(title string) string { return strings.ReplaceAll(title, "&", "&&") }

func beforeLoop() {}

func setIcon(data []byte) { systray.SetIcon(data) }
