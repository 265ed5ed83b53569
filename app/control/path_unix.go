//go:build unix

package control

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// shortDir is not os.TempDir: that follows TMPDIR, which may be long, and
// which two shells of one user may set differently.
func shortDir() string { return "/tmp" }

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// nobodyThere recognizes a socket file without a process, and a process that
// went away during the call.
func nobodyThere(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ENOTDIR, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
