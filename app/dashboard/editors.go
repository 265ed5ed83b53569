package dashboard

import (
	"context"
	"time"

	"cursortray/app"
)

func editorsPage() *page {
	return &page{
		name: "editors", title: "Editors and keys",
		parts: []string{"editors.key", "editors.found", "editors.text", "editors.others"},
		view:  (*Dashboard).editorsOf,
		opens: app.LookForEditors{},
	}
}

// Manuals tells how editors are set up by hand.
type Manuals interface {
	// ByHand returns what a person writes where to set the editor up. Without
	// key a stand-in takes the place of the key, and none is made.
	ByHand(ctx context.Context, id string, key bool) (ByHand, error)
}

// editor is what is known of one editor.
type editor struct {
	ID, Name string
	Found    bool // it seems to be installed
	State    string
	Mood     string
	SetUp    bool // there is something to undo
	CanSetUp bool // it has files to edit
	Keyed    bool // it has a key of its own
	Off      bool // its key is not accepted
	LastUsed time.Time
	Runs     int // in the last 24 hours
}

func editorOf(e app.EditorStatus) editor {
	one := editor{
		ID: e.ID, Name: e.Name, Found: e.Found, State: e.State, Keyed: e.Keyed, Off: e.Off, LastUsed: e.LastUsed, Runs: e.Runs,
		CanSetUp: e.State != "by hand" && e.State != "",
	}
	switch e.State {
	case "set up":
		one.SetUp, one.Mood = true, "good"
	case "changed":
		one.SetUp, one.Mood, one.State = true, "busy", "changed since"
	case "broken":
		one.Mood, one.State = "bad", "its settings cannot be read"
	}
	one.SetUp = one.SetUp || e.Keyed
	return one
}

func editorsIn(s app.Snapshot) []editor {
	if s.Editors == nil {
		return nil
	}
	var list []editor
	for _, e := range s.Editors.All {
		list = append(list, editorOf(e))
	}
	return list
}

// ByHand is how to set an editor up without cursortray's help.
type ByHand struct {
	Texts []Text
	Steps []string
}

// Text is what to put where.
type Text struct{ For, Body string }

// revealed is what one answer shows of secrets, because the visitor has asked
// for it by a button. It is in no page that is sent without that.
type revealed struct {
	key    string // the main key
	editor string // whose text has the key in it
}

type editorsView struct {
	Known   bool
	HasKey  bool
	Key     string
	BaseURL string
	Found   []editor
	Others  []editor
	Text    *editorText
}

// editorText is the part that shows how to set one editor up by hand.
type editorText struct {
	ID, Name string
	ByHand
	WithKey bool
	Problem string
}

func (d *Dashboard) editorsOf(v *visit) any {
	e := editorsView{Known: v.snap.Editors != nil, HasKey: d.cfg.Keys != nil, Key: v.revealed.key, BaseURL: v.snap.Proxy.BaseURL}
	wanted := v.query.Get("editor")
	for _, one := range editorsIn(v.snap) {
		if one.Found || one.SetUp {
			e.Found = append(e.Found, one)
		} else {
			e.Others = append(e.Others, one)
		}
		if one.ID == wanted && d.cfg.Manuals != nil {
			e.Text = d.textOf(v, one)
		}
	}
	return e
}

func (d *Dashboard) textOf(v *visit, e editor) *editorText {
	t := &editorText{ID: e.ID, Name: e.Name, WithKey: v.revealed.editor == e.ID}
	var err error
	if t.ByHand, err = d.cfg.Manuals.ByHand(v.ctx, e.ID, t.WithKey); err != nil {
		t.Problem = sentence(message(err))
	}
	return t
}
