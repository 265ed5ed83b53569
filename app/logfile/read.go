package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// followPoll is how often a log is looked at that somebody watches.
const followPoll = 250 * time.Millisecond

// maxOlder bounds how many older files are looked for.
const maxOlder = 16

// Tail writes the last lines of the log at path to out, those of older files
// included. A log that does not exist is fs.ErrNotExist.
func Tail(path string, lines int, out io.Writer) error {
	r := reader{path: path, out: out}
	return r.tail(lines)
}

// Follow writes the last lines and then what is added, over the change of files,
// until ctx ends. The log need not exist yet.
func Follow(ctx context.Context, path string, lines int, out io.Writer) error {
	r := reader{path: path, out: out}
	if err := r.tail(lines); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tick := time.NewTicker(followPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := r.more(); err != nil {
			return err
		}
	}
}

// reader has read up to a place in a file. It keeps no file open, which would
// hinder the writer on Windows.
type reader struct {
	path string
	out  io.Writer
	file os.FileInfo // nil: none yet
	at   int64
}

func (r *reader) tail(lines int) error {
	var parts [][]byte // the newest first
	for n := range maxOlder {
		text, info, err := readAll(older(r.path, n))
		if errors.Is(err, fs.ErrNotExist) && n > 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if n == 0 {
			r.file, r.at = info, int64(len(text))
		}
		last := lastLines(text, lines)
		parts = append(parts, last)
		if lines -= bytes.Count(last, []byte("\n")); lines <= 0 {
			break
		}
	}
	slices.Reverse(parts)
	_, err := r.out.Write(bytes.Join(parts, nil))
	return err
}

func lastLines(text []byte, n int) []byte {
	at := len(text)
	for at > 0 && n >= 0 {
		i := bytes.LastIndexByte(text[:at-1], '\n')
		if n--; n < 0 {
			return text[at:]
		}
		at = i + 1
	}
	return text[at:]
}

// more writes what was added since: the rest of the file that was read last,
// under whatever name it has now, and all newer ones.
//
// The writer may put files aside meanwhile. A file's name only ever counts up,
// as this search does, so that it cannot be missed; a name without a file is a
// moment between two renamings. What was opened stays the same file.
func (r *reader) more() error {
	var newer []*os.File // the newest first
	defer func() {
		for _, file := range newer {
			file.Close()
		}
	}()
	var last os.FileInfo
	for n := range maxOlder {
		file, err := os.Open(older(r.path, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		info, err := file.Stat()
		if err != nil || last != nil && os.SameFile(info, last) { // it was renamed
			file.Close()
			continue
		}
		last = info
		newer = append(newer, file)
		if r.file != nil && os.SameFile(info, r.file) {
			if info.Size() < r.at { // emptied
				r.at = 0
			}
			break
		}
	}
	for i, file := range slices.Backward(newer) {
		info, err := file.Stat()
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		if i < len(newer)-1 || r.file == nil || !os.SameFile(info, r.file) {
			r.at = 0
		}
		r.file = info
		if err := r.rest(file); err != nil {
			return err
		}
	}
	return nil
}

// rest writes what comes after the place in file.
func (r *reader) rest(file io.ReaderAt) error {
	n, err := io.Copy(r.out, io.NewSectionReader(file, r.at, maxSize))
	r.at += n
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	return nil
}

// maxSize is more than a log ever has.
const maxSize = 1 << 40

func readAll(path string) ([]byte, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSize))
	return text, info, err
}
