package editors

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cursortray/app/atomicfile"
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

// writeFile replaces a file in one step. Permissions stay; a new file is for its
// owner only, since it holds a key.
func writeFile(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return atomicfile.Replace(path, data, mode)
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
