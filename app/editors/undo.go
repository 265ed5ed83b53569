package editors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cursortray/app/confedit"
)

// undone returns the file without what the record says was written: exactly
// what was there if it is untouched since, else without cursortray's own
// places and with the other values put back that are still as they were
// written. Nil: the file goes.
func (f *fileRecord) undone(data []byte) ([]byte, error) {
	if f.After == sum(data) {
		if f.Created {
			return nil, nil
		}
		return f.before, nil
	}
	if f.Whole && f.Created {
		return nil, nil
	}
	for _, own := range f.Own {
		var err error
		if data, err = confedit.Remove(f.Format, data, own); err != nil {
			return nil, err
		}
	}
	for _, l := range f.Leaves {
		var err error
		if data, err = l.takenBack(f.Format, data); err != nil {
			return nil, err
		}
	}
	data, err := f.withoutRenamed(data)
	if err != nil {
		return nil, err
	}
	return f.withoutEmpty(data)
}

// takenBack puts back what was there before, unless the value is not the one
// that was written any more.
func (l leaf) takenBack(f confedit.Format, data []byte) ([]byte, error) {
	tree, err := confedit.Decode(f, data)
	if err != nil {
		return nil, err
	}
	value, there := confedit.Get(tree, l.Path)
	switch {
	case l.Sum == "" && there, l.Sum != "" && !(there && l.holds(value)):
		return data, nil
	case there && l.Source != "":
		return confedit.Restore(f, data, l.Path, l.Prior, l.Source)
	case l.Had && l.Prior != nil:
		return confedit.Set(f, data, l.Path, l.Prior)
	}
	return confedit.Remove(f, data, l.Path)
}

// withoutEmpty takes the maps and lists out that were made and are empty now.
func (f *fileRecord) withoutEmpty(data []byte) ([]byte, error) {
	for i := len(f.Made) - 1; i >= 0; i-- {
		tree, err := confedit.Decode(f.Format, data)
		if err != nil {
			return nil, err
		}
		if value, there := confedit.Get(tree, f.Made[i]); !there || !empty(value) {
			continue
		}
		if data, err = confedit.Remove(f.Format, data, f.Made[i]); err != nil {
			return nil, err
		}
	}
	// Nothing is left, not even a comment.
	switch strings.Join(strings.Fields(string(data)), "") {
	case "", "{}", "[]":
		if f.Created {
			return nil, nil
		}
	}
	return data, nil
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// Undo takes cursortray out of an editor's files again, and returns what it
// changed. If one file cannot be edited, none is.
func (m *Manager) Undo(id string) ([]FileChange, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.editor(id); err != nil {
		return nil, err
	}
	rec, err := m.loadRecord(id)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, ErrNotSetUp
	}
	var changes []FileChange
	for _, f := range rec.Files {
		change := FileChange{Path: f.Path}
		change.Old, err = readFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone: nothing of ours is left
		}
		if err == nil {
			change.New, err = f.undone(change.Old)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was changed", f.Path, err)
		}
		change.Exists, change.Restored = true, f.After == sum(change.Old)
		changes = append(changes, change)
	}
	if err := m.write(id, changes); err != nil {
		return nil, err
	}
	for _, f := range rec.Files {
		for i := len(f.Folders) - 1; i >= 0; i-- {
			os.Remove(f.Folders[i]) // only if it is empty
		}
	}
	m.dropRecord(id, rec)
	return changes, nil
}
