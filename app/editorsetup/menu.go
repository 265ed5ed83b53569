package editorsetup

import (
	"context"
	"strings"

	"cursortray/app"
)

// Menu is a Service as the App uses it, without a terminal: what the user has
// to enter himself goes to the clipboard.
type Menu struct {
	*Service
	Shell string // that its snippets are for; "" is all
	// ForThisRun tells whether the keys are lost when the program ends; nil:
	// they are not.
	ForThisRun func() bool
}

// List implements app.Editors.
func (m Menu) List(ctx context.Context) ([]app.EditorStatus, error) {
	all, err := m.Service.List(ctx)
	list := make([]app.EditorStatus, len(all))
	for i, e := range all {
		list[i] = app.EditorStatus{ID: e.ID, Name: e.Name, Found: e.Found, State: string(e.State), Keyed: e.Keyed, Off: e.Off}
	}
	return list, err
}

// SetUp implements app.Editors.
func (m Menu) SetUp(ctx context.Context, id string) (app.EditorDone, error) {
	r, err := m.Service.SetUp(ctx, id, Options{})
	done := app.EditorDone{}
	if err != nil || r.ByHand || len(r.Steps) > 0 {
		done.Copy = r.HandText(m.Shell)
	}
	switch {
	case err != nil:
	case r.ByHand:
		done.Notice = r.Name + " takes its settings from you"
	case r.Same:
		done.Notice = r.Name + " is set up already"
	default:
		done.Notice = r.Name + " is set up with " + r.Model + files(": wrote ", r.Files)
	}
	if m.ForThisRun != nil && err == nil && m.ForThisRun() {
		done.Notice += "; there is no keychain, so its key ends with cursortray"
	}
	return done, err
}

// Undo implements app.Editors.
func (m Menu) Undo(ctx context.Context, id string) (app.EditorDone, error) {
	r, err := m.Service.Undo(ctx, id)
	if r.ByHand {
		return app.EditorDone{Notice: r.Name + "'s key is worth nothing any more; take cursortray out of its settings yourself"}, err
	}
	return app.EditorDone{Notice: r.restored() + files(": ", r.Files)}, err
}

// Switch implements app.Editors.
func (m Menu) Switch(ctx context.Context, id string, off bool) (app.EditorDone, error) {
	info, err := m.Service.Switch(ctx, id, off)
	if off {
		return app.EditorDone{Notice: info.Name + " is switched off: its requests are refused"}, err
	}
	return app.EditorDone{Notice: info.Name + " is switched on"}, err
}

// files names files, with the backups of what they were.
func files(intro string, list []File) string {
	var parts []string
	for _, f := range list {
		part := f.Path
		if f.Removed {
			part += " (removed)"
		} else if f.Backup != "" {
			part += " (backup: " + f.Backup + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return intro + strings.Join(parts, ", ")
}
