// Package logfile is the file that the log is written to, and reading it: a file
// of bounded size with a few older ones beside it, for its user alone. It knows
// nothing of what a line says; masking secrets is done before.
//
// It has no goroutines.
package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
)

// Limits of what is kept.
const (
	DefaultSize = 1 << 20 // of one file
	DefaultKeep = 3       // older files
)

// File is a log that is being written. One process at a time may write a log.
// Its methods may be called at the same time.
type File struct {
	path string
	size int64
	keep int

	mu      sync.Mutex
	file    *os.File // nil: closed, or it could not be opened again
	closed  bool
	written int64
	crashes bool
}

// Open opens the log at path for appending and makes the folder if need be. A
// file that has grown to size is put aside, and keep of those stay.
func Open(path string, size int64, keep int) (*File, error) {
	f := &File{path: path, size: size, keep: keep}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w", err)
	}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.written = file, info.Size()
	if f.crashes {
		// Where a crash cannot be caught it still goes to standard error.
		_ = debug.SetCrashOutput(file, debug.CrashOptions{})
	}
	return nil
}

// Path returns where the log lies.
func (f *File) Path() string { return f.path }

// CatchCrashes makes the runtime write what it says of a crash into the log,
// too: a program without a terminal leaves no trace of it otherwise. That is a
// matter of the whole process, so only main does it.
func (f *File) CatchCrashes() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return fs.ErrClosed
	}
	f.crashes = true
	return debug.SetCrashOutput(f.file, debug.CrashOptions{})
}

// Write appends lines, which stay together.
func (f *File) Write(lines []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if err := f.follow(); err != nil {
		return 0, err
	}
	if f.written > 0 && f.written+int64(len(lines)) > f.size {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(lines)
	f.written += int64(n)
	return n, err
}

// follow opens the log again if somebody has moved or removed it, or if that
// could not be done before.
func (f *File) follow() error {
	if f.file != nil {
		there, err := os.Stat(f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if mine, mineErr := f.file.Stat(); err == nil && mineErr == nil && os.SameFile(there, mine) {
			return nil
		}
		f.file.Close()
		f.file = nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the log: %w", err)
	}
	return f.open()
}

// rotate puts the file aside. One that cannot be renamed, as happens on Windows
// while another program looks at it, is emptied: the log is bounded whatever
// comes.
func (f *File) rotate() error {
	f.file.Close()
	f.file = nil
	for n := f.keep; n > 0; n-- {
		err := os.Rename(older(f.path, n-1), older(f.path, n))
		if n == 1 && err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := os.Truncate(f.path, 0); err != nil {
				return err
			}
		}
	}
	if f.keep == 0 {
		if err := os.Truncate(f.path, 0); err != nil {
			return err
		}
	}
	return f.open()
}

// older returns the path of the nth file before the present one.
func older(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}

// Close ends writing. Further calls do nothing.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	if f.crashes {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
	}
	err := f.file.Close()
	f.file = nil
	return err
}
