package editors

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds what is read: more is nobody's settings.
const maxFile = 4 << 20

func readFile(path string) ([]byte, error) {
	// Before it is opened: to open a pipe waits for its other end, and some
	// password managers put pipes where a program's .env is looked for.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("it is larger than anything that is edited here")
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// writeFile replaces a file in one step: whoever reads it, and whatever is on
// the disk after a crash, is the old file or the new one. The file behind a
// link is replaced, not the link: people keep their settings in a repository
// and link to them. Permissions stay; a new file is for its owner only, since
// it holds a key.
func writeFile(path string, data []byte) error {
	path, err := behindLinks(path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".cursortray-*")
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

// behindLinks follows links, also one to a file that does not exist yet.
func behindLinks(path string) (string, error) {
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

// makeFolders makes the folders above a file and returns those it made,
// outermost first.
func makeFolders(path string) ([]string, error) {
	var missing []string
	for dir := filepath.Dir(path); !exists(dir); dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	var made []string
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o700); err != nil {
			return made, err
		}
		made = append(made, missing[i])
	}
	return made, nil
}
