package app

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

// modelsOld is the age from which a list of models is shown with its age.
const modelsOld = 25 * time.Hour

// ModelsStatus is what there is to know of the models.
type ModelsStatus struct {
	List *ModelList // nil: there is none. It does not change.
	Age  string     // of the list, in words; "" when it is as good as new
	// Problem says why there is no newer list; nil when there is.
	Problem *chat.Error
	// PricesOf is the date of the table of prices, such as "2026-10-10"; "" is
	// not known.
	PricesOf string
	// Chosen is the id of the user's default model; "" leaves it to Cursor. It
	// may be one that the account no longer has.
	Chosen string
}

// ModelList is a list of models.
type ModelList struct {
	Families []Family
	IDs      int // how many there are in all
}

// Family is a model with its variants.
type Family struct {
	ModelEntry
	Variants []ModelEntry
}

// ModelEntry is an id that a request may name. What is not known is empty.
type ModelEntry struct {
	ID        string
	Name      string
	Price     string // of a million tokens, in and out: "$4 / $20"
	Window    int    // tokens
	MaxWindow int    // tokens of the largest window that the family has; 0 when Window is
	Default   bool   // what a request gets that names none
}

// groupModels makes families of a list in which every id names its group.
func groupModels(models []chat.Model) *ModelList {
	list := &ModelList{IDs: len(models)}
	at := map[string]int{}
	for _, m := range models {
		e := ModelEntry{
			ID: m.ID, Name: m.Name, Price: priceLine(m.Price),
			Window: m.ContextWindow, MaxWindow: m.MaxContextWindow, Default: m.Default,
		}
		if i, known := at[m.Group]; known && m.Group != "" {
			list.Families[i].Variants = append(list.Families[i].Variants, e)
			continue
		}
		at[m.Group] = len(list.Families)
		list.Families = append(list.Families, Family{ModelEntry: e})
	}
	return list
}

// loadModels shows the list there is, or with fresh a new one.
func (m *machine) loadModels(fresh bool) {
	account := m.app.cfg.Account
	if m.quitting {
		return
	}
	if account == nil {
		m.loadBackendModels()
		return
	}
	if !m.login.known.SignedIn {
		return
	}
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		get := account.Catalog
		if fresh {
			get = account.RefreshModels
		}
		catalog, err := get(ctx)
		return func(m *machine) { m.modelsRead(catalog, chat.AsError(err)) }
	})
}

// loadBackendModels takes the back-end's own list where there is no account.
func (m *machine) loadBackendModels() {
	backend := m.app.cfg.Backend
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		models, err := backend.Models(ctx)
		return func(m *machine) {
			if err == nil {
				m.showModels(m.groupModels(models))
			}
		}
	})
}

func (m *machine) modelsRead(catalog *cursor.Catalog, problem *chat.Error) {
	if !m.login.known.SignedIn || m.quitting {
		return // somebody has logged out meanwhile
	}
	if catalog != nil {
		m.app.catalog.Store(catalog)
		m.showModels(m.groupModels(catalog.Models()))
	}
	if problem == nil {
		problem = m.app.cfg.Account.ModelStatus().Problem
	}
	m.snap.Models.Problem = kept(m.snap.Models.Problem, problem)
	m.showAges()
}

func (m *machine) showModels(list *ModelList) {
	if table, ok := m.app.cfg.Prices.(interface{ AsOf() string }); ok {
		m.snap.Models.PricesOf = table.AsOf()
	}
	if old := m.snap.Models.List; old == nil || !reflect.DeepEqual(old, list) {
		m.snap.Models.List = list
	}
}

func (m *machine) forgetModels() {
	m.app.catalog.Store(nil)
	m.snap.Models = ModelsStatus{Chosen: m.app.cfg.DefaultModel.ID()}
}

// kept returns the old error if the new one says the same, so that equal
// Snapshots stay equal.
func kept(old, fresh *chat.Error) *chat.Error {
	if old != nil && fresh != nil && old.Kind == fresh.Kind && old.Code == fresh.Code && old.Message == fresh.Message {
		return old
	}
	return fresh
}

func (m *machine) copyModel(id string) {
	m.copyText(func(context.Context) (string, error) { return id, nil }, id+" copied", id+" not copied")
}

// Models lists what requests may name, for people: the back-end's list, or
// the account's where the back-end has none to give.
func (a *App) Models(ctx context.Context) ([]chat.Model, error) {
	models, err := observed{Backend: a.cfg.Backend, app: a}.Models(ctx)
	if catalog := a.catalog.Load(); err != nil && catalog != nil {
		return a.cfg.DefaultModel.Mark(catalog.Models()), nil
	}
	return models, err
}

// Models adds prices and windows to the back-end's list.
func (b observed) Models(ctx context.Context) ([]chat.Model, error) {
	models, err := b.Backend.Models(ctx)
	return b.app.cfg.DefaultModel.Mark(DescribeModels(models, b.app.catalog.Load(), b.app.cfg.Prices)), err
}

// DescribeModels fills in what a list leaves open: from the entries of the same
// ids in the account's catalog, else, for names that the table of prices
// knows, from that. Both may be nil.
func DescribeModels(models []chat.Model, catalog *cursor.Catalog, prices cursor.PriceTable) []chat.Model {
	known := map[string]chat.Model{}
	for _, c := range []*cursor.Catalog{catalogOf(models, prices), catalog} {
		if c == nil {
			continue
		}
		for _, m := range c.Models() {
			for _, id := range append([]string{m.ID}, m.Aliases...) {
				known[id] = m
			}
		}
	}
	described := make([]chat.Model, len(models))
	for i, m := range models {
		if k, ok := known[m.ID]; ok {
			m = fill(m, k)
		}
		described[i] = m
	}
	return described
}

// catalogOf reads the ids as an account's list that has nothing but ids.
func catalogOf(models []chat.Model, prices cursor.PriceTable) *cursor.Catalog {
	type row struct {
		ID string `json:"modelId"`
	}
	var list struct {
		Models []row `json:"models"`
	}
	for _, m := range models {
		list.Models = append(list.Models, row{m.ID})
	}
	text, err := json.Marshal(list)
	if err != nil || prices == nil {
		return nil
	}
	catalog, err := cursor.ParseCatalog(nil, text, nil, time.Time{}, cursor.CatalogConfig{Prices: prices})
	if err != nil {
		return nil
	}
	return catalog
}

// fill takes from known what m does not say.
func fill(m, known chat.Model) chat.Model {
	if m.Price == nil {
		m.Price = known.Price
	}
	if m.ContextWindow == 0 {
		m.ContextWindow, m.MaxContextWindow = known.ContextWindow, known.MaxContextWindow
	}
	if m.Group == "" {
		m.Group = known.Group
	}
	m.Images = m.Images || known.Images
	m.Reasoning = m.Reasoning || known.Reasoning
	return m
}

// ageText tells an age in words.
func ageText(age time.Duration) string {
	switch {
	case age < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(age.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(age.Hours()/24))
}
