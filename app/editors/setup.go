package editors

import (
	"errors"
	"net/url"
	"strings"
)

// Setup is what an editor is to be told: plain values from the caller.
type Setup struct {
	BaseURL string // "http://127.0.0.1:PORT/v1"
	Key     string // the local key of this editor
	Model   string // the model to begin with; among Models
	Small   string // a cheap one for titles and the like; "" = Model
	Models  []Model
	// KeepChoice adds cursortray beside what the editor uses and leaves its
	// chosen model, where the editor can have both.
	KeepChoice bool
}

// Model is one model with what editors want to know of it. Zero is unknown and
// is left out.
type Model struct {
	ID, Name        string
	Context, Output int // tokens
	Images          bool
	Reasoning       bool
	Price           *Price
}

// Price is US dollars per million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

func (m Model) title() string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}

// Var is an environment variable.
type Var struct{ Name, Value string }

// checked returns the setup with what was left out filled in.
func (s Setup) checked() (Setup, error) {
	u, err := url.Parse(s.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !strings.HasSuffix(u.Path, "/v1") {
		return s, errors.New("the base URL must be like http://127.0.0.1:PORT/v1")
	}
	if s.Key == "" || strings.ContainsAny(s.Key, "\r\n\x00") {
		return s, errors.New("there is no local key for this editor")
	}
	if s.Model == "" {
		return s, errors.New("there is no model to set the editor up with")
	}
	if s.Small == "" {
		s.Small = s.Model
	}
	models := append([]Model(nil), s.Models...)
	for _, id := range []string{s.Model, s.Small} {
		if !listed(models, id) {
			models = append(models, Model{ID: id})
		}
	}
	s.Models = models
	return s, nil
}

func listed(models []Model, id string) bool {
	for _, m := range models {
		if m.ID == id {
			return true
		}
	}
	return false
}

func (s Setup) model(id string) Model {
	for _, m := range s.Models {
		if m.ID == id {
			return m
		}
	}
	return Model{ID: id}
}

// root is the address without /v1, which the Messages dialect wants.
func (s Setup) root() string { return strings.TrimSuffix(s.BaseURL, "/v1") }
