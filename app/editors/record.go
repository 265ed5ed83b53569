package editors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cursortray/app/confedit"
)

// record is what was done to an editor's files: enough to undo it, also when
// the user has edited them since. What was written is kept as sums only, since
// it holds the key.
type record struct {
	Version int          `json:"version"`
	Model   string       `json:"model,omitempty"` // what the editor was set up to begin with
	Keep    bool         `json:"keep,omitempty"`  // beside what it uses otherwise
	Files   []fileRecord `json:"files"`
}

// asks reports whether it was made for the same choices as another one.
func (r *record) asks(same *record) bool {
	return r != nil && r.Model == same.Model && r.Keep == same.Keep
}

type fileRecord struct {
	Path    string          `json:"path"`
	Format  confedit.Format `json:"format"`
	Created bool            `json:"created,omitempty"` // there was no such file
	Whole   bool            `json:"whole,omitempty"`   // it is cursortray's alone
	Folders []string        `json:"folders,omitempty"` // made for it, outermost first
	After   string          `json:"after"`             // sum of the file as it was left
	Leaves  []leaf          `json:"leaves,omitempty"`
	Own     []confedit.Path `json:"own,omitempty"`  // places that are cursortray's
	Made    []confedit.Path `json:"made,omitempty"` // maps and lists around them that were not there

	before []byte // what undo restores; in a file beside the record
}

// leaf is one value that was written or taken out.
type leaf struct {
	Path   confedit.Path `json:"path"`
	Sum    string        `json:"sum,omitempty"`    // of the value; "" = taken out
	Prefix string        `json:"prefix,omitempty"` // a text that begins so is ours, too
	Loose  bool          `json:"loose,omitempty"`  // whatever the editor makes of it later is ours
	Had    bool          `json:"had,omitempty"`    // there was a value
	Prior  any           `json:"prior,omitempty"`
	Source string        `json:"source,omitempty"` // the text of Prior
}

func (l leaf) holds(value any) bool {
	text, ok := value.(string)
	return l.Loose || l.Sum == sumOf(value) || l.Prefix != "" && ok && strings.HasPrefix(text, l.Prefix)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func sumOf(value any) string { return sum([]byte(confedit.Spell(value))) }

// intact reports whether all that was written is still there.
func (f fileRecord) intact(tree any) bool {
	for _, l := range f.Leaves {
		value, ok := confedit.Get(tree, l.Path)
		if !l.Loose && (ok != (l.Sum != "") || ok && l.Sum != sumOf(value)) {
			return false
		}
	}
	return true
}

func (m *Manager) recordPath(id string) string { return filepath.Join(m.state, id+".json") }

// backupPath names the copies: "before" is what undo restores, "last" is the
// file just before cursortray changed it the last time.
func (m *Manager) backupPath(id string, n int, path, kind string) string {
	return filepath.Join(m.state, fmt.Sprintf("%s-%d-%s.%s", id, n+1, strings.TrimPrefix(filepath.Base(path), "."), kind))
}

// loadRecord returns nil if the editor was not set up.
func (m *Manager) loadRecord(id string) (*record, error) {
	data, err := os.ReadFile(m.recordPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var rec record
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		err = dec.Decode(&rec)
	}
	if err != nil {
		path := m.recordPath(id)
		return nil, fmt.Errorf("the record of what was set up, %s, cannot be read: %w; without that file it is set up anew, and what was there before lies beside it", path, err)
	}
	for i := range rec.Files {
		f := &rec.Files[i]
		if f.before, err = os.ReadFile(m.backupPath(id, i, f.Path, "before")); err != nil {
			f.before, f.After = nil, "" // without its backup: take only our keys out
		}
	}
	return &rec, nil
}

func (m *Manager) saveRecord(id string, rec *record) error {
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.state, 0o700); err != nil {
		return err
	}
	for i, f := range rec.Files {
		if err := writeFile(m.backupPath(id, i, f.Path, "before"), f.before); err != nil {
			return err
		}
	}
	return writeFile(m.recordPath(id), data)
}

func (m *Manager) dropRecord(id string, rec *record) {
	os.Remove(m.recordPath(id))
	for i, f := range rec.Files {
		os.Remove(m.backupPath(id, i, f.Path, "before"))
	}
}

// trace records what edits will do to a file that says base.
func (f *fileRecord) trace(base any, edits []edit) {
	for _, e := range edits {
		if e.value == nil {
			if prior, ok := confedit.Get(base, e.path); ok {
				f.Leaves = append(f.Leaves, leaf{Path: e.path, Had: true, Prior: prior})
			}
			continue
		}
		if _, there := confedit.Get(base, e.path); !there && e.own {
			f.Own = append(f.Own, e.path)
		}
		f.around(base, e.path)
		f.leaves(base, e, e.path, e.value)
	}
}

// around notes the maps and lists on the way that are not there yet.
func (f *fileRecord) around(base any, p confedit.Path) {
	for n := 1; n < len(p); n++ {
		if _, ok := confedit.Get(base, p[:n]); ok {
			continue
		}
		known := false
		for _, made := range f.Made {
			known = known || len(made) == n && p.Within(made)
		}
		if !known {
			f.Made = append(f.Made, p[:n:n])
		}
	}
}

func (f *fileRecord) leaves(base any, e edit, p confedit.Path, value any) {
	switch v := value.(type) {
	case confedit.Map:
		for _, member := range v {
			f.leaves(base, e, p.Then(confedit.Names(member.Name)...), member.Value)
		}
		return
	case confedit.Keyed:
		for _, item := range v.Items {
			is, _ := item.Get(v.By).(string)
			at := p.Then(confedit.Item(v.By, is))
			// An element goes as a whole: without its name it is not found.
			if _, there := confedit.Get(base, at); !there && !f.owns(at) {
				f.Own = append(f.Own, at)
			}
			f.leaves(base, e, at, item)
		}
		return
	}
	f.around(base, p)
	l := leaf{Path: p, Sum: sumOf(value), Prefix: e.prefix, Loose: e.once}
	if l.Prior, l.Had = confedit.Get(base, p); l.Had {
		l.Source, _ = confedit.Source(f.Format, f.before, p)
	}
	f.Leaves = append(f.Leaves, l)
}
