package editors

import (
	"errors"
	"fmt"
	"io/fs"

	"cursortray/app/confedit"
)

// Plan is what setting an editor up would do. It, its steps and its snippets
// hold the key: they are for the eyes of the user who asked, not for a log.
type Plan struct {
	Editor string // the id
	Name   string
	Files  []FileChange
	Steps  []string  // what the user has to do besides
	Text   []Snippet // the same by hand: what to write where

	record *record
	old    *record
}

// FileChange is one file of a Plan.
type FileChange struct {
	Path     string
	Exists   bool
	Old, New []byte
	// Restored says, of an undo, that the file is exactly what it was: nobody
	// had changed it since.
	Restored bool
	// Problem is why the file is left alone. One such file stops them all: an
	// editor that is set up by half does not work.
	Problem error
}

// Changes reports whether Apply would write the file.
func (f FileChange) Changes() bool { return f.Problem == nil && string(f.Old) != string(f.New) }

// Problem is the first reason why the plan cannot be applied.
func (p *Plan) Problem() error {
	for _, f := range p.Files {
		if f.Problem != nil {
			return fmt.Errorf("%s: %w", f.Path, f.Problem)
		}
	}
	return nil
}

// Changes reports whether Apply would write anything.
func (p *Plan) Changes() bool {
	for _, f := range p.Files {
		if f.Changes() {
			return true
		}
	}
	return false
}

// Plan works out how to set an editor up, and writes nothing.
func (m *Manager) Plan(id string, s Setup) (*Plan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.editor(id)
	if err != nil {
		return nil, err
	}
	if s, err = s.checked(); err != nil {
		return nil, err
	}
	p := &Plan{Editor: e.id, Name: e.name, record: &record{Version: 1, Model: s.Model, Keep: s.KeepChoice}}
	if e.steps != nil {
		p.Steps = e.steps(s)
	}
	if p.Text, err = m.snippets(e, s); err != nil {
		return nil, err
	}
	if p.old, err = m.loadRecord(id); err != nil {
		return nil, err
	}
	for _, v := range m.variants(e) {
		change, rec := planFile(v, s, p.old)
		p.Files = append(p.Files, change)
		p.record.Files = append(p.record.Files, rec)
	}
	// What was written under a name that the editor has given up stays on
	// record, so that undo finds it.
	if p.old != nil {
		for _, f := range p.old.Files {
			if p.record.file(f.Path) == nil && exists(f.Path) {
				p.record.Files = append(p.record.Files, f)
			}
		}
	}
	return p, nil
}

func planFile(v variant, s Setup, old *record) (FileChange, fileRecord) {
	data, err := readFile(v.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileChange{Path: v.path, Problem: err}, fileRecord{}
	}
	return planText(v, s, data, err == nil, old.file(v.path))
}

// planText works out the new text of a file, and what undo has to know.
func planText(v variant, s Setup, data []byte, exists bool, previous *fileRecord) (FileChange, fileRecord) {
	change := FileChange{Path: v.path, Exists: exists}
	rec := fileRecord{Path: v.path, Format: v.format, Whole: v.whole}
	if !exists {
		data, previous = nil, nil
	}
	change.Old, change.New = data, data
	rec.before, rec.Created = data, !exists
	var err error

	// What undo goes back to is the file without what an earlier run wrote.
	if previous != nil {
		rec.Folders = previous.Folders
		if rec.before, err = previous.undone(data); err != nil {
			change.Problem = err
			return change, rec
		}
		rec.Created = previous.Created && rec.before == nil
	}
	base, err := confedit.Decode(v.format, rec.before)
	if err != nil {
		change.Problem = err
		return change, rec
	}
	edits := v.all(s, base)
	rec.trace(base, edits)
	edited, err := rec.withoutStale(data, previous)
	if err == nil {
		edited, err = applyEdits(v.format, edited, edits)
	}
	if err != nil {
		change.Problem = err
		return change, rec
	}
	change.New = edited
	rec.After = sum(edited)
	return change, rec
}

func (r *record) file(path string) *fileRecord {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// all lists the edits that are wanted in a file that says base.
func (v variant) all(s Setup, base any) []edit {
	var list []edit
	if base == nil {
		for _, member := range v.seed {
			list = append(list, set(member.Value, member.Name))
		}
	}
	for _, e := range v.edits(s) {
		if e.choice && s.KeepChoice {
			continue
		}
		if _, there := confedit.Get(base, e.path); there && e.once {
			continue
		}
		list = append(list, e)
	}
	return list
}

func applyEdits(f confedit.Format, data []byte, edits []edit) ([]byte, error) {
	var err error
	for _, e := range edits {
		switch {
		case e.value == nil:
			data, err = confedit.Remove(f, data, e.path)
		case e.once && has(f, data, e.path): // from an earlier run
		default:
			data, err = confedit.Set(f, data, e.path, e.value)
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

func has(f confedit.Format, data []byte, p confedit.Path) bool {
	tree, err := confedit.Decode(f, data)
	_, there := confedit.Get(tree, p)
	return err == nil && there
}

// withoutStale takes out what an earlier run wrote and this one does not write
// any more: a model that is gone.
func (f *fileRecord) withoutStale(data []byte, previous *fileRecord) ([]byte, error) {
	if previous == nil {
		return data, nil
	}
	wanted := map[string]bool{}
	for _, l := range f.Leaves {
		for n := range l.Path {
			wanted[l.Path[:n+1].String()] = true
		}
	}
	for _, l := range previous.Leaves {
		// The outermost thing on the way that nobody wants any more.
		for n := range l.Path {
			at := l.Path[:n+1]
			if wanted[at.String()] || l.Sum == "" {
				continue
			}
			var err error
			if previous.owns(at) {
				data, err = confedit.Remove(f.Format, data, at)
			} else {
				data, err = l.takenBack(f.Format, data)
			}
			if err != nil {
				return nil, err
			}
			break
		}
	}
	return data, nil
}

func (f *fileRecord) owns(p confedit.Path) bool {
	for _, own := range f.Own {
		if p.Within(own) {
			return true
		}
	}
	return false
}
