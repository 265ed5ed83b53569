package editorsetup

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"cursortray/app/editors"
	"cursortray/proxy/chat"
)

// Keys gives editors local keys of their own. Its methods may be called from
// any goroutine; their errors are *chat.Error.
type Keys interface {
	// Key returns the editor's key, made at first use.
	Key(ctx context.Context, id string) (string, error)
	// Revoke makes it worthless, if there is one.
	Revoke(ctx context.Context, id string) error
	// Switch switches an editor that has a key off or on.
	Switch(ctx context.Context, id string, off bool) error
	// Off tells for each editor with a key whether it is switched off.
	Off(ctx context.Context) (map[string]bool, error)
}

// Config is what a Service is made of. The functions may be called from any
// goroutine.
type Config struct {
	Editors *editors.Manager
	Keys    Keys
	BaseURL func(ctx context.Context) (string, error)       // of the proxy, with /v1
	Models  func(ctx context.Context) ([]chat.Model, error) // what a request may name
	HTTP    editors.Doer                                    // for checks
}

// Service sets editors up. Its methods may be called from any goroutine.
type Service struct {
	cfg     Config
	exposed func(path string) bool // others can read it
}

// New returns a Service. It touches nothing.
func New(cfg Config) *Service { return &Service{cfg, exposed} }

// Editor is one line of the list.
type Editor struct {
	editors.Info
	Keyed bool // it has a key of its own
	Off   bool // and is switched off
}

// List returns all editors, those that were found first. Without the keys the
// list is whole, but for who has one: then there is an error as well.
func (s *Service) List(ctx context.Context) ([]Editor, error) {
	off, err := s.cfg.Keys.Off(ctx)
	var list []Editor
	for _, info := range s.cfg.Editors.List() {
		list = append(list, withKey(info, off))
	}
	return list, err
}

func withKey(info editors.Info, off map[string]bool) Editor {
	e := Editor{Info: info}
	e.Off, e.Keyed = off[info.ID]
	return e
}

// Options are what the user can say about a set-up.
type Options struct {
	Model string // "" is the one of the last set-up, else the account's default
	Keep  *bool  // leave the model that the editor uses now; nil is as the last time
}

// Result is what a set-up did, or would do. It may hold the key: it is for the
// eyes of the user.
type Result struct {
	ID, Name string
	Model    string
	Files    []File   // that were written
	Same     bool     // everything was as it should be
	ByHand   bool     // nothing can be written: the user does it all
	Steps    []string // what is left for the user to do
	Text     []editors.Snippet
}

// File is a file that was written.
type File struct {
	Path    string
	Backup  string // of what it was; "" if it was not there
	Removed bool
	Edited  bool // only what was cursortray's was taken out
}

// SetUp sets an editor up. When a file cannot be edited, nothing is written,
// and the result has what to do by hand besides the error.
func (s *Service) SetUp(ctx context.Context, name string, o Options) (Result, error) {
	p, r, err := s.plan(ctx, name, o)
	if err != nil {
		return r, err
	}
	if err := p.Problem(); err != nil {
		return r, err
	}
	backups, err := s.cfg.Editors.Apply(p)
	if err != nil {
		return r, err
	}
	for _, f := range p.Files {
		if !f.Changes() {
			continue
		}
		file := File{Path: f.Path}
		if f.Exists && len(backups) > 0 {
			file.Backup, backups = backups[0], backups[1:]
		}
		r.Files = append(r.Files, file)
	}
	r.Same = len(p.Files) > 0 && len(r.Files) == 0
	r.Steps = append(r.Steps, s.exposures(ctx, r.ID, p.Files)...)
	return r, nil
}

// exposures says which files show the editor's key to other users. Their
// permissions are the user's, who may want them so.
func (s *Service) exposures(ctx context.Context, id string, files []editors.FileChange) []string {
	key, err := s.cfg.Keys.Key(ctx, id)
	if err != nil || key == "" {
		return nil
	}
	var steps []string
	for _, f := range files {
		if bytes.Contains(f.New, []byte(key)) && s.exposed(f.Path) {
			steps = append(steps, "Other users of this computer can read "+f.Path+" and the key in it. To keep it from them: chmod o-r "+f.Path)
		}
	}
	return steps
}

// ByHand returns what to write where, to set an editor up by hand. It makes the
// editor's key and changes nothing else.
func (s *Service) ByHand(ctx context.Context, name string, o Options) (Result, error) {
	_, r, err := s.plan(ctx, name, o)
	return r, err
}

func (s *Service) plan(ctx context.Context, name string, o Options) (*editors.Plan, Result, error) {
	info, err := s.cfg.Editors.Find(name)
	if err != nil {
		return nil, Result{}, unknown(err)
	}
	r := Result{ID: info.ID, Name: info.Name, ByHand: info.State == editors.ByHand}
	set, err := s.setup(ctx, info, o)
	if err != nil {
		return nil, r, err
	}
	r.Model = set.Model
	p, err := s.cfg.Editors.Plan(info.ID, set)
	if err != nil {
		return nil, r, err
	}
	r.Steps, r.Text = p.Steps, p.Text
	return p, r, nil
}

// setup gathers what an editor is told.
func (s *Service) setup(ctx context.Context, info editors.Info, o Options) (editors.Setup, error) {
	set, err := s.models(ctx, info, o)
	if err != nil {
		return set, err
	}
	if set.BaseURL, err = s.cfg.BaseURL(ctx); err != nil {
		return set, err
	}
	set.Key, err = s.cfg.Keys.Key(ctx, info.ID)
	return set, err
}

// Undo takes cursortray out of an editor's files and revokes its key. Where the
// user has set the editor up by hand, the key is all there is to take back.
func (s *Service) Undo(ctx context.Context, name string) (Result, error) {
	info, err := s.cfg.Editors.Find(name)
	if err != nil {
		return Result{}, unknown(err)
	}
	r := Result{ID: info.ID, Name: info.Name, ByHand: info.State == editors.ByHand}
	off, noKeys := s.cfg.Keys.Off(ctx)
	_, keyed := off[info.ID]
	changes, err := s.cfg.Editors.Undo(info.ID)
	switch {
	case errors.Is(err, editors.ErrNotSetUp):
		if noKeys != nil {
			return r, noKeys
		}
		if !keyed {
			return r, fmt.Errorf("%s was not set up by cursortray; there is nothing to undo", info.Name)
		}
	case err != nil:
		return r, err
	}
	for _, c := range changes {
		if c.Changes() || c.New == nil {
			r.Files = append(r.Files, File{Path: c.Path, Removed: c.New == nil, Edited: !c.Restored && c.New != nil})
		}
	}
	if err := s.cfg.Keys.Revoke(ctx, info.ID); err != nil {
		return r, fmt.Errorf("its files are as before, but its key is still good: %w", err)
	}
	return r, nil
}

// Switch switches an editor off, so that its requests are refused, or on.
func (s *Service) Switch(ctx context.Context, name string, off bool) (editors.Info, error) {
	info, err := s.cfg.Editors.Find(name)
	if err != nil {
		return info, unknown(err)
	}
	return info, s.cfg.Keys.Switch(ctx, info.ID, off)
}

func unknown(err error) error {
	return fmt.Errorf("%w; cursortray setup --list names them", err)
}
