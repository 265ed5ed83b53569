//go:build !windows

package editorsetup

import (
	"os"
	"path/filepath"
)

// exposed tells whether other users of the computer can read a file: it is open
// to them, and so are all folders above it.
func exposed(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	return err == nil && exposedBelow("", path)
}

// exposedBelow leaves the folder top and those above it aside; "" is none.
func exposedBelow(top, path string) bool {
	if !allows(path, 0o004) {
		return false
	}
	for dir := filepath.Dir(path); dir != top; dir = filepath.Dir(dir) {
		if !allows(dir, 0o001) {
			return false
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return true
}

func allows(path string, bits os.FileMode) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&bits != 0
}
