//go:build unix && !darwin

package main

// hasScreen tells whether a browser would have a place to be seen.
func (p *process) hasScreen() bool {
	return p.env("DISPLAY") != "" || p.env("WAYLAND_DISPLAY") != ""
}
