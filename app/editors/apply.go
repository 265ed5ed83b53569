package editors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"cursortray/app/atomicfile"
)

// Apply does what the plan says and returns the backups it made. If a file has
// changed since, or any of them cannot be edited, nothing is written.
func (m *Manager) Apply(p *Plan) (backups []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := p.Problem(); err != nil {
		return nil, err
	}
	for _, f := range p.Files {
		now, err := readFile(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if (err == nil) != f.Exists || string(now) != string(f.Old) {
			return nil, fmt.Errorf("%s: %w", f.Path, ErrChanged)
		}
	}
	if len(p.Files) == 0 || !p.Changes() && p.old.asks(p.record) {
		return nil, nil
	}
	for i := range p.Files {
		made, err := makeFolders(p.Files[i].Path)
		p.record.Files[i].Folders = append(p.record.Files[i].Folders, made...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Files[i].Path, err)
		}
	}
	// The record comes first: whatever happens then can be undone.
	if err := m.saveRecord(p.Editor, p.record); err != nil {
		return nil, fmt.Errorf("keep a backup: %w", err)
	}
	if err := m.write(p.Editor, p.Files); err != nil {
		if p.old == nil {
			m.dropRecord(p.Editor, p.record)
		} else if saveErr := m.saveRecord(p.Editor, p.old); saveErr != nil {
			err = errors.Join(err, saveErr)
		}
		return nil, err
	}
	for i, f := range p.Files {
		if f.Exists && f.Changes() {
			backups = append(backups, m.backupPath(p.Editor, i, f.Path, "last"))
		}
	}
	return backups, nil
}

// write brings all files to their new content, or none. A copy of each is kept
// first.
func (m *Manager) write(id string, files []FileChange) error {
	for i, f := range files {
		if !f.Exists || !f.Changes() {
			continue
		}
		if err := writeFile(m.backupPath(id, i, f.Path, "last"), f.Old); err != nil {
			return fmt.Errorf("keep a backup: %w", err)
		}
	}
	for i, f := range files {
		err := f.put(f.New, f.New != nil)
		if err == nil {
			continue
		}
		for _, done := range files[:i] {
			if undoErr := done.put(done.Old, done.Exists); undoErr != nil {
				err = errors.Join(err, undoErr)
			}
		}
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

func (f FileChange) put(data []byte, keep bool) error {
	if !keep {
		path, err := atomicfile.Target(f.Path)
		if err == nil {
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if !f.Changes() {
		return nil
	}
	return writeFile(f.Path, data)
}
