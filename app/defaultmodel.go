package app

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"cursortray/proxy/chat"
)

// DefaultModel is the user's choice for requests that leave the choice of the
// model open. It may be read at any time from any goroutine.
type DefaultModel struct{ id atomic.Pointer[string] }

// NewDefaultModel returns the choice that the settings hold; "" is none.
func NewDefaultModel(id string) *DefaultModel {
	d := &DefaultModel{}
	d.set(id)
	return d
}

// ID returns the id of the chosen model; "" leaves the choice to Cursor.
func (d *DefaultModel) ID() string {
	if d == nil || d.id.Load() == nil {
		return ""
	}
	return *d.id.Load()
}

func (d *DefaultModel) set(id string) {
	if LeavesOpen(id) {
		id = ""
	}
	d.id.Store(&id)
}

// LeavesOpen says whether a request with that model leaves the choice to others.
func LeavesOpen(model string) bool {
	switch strings.ToLower(strings.TrimSpace(model)) {
	case "", "auto", "default":
		return true
	}
	return false
}

// request returns req with the chosen model in the place of none.
func (d *DefaultModel) request(req *chat.Request) *chat.Request {
	id := d.ID()
	if id == "" || !LeavesOpen(req.Model) {
		return req
	}
	chosen := *req
	chosen.Model = id
	return &chosen
}

// Mark returns the list with the mark on the chosen model, if it is in there.
// What leaves the choice open is described as what requests for it get: a client
// that shows prices must not show those of Cursor's own choice.
func (d *DefaultModel) Mark(models []chat.Model) []chat.Model {
	at := FindModel(models, d.ID())
	if at < 0 {
		return models
	}
	marked, chosen := slices.Clone(models), models[at]
	for i := range marked {
		m := &marked[i]
		m.Default = i == at
		if LeavesOpen(m.ID) {
			m.Name += ", now " + chosen.Name
			m.Price, m.ContextWindow, m.MaxContextWindow, m.MaxOutput = chosen.Price, chosen.ContextWindow, chosen.MaxContextWindow, chosen.MaxOutput
			m.Images, m.Reasoning = chosen.Images, chosen.Reasoning
		}
	}
	return marked
}

// FindModel returns where the model with that id or alias is in a list, -1 if it
// is not there or the name leaves the choice open.
func FindModel(models []chat.Model, name string) int {
	if LeavesOpen(name) {
		return -1
	}
	at := slices.IndexFunc(models, func(m chat.Model) bool { return m.ID == name })
	if at < 0 {
		at = slices.IndexFunc(models, func(m chat.Model) bool { return slices.Contains(m.Aliases, name) })
	}
	return at
}

// ChooseModelIn returns the id of the model that the user has named for a
// default; "" is Cursor's own choice.
func ChooseModelIn(models []chat.Model, name string) (id string, err error) {
	if LeavesOpen(name) {
		return "", nil
	}
	at := FindModel(models, name)
	if at < 0 {
		return "", chat.Errorf(chat.NotFound, "there is no model %q; `cursortray models` lists them", name)
	}
	return models[at].ID, nil
}

// SetDefaultModel makes a model, by its id or an alias, the one of requests that
// name none, and saves that. It is no Action because its caller waits for the
// result.
func (a *App) SetDefaultModel(ctx context.Context, name string) error {
	if a.cfg.DefaultModel == nil {
		return chat.Errorf(chat.Unavailable, "this cursortray keeps no choice of a model")
	}
	id, err := a.findModel(ctx, name)
	if err != nil {
		return err
	}
	a.cfg.DefaultModel.set(id)
	a.inbox.put((*machine).showDefaultModel)
	if a.cfg.SaveDefaultModel == nil {
		return nil
	}
	if err := a.cfg.SaveDefaultModel(id); err != nil {
		return &chat.Error{Kind: chat.Internal, Err: err, Message: "the choice holds until cursortray ends, because it cannot be saved: " + err.Error()}
	}
	return nil
}

// findModel looks in the account's list, else in that of the back-end.
func (a *App) findModel(ctx context.Context, name string) (id string, err error) {
	if catalog := a.catalog.Load(); catalog != nil {
		if id, err := ChooseModelIn(catalog.Models(), name); err == nil {
			return id, nil
		}
	}
	if LeavesOpen(name) {
		return "", nil
	}
	models, err := a.Models(ctx)
	if err != nil {
		return "", err
	}
	return ChooseModelIn(models, name)
}

// chooseModel is the same for a click, on a model of the list that is shown.
func (m *machine) chooseModel(id string) {
	if m.app.cfg.DefaultModel == nil || m.quitting {
		return
	}
	m.spawn(m.life, func(ctx context.Context) func(*machine) {
		err := chat.AsError(m.app.SetDefaultModel(ctx, id))
		return func(m *machine) {
			switch {
			case err != nil && err.Kind != chat.Canceled:
				m.app.cfg.Logger.Warn("the default model", "problem", err.Message)
				m.notify("Default model: " + err.Message)
			case err == nil && LeavesOpen(id):
				m.notify("Cursor chooses the model of requests for auto")
			case err == nil:
				m.notify(id + " is the default model now")
			}
		}
	})
}

// showDefaultModel moves the mark.
func (m *machine) showDefaultModel() {
	m.snap.Models.Chosen = m.app.cfg.DefaultModel.ID()
	if catalog := m.app.catalog.Load(); catalog != nil {
		m.showModels(m.groupModels(catalog.Models()))
	} else if m.app.cfg.Account == nil {
		m.loadModels(false)
	}
}

// groupModels makes families of a list, with the mark where it belongs.
func (m *machine) groupModels(models []chat.Model) *ModelList {
	list := groupModels(models)
	at := FindModel(models, m.app.cfg.DefaultModel.ID())
	if at < 0 {
		return list
	}
	for i := range list.Families {
		f := &list.Families[i]
		f.Default = f.ID == models[at].ID
		for j := range f.Variants {
			f.Variants[j].Default = f.Variants[j].ID == models[at].ID
		}
	}
	return list
}
