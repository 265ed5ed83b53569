//go:build !linux && !darwin && !windows

package editors

// Host is the system this program was built for: its programs keep their
// settings where those of Linux do.
const Host = Linux
