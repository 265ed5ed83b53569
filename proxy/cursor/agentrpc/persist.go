package agentrpc

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"maps"
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
// is sent again then. Nor does a request wait for a file to be written.
type snapshots struct {
	dir    string
	life   time.Duration
	delay  time.Duration // see later
	logger *slog.Logger

	saving  sync.WaitGroup // the timer's goroutine
	writing sync.Mutex     // one file at a time; taken before mu
	packers sync.Pool      // of *gzip.Writer, which take a megabyte

	mu      sync.Mutex
	age     int                           // how often it was cleared, as the shelf's
	index   map[fingerprint]*snapshotFile // nil until it is needed
	turns   map[string]int                // newest turn saved, by conversation
	lent    map[string]bool               // conversations that a run has
	pending map[string]*conversation      // to be saved, by id
	timer   *time.Timer                   // runs while some are pending
	waiting time.Time                     // since when it runs
	current string                        // the conversation whose file is being written; "" if it was removed meanwhile
}

// snapshotFile is one file of the folder.
type snapshotFile struct {
	name string
	head snapshotHead
	size int64
}

const (
	snapshotSuffix   = ".conversation"
	newPrefix        = "new-"    // while it is written
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
	if !ok || file.head.Resume != resume || s.lent[file.head.ID] || s.pending[file.head.ID] != nil {
		return nil
	}
	c, err := s.open(file.name)
	if err != nil {
		s.logger.Warn("a saved conversation cannot be read; its history is sent again", "error", err)
		s.drop(file)
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
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.wants(c) {
		return
	}
	head := c.head()
	file, size, err := s.write(head, c)
	if err == nil {
		err = s.publish(c, head, file, size)
	}
	if err != nil {
		s.logger.Warn("a conversation cannot be saved; it is lost when the program ends", "error", err)
	}
}

// wants tells whether a conversation is to be saved.
func (s *snapshots) wants(c *conversation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	if c.age != s.age || s.turns[c.id] > c.turns { // it was forgotten, or a later turn was quicker
		return false
	}
	s.current = c.id
	return true
}

// write makes a file that is none of the conversations yet.
func (s *snapshots) write(head snapshotHead, c *conversation) (name string, size int64, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(s.dir, newPrefix+"*") // with mode 0600
	if err != nil {
		return "", 0, err
	}
	packer, ok := s.packers.Get().(*gzip.Writer)
	if !ok {
		packer = newPacker()
	}
	if err = writeSnapshot(f, packer, head, c); err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	s.packers.Put(packer)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), size, nil
}

// publish makes the file that of its conversation, unless that was removed while
// it was written. Of two that stand for the same messages only the newer one
// would ever be found.
func (s *snapshots) publish(c *conversation, head snapshotHead, file string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != c.id {
		return os.Remove(file)
	}
	name := c.id + snapshotSuffix
	if err := os.Rename(file, filepath.Join(s.dir, name)); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	s.forget(name)
	if old := s.index[c.print]; old != nil {
		s.drop(old)
	}
	s.turns[c.id] = c.turns
	s.index[c.print] = &snapshotFile{name: name, head: head, size: size}
	s.sweep(time.Now())
	return nil
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
	delete(s.pending, id)
	if s.current == id {
		s.current = ""
	}
	if _, known := s.turns[id]; !known {
		return // most are new
	}
	name := id + snapshotSuffix
	s.forget(name)
	s.unlink(name)
	delete(s.turns, id)
}

// clear deletes all. Nothing from before is saved from now on.
func (s *snapshots) clear(age int) {
	if s == nil {
		return
	}
	s.writing.Lock() // what is being written goes, too
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	s.age = age
	for _, file := range s.index {
		s.unlink(file.name)
	}
	clear(s.index)
	clear(s.turns)
	clear(s.pending)
}

// tidy deletes what is too old, so that it goes also when nobody asks anything.
func (s *snapshots) tidy(now time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	s.sweep(now)
}

// empty tells whether nothing is there that tidy could delete.
func (s *snapshots) empty() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index != nil && len(s.index) == 0
}

// discard deletes what another start of the program kept in dir.
func discard(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range entries {
		if isSnapshot(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func isSnapshot(name string) bool {
	return strings.HasPrefix(name, newPrefix) || strings.HasSuffix(name, snapshotSuffix)
}

// The rest needs s.mu.

// forget removes a file from the index.
func (s *snapshots) forget(name string) {
	for print, file := range s.index {
		if file.name == name {
			delete(s.index, print)
		}
	}
}

// drop deletes a file, and what is known of it.
func (s *snapshots) drop(file *snapshotFile) {
	s.forget(file.name)
	s.unlink(file.name)
	delete(s.turns, file.head.ID)
}

func (s *snapshots) unlink(name string) { _ = os.Remove(filepath.Join(s.dir, name)) }

// read looks through the folder, once.
func (s *snapshots) read() {
	if s.index != nil {
		return
	}
	s.index, s.turns = make(map[fingerprint]*snapshotFile), make(map[string]int)
	s.lent, s.pending = make(map[string]bool), make(map[string]*conversation)
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return // there is none yet
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) { // of a program that was killed
			s.unlink(e.Name())
			continue
		}
		if !isSnapshot(e.Name()) {
			continue
		}
		file, err := s.look(e.Name())
		if err != nil {
			s.unlink(e.Name())
			continue
		}
		s.found(file)
	}
	s.sweep(time.Now())
}

// found takes a file into the index. Of two that stand for the same messages
// the newer one stays.
func (s *snapshots) found(file *snapshotFile) {
	print := fingerprint(file.head.Print)
	if other := s.index[print]; other != nil {
		if other.head.Used.After(file.head.Used) {
			s.unlink(file.name)
			return
		}
		s.drop(other)
	}
	s.index[print] = file
	s.turns[file.head.ID] = file.head.Turns
}

func (s *snapshots) look(name string) (*snapshotFile, error) {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head, err := readHead(bufio.NewReader(f))
	return &snapshotFile{name: name, head: head, size: info.Size()}, err
}

// sweep deletes what is too old, or too much.
func (s *snapshots) sweep(now time.Time) {
	files := slices.SortedFunc(maps.Values(s.index), func(a, b *snapshotFile) int {
		return cmp.Compare(b.head.Used.UnixNano(), a.head.Used.UnixNano())
	})
	total := int64(0)
	for i, file := range files {
		total += file.size
		if now.Sub(file.head.Used) > s.life || i >= maxSnapshotFiles || total > maxSnapshots {
			s.drop(file)
		}
	}
}
