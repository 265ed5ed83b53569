package control

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func shortDir() string { return os.TempDir() }

// ownedByUs: the folders of the user's profile are protected by its access
// list.
func ownedByUs(fs.FileInfo) bool { return true }

// nobodyThere recognizes a socket file without a process, and a process that
// went away during the call.
func nobodyThere(err error) bool {
	for _, errno := range []error{windows.WSAECONNREFUSED, windows.WSAECONNRESET, windows.WSAECONNABORTED} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
