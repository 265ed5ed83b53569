// Package sessionbus finds the desktop's session bus and connects to it, for
// those who speak over it: the tray and the notifications. It never starts a
// bus, which the library does when it is asked for one that is not there, and
// which would outlive the program. It has no goroutines; those of a connection
// end with it.
package sessionbus
