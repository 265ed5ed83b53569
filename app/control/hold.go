package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrHeld says that another process is the running instance.
var ErrHeld = errors.New("another instance is running")

// Holder is this process's claim to be the running instance. The claim ends
// with Close or with the process, however it ends.
type Holder struct {
	lock *flock.Flock
	ln   net.Listener
}

// Hold claims the folder dir, which is made with permissions for the user
// alone. It returns ErrHeld if another process has it. A socket that a killed
// process left behind is replaced.
func Hold(dir string) (*Holder, error) {
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if !held {
		return nil, ErrHeld
	}
	ln, err := listen(dir)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Holder{lock: lock, ln: ln}, nil
}

// listen opens the socket. Only the holder of the lock does, so whatever has
// the name already is dead.
func listen(dir string) (net.Listener, error) {
	path := socketPath(dir)
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace the old control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("protect the control socket: %w", err)
	}
	return ln, nil
}

// Close gives the claim up; the socket goes first, so that nobody finds the
// socket of an instance that no longer holds the lock. Further calls do
// nothing.
func (h *Holder) Close() error {
	err := h.ln.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, h.lock.Close())
}
