// Package atomicfile replaces files in one step, and says why one could not be.
// It reads none and makes no folders; it starts no goroutine.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes data to the file at path and gives it the permissions mode:
// whoever reads it, and whatever is on the disk after a crash, is the old file
// or the new one. The file behind a link is replaced, not the link: people keep
// their settings in a repository and link to them.
func Replace(path string, data []byte, mode fs.FileMode) error {
	path, err := Target(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".cursortray-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// Target follows links, also one to a file that does not exist yet.
func Target(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// Not Join: the folder may be a link itself, and then ".." is not
			// what it looks like.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", errors.New("too many links")
}

// Cause returns why a file could not be read or written, without the path,
// which who tells it names anyway.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
