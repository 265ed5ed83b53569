//go:build unix

package agentcli

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// claim holds the folder for this program until the result is closed.
func claim(dir string) (io.Closer, error) {
	// Under its name the file is never seen without its lock.
	f, err := os.CreateTemp(dir, ownerFile+"-") // no child inherits it
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, ownerFile))
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

func ownerOf(dir string) owner {
	f, err := os.OpenFile(filepath.Join(dir, ownerFile), os.O_RDWR, 0)
	if err != nil {
		return ownerUnknown
	}
	defer f.Close()
	switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) {
	case nil:
		return ownerGone
	case syscall.EWOULDBLOCK:
		return ownerLives
	}
	return ownerUnknown
}
