//go:build unix

package keychain

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkFolder refuses a folder that others could look into.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a folder", ErrUnavailable, dir)
	}
	return checkOwner(dir, info, "700")
}

// openPrivate opens a regular file that only its owner can read. It looks at
// the open file, so nobody can swap it in between.
func openPrivate(path string) (*os.File, error) {
	h, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := h.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is not a plain file", ErrUnavailable, path)
	}
	if err == nil {
		err = checkOwner(path, info, "600")
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

func checkOwner(path string, info fs.FileInfo, want string) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%w: other users can get at %s (mode %04o), so it is not used; run chmod %s on it, "+
			"and replace the secrets in it if others may have read them", ErrUnavailable, path, mode, want)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to another user (uid %d), so it is not used", ErrUnavailable, path, stat.Uid)
	}
	return nil
}

// syncFolder makes a change of names in dir last.
func syncFolder(dir string) error {
	h, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Sync()
}

// patiently just runs step: an open file does not keep Unix from renaming.
func patiently(step func() error) error { return step() }
