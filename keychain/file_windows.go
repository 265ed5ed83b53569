package keychain

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// checkFolder cannot tell who may read dir from its mode bits; see File.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: %s is not a folder", ErrUnavailable, dir)
	}
	return err
}

func openPrivate(path string) (h *os.File, err error) {
	err = patiently(func() error {
		h, err = os.Open(path)
		return err
	})
	return h, err
}

// syncFolder has nothing to do: NTFS keeps a journal of names.
func syncFolder(string) error { return nil }

// patiently repeats step for a second while another process, a virus scanner
// for one, has the file open: Windows does not rename or delete it then.
func patiently(step func() error) error {
	for end := time.Now().Add(time.Second); ; {
		err := step()
		busy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !busy || time.Now().After(end) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
