package agentrpc

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// snapshots keeps conversations in a folder, one file each, so that they
// outlive the program. A nil *snapshots keeps nothing. A file that cannot be
// read or written costs the conversation's state, never a request: the history
// is sent again then.
type snapshots struct {
	dir    string
	life   time.Duration
	logger *slog.Logger

	mu    sync.Mutex
	index map[fingerprint]snapshotFile // nil until it is needed
	turns map[string]int               // newest turn saved, by conversation
	lent  map[string]bool              // conversations that a run has
}

// snapshotFile is one file of the folder.
type snapshotFile struct {
	name string
	head snapshotHead
	size int64
}

const (
	snapshotSuffix   = ".conversation"
	maxSnapshots     = 512 << 20 // bytes in the folder
	maxSnapshotFiles = 512
)

// load returns the conversation that stands for print, nil if there is none.
func (s *snapshots) load(print fingerprint, resume bool) *conversation {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	file, ok := s.index[print]
	if !ok || file.head.Resume != resume || s.lent[file.head.ID] {
		return nil
	}
	c, err := s.open(file.name)
	if err != nil {
		s.logger.Warn("a saved conversation cannot be read; its history is sent again", "error", err)
		s.forget(file.name)
		s.unlink(file.name)
		return nil
	}
	s.lent[c.id] = true
	return c
}

// lend notes that a run has a conversation, whose file must not become another
// one meanwhile; back notes its return.
func (s *snapshots) lend(id string) { s.setLent(id, true) }
func (s *snapshots) back(id string) { s.setLent(id, false) }

func (s *snapshots) setLent(id string, lent bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	if lent {
		s.lent[id] = true
	} else {
		delete(s.lent, id)
	}
}

func (s *snapshots) open(name string) (*conversation, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSnapshot(f)
}

// save writes a conversation in the place of its former state. Readers see the
// one or the other.
func (s *snapshots) save(c *conversation) {
	if s == nil || c.state == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	if s.turns[c.id] > c.turns {
		return // a later turn was quicker
	}
	head := c.head()
	name := c.id + snapshotSuffix
	size, err := s.write(name, head, c)
	if err != nil {
		s.logger.Warn("a conversation cannot be saved; it is lost when the program ends", "error", err)
		return
	}
	s.turns[c.id] = c.turns
	s.forget(name)
	s.index[c.print] = snapshotFile{name: name, head: head, size: size}
	s.sweep(time.Now())
}

func (s *snapshots) write(name string, head snapshotHead, c *conversation) (size int64, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(s.dir, "new-*") // with mode 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // gone after the renaming
	if err = writeSnapshot(f, head, c); err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(f.Name(), filepath.Join(s.dir, name))
}

// remove deletes a conversation's file.
func (s *snapshots) remove(id string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	delete(s.lent, id)
	s.forget(id + snapshotSuffix)
	s.unlink(id + snapshotSuffix)
}

// clear deletes all.
func (s *snapshots) clear() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	for _, file := range s.index {
		s.unlink(file.name)
	}
	clear(s.index)
}

// The rest needs s.mu.

func (s *snapshots) forget(name string) {
	for print, file := range s.index {
		if file.name == name {
			delete(s.index, print)
		}
	}
}

func (s *snapshots) unlink(name string) { _ = os.Remove(filepath.Join(s.dir, name)) }

// read looks through the folder, once.
func (s *snapshots) read() {
	if s.index != nil {
		return
	}
	s.index, s.turns, s.lent = make(map[fingerprint]snapshotFile), make(map[string]int), make(map[string]bool)
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return // there is none yet
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "new-") { // of a program that was killed
			s.unlink(e.Name())
			continue
		}
		if !strings.HasSuffix(e.Name(), snapshotSuffix) {
			continue
		}
		file, err := s.look(e.Name())
		if err != nil {
			s.unlink(e.Name())
			continue
		}
		s.index[fingerprint(file.head.Print)] = file
		s.turns[file.head.ID] = file.head.Turns
	}
	s.sweep(time.Now())
}

func (s *snapshots) look(name string) (snapshotFile, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return snapshotFile{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return snapshotFile{}, err
	}
	head, err := readHead(bufio.NewReader(f))
	return snapshotFile{name: name, head: head, size: info.Size()}, err
}

// sweep deletes what is too old, or too much.
func (s *snapshots) sweep(now time.Time) {
	var files []snapshotFile
	for _, file := range s.index {
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b snapshotFile) int { return cmp.Compare(b.head.Used.UnixNano(), a.head.Used.UnixNano()) })
	total := int64(0)
	for i, file := range files {
		total += file.size
		if now.Sub(file.head.Used) > s.life || i >= maxSnapshotFiles || total > maxSnapshots {
			s.forget(file.name)
			s.unlink(file.name)
		}
	}
}
