//go:build cgo

package tray

import "fyne.io/systray"

// There is no status item before the loop runs.
const earlyLook = false

// tellsOpening says whether the system tells that the menu was opened.
const tellsOpening = true

// escape has nothing to do: no character marks a key on macOS.
func escape(title string) string { return title }

func beforeLoop() {}

// setIcon gives a template, which macOS colours itself. No title is set here:
// it would be written beside the icon.
func setIcon(data []byte) { systray.SetTemplateIcon(data, data) }
