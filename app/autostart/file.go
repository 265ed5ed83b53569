package autostart

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cursortray/app/atomicfile"
)

// file is an entry that is a file.
type file struct {
	path   string
	format format
}

// format is what a file holds.
type format interface {
	// parse returns whether the entry is on, and the command that it starts.
	parse(text []byte) (on bool, command []string, err error)
	// encode returns an entry that is on.
	encode(command []string) ([]byte, error)
	// move returns the entry with another command.
	move(text []byte, command []string) ([]byte, error)
}

// maxEntry is far above the size of an entry.
const maxEntry = 1 << 20

func (f file) where() string { return f.path }

func (f file) load() ([]byte, error) {
	opened, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, atomicfile.Cause(err)
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, maxEntry))
	return text, atomicfile.Cause(err)
}

func (f file) read() (State, error) {
	text, err := f.load()
	if err != nil {
		return State{}, err
	}
	on, command, err := f.format.parse(text)
	if err != nil || len(command) == 0 {
		return State{}, err
	}
	return State{On: on, Program: command[0]}, nil
}

func (f file) write(command []string) error {
	text, err := f.format.encode(command)
	if err != nil {
		return err
	}
	return f.save(text)
}

func (f file) move(command []string) error {
	text, err := f.load()
	if err == nil {
		text, err = f.format.move(text, command)
	}
	if err != nil {
		return err
	}
	return f.save(text)
}

func (f file) remove() error {
	err := os.Remove(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return atomicfile.Cause(err)
}

// save replaces the file in one step: a login in this moment finds the old
// entry or the new one.
func (f file) save(text []byte) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return atomicfile.Cause(err)
	}
	return atomicfile.Cause(atomicfile.Replace(f.path, text, 0o644)) // what session managers expect
}
