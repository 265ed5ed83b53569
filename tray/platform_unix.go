//go:build !windows && !darwin

package tray

import (
	"strings"

	"fyne.io/systray"
)

// The icon can be set before the loop runs, so that no host sees an item without.
const earlyLook = true

// tellsOpening says whether the system tells that the menu was opened.
const tellsOpening = true

// escape keeps the underscores of a title: one alone marks a key.
func escape(title string) string { return strings.ReplaceAll(title, "_", "__") }

// beforeLoop names the item. The name is what panels remember it by, and it
// is taken when the loop starts.
func beforeLoop() { systray.SetTitle("cursortray") }

func setIcon(data []byte) { systray.SetIcon(data) }
