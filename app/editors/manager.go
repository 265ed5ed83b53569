package editors

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"cursortray/app/confedit"
)

// Config says where things are.
type Config struct {
	Env   Env
	State string // the folder for records and backups; made with mode 0700
	// LookPath finds a program; nil is exec.LookPath.
	LookPath func(name string) (string, error)
}

// Manager sets editors up. Its methods may be called from any goroutine.
type Manager struct {
	env      Env
	state    string
	lookPath func(string) (string, error)
	mu       sync.Mutex // one change at a time
}

// New returns a Manager. It touches nothing.
func New(c Config) *Manager {
	if c.LookPath == nil {
		c.LookPath = exec.LookPath
	}
	return &Manager{env: c.Env, state: c.State, lookPath: c.LookPath}
}

// State is what is known of an editor.
type State string

// The states of an editor.
const (
	NotSetUp State = "not set up"
	SetUp    State = "set up"
	Changed  State = "changed" // set up, and then edited by somebody else
	Broken   State = "broken"  // a file of it cannot be read
	ByHand   State = "by hand" // it has no file to edit; nothing is known
)

// Info is one line of the list of editors.
type Info struct {
	ID, Name string
	Found    bool // it seems to be installed
	State    State
	Files    []string // the files that are or would be edited
	Model    string   // what it was set up to begin with; "" if it was not
	Keep     bool     // set up beside what it uses otherwise, see Setup.KeepChoice
	Problem  error    // why it is Broken
}

// ErrUnknown says that there is no editor of that name.
var ErrUnknown = errors.New("there is no such editor")

// ErrNotSetUp says that there is nothing to undo.
var ErrNotSetUp = errors.New("this editor was not set up by cursortray")

// ErrChanged says that a file was changed between Plan and Apply.
var ErrChanged = errors.New("the file was changed in the meantime; please try again")

// Find returns what is known of one editor. name is its id, or the beginning of
// the id if that of no other begins so.
func (m *Manager) Find(name string) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var like []editor
	for _, e := range all() {
		if e.id == name {
			return m.info(e), nil
		}
		if name != "" && strings.HasPrefix(e.id, strings.ToLower(name)) {
			like = append(like, e)
		}
	}
	switch len(like) {
	case 0:
		return Info{}, fmt.Errorf("%q: %w", name, ErrUnknown)
	case 1:
		return m.info(like[0]), nil
	}
	ids := make([]string, len(like))
	for i, e := range like {
		ids[i] = e.id
	}
	return Info{}, fmt.Errorf("%q can be %s", name, strings.Join(ids, " or "))
}

// Known tells whether there is an editor with that id.
func Known(id string) bool {
	return slices.ContainsFunc(all(), func(e editor) bool { return e.id == id })
}

// List returns all editors, those that were found first.
func (m *Manager) List() []Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Info
	for _, e := range all() {
		list = append(list, m.info(e))
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Found && !list[j].Found })
	return list
}

func (m *Manager) info(e editor) Info {
	info := Info{ID: e.id, Name: e.name, Found: m.found(e), State: ByHand}
	if e.targets == nil {
		return info
	}
	for _, v := range m.variants(e) {
		info.Files = append(info.Files, v.path)
	}
	info.State, info.Problem = m.stateOf(e)
	if rec, err := m.loadRecord(e.id); err == nil && rec != nil {
		info.Model, info.Keep = rec.Model, rec.Keep
	}
	return info
}

func (m *Manager) found(e editor) bool {
	for _, name := range e.commands {
		if _, err := m.lookPath(name); err == nil {
			return true
		}
	}
	if e.traces == nil {
		return false
	}
	for _, trace := range e.traces(m.env) {
		if traced(trace) {
			return true
		}
	}
	return false
}

// traced looks for a file, or one that begins like the name before a *. No
// Glob: a home folder may have brackets in its name.
func traced(trace string) bool {
	start, some := strings.CutSuffix(trace, "*")
	if !some {
		return exists(trace)
	}
	entries, err := os.ReadDir(filepath.Dir(start))
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), filepath.Base(start)) {
			return true
		}
	}
	return false
}

// stateOf compares what the record says was written with what is there.
func (m *Manager) stateOf(e editor) (State, error) {
	rec, err := m.loadRecord(e.id)
	if err != nil {
		return Broken, err
	}
	for _, v := range m.variants(e) {
		data, err := readFile(v.path)
		if err == nil {
			_, err = confedit.Decode(v.format, data)
		}
		if err != nil && !os.IsNotExist(err) {
			return Broken, fmt.Errorf("%s: %w", v.path, err)
		}
	}
	if rec == nil {
		return NotSetUp, nil
	}
	for _, f := range rec.Files {
		data, err := readFile(f.Path)
		if err != nil {
			return Changed, nil
		}
		tree, err := confedit.Decode(f.Format, data)
		if err != nil || !f.intact(tree) {
			return Changed, nil
		}
	}
	return SetUp, nil
}

func (m *Manager) editor(id string) (editor, error) {
	for _, e := range all() {
		if e.id == id {
			return e, nil
		}
	}
	return editor{}, fmt.Errorf("%q: %w", id, ErrUnknown)
}

// variants picks the file of each target.
func (m *Manager) variants(e editor) []variant {
	var list []variant
	if e.targets == nil {
		return nil
	}
	for _, t := range e.targets(m.env) {
		if t.optional && !exists(filepath.Dir(t.variants[0].path)) {
			continue
		}
		list = append(list, pick(t.variants))
	}
	return list
}

func pick(variants []variant) variant {
	for _, v := range variants {
		if exists(v.path) {
			return v
		}
	}
	for _, v := range variants {
		if !v.exists {
			return v
		}
	}
	return variants[0]
}

// exists counts a link to nowhere as there: it is the user's.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
