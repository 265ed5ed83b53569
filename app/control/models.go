package control

import (
	"encoding/json"
	"net/http"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// Model is one entry of `cursortray models --json`.
type Model struct {
	ID               string   `json:"id"`                           // what a request names
	Name             string   `json:"name"`                         // for people
	Group            string   `json:"group,omitempty"`              // the id of the model that it is a variant of
	Aliases          []string `json:"aliases,omitempty"`            // other names that a request may use
	ContextWindow    int      `json:"context_window,omitempty"`     // tokens; absent when not known
	MaxContextWindow int      `json:"max_context_window,omitempty"` // tokens of the largest window of the group, if larger
	MaxOutput        int      `json:"max_output,omitempty"`         // tokens; absent when not known
	Price            *Price   `json:"price,omitempty"`              // absent when not known, which is not free
	Images           bool     `json:"images"`                       // takes pictures
	Reasoning        bool     `json:"reasoning"`                    // shows its thinking
	Default          bool     `json:"default"`                      // what a request gets that names none
}

// Price is in dollars per million tokens, as exact decimal texts; what is not
// known is absent.
type Price struct {
	Input      string `json:"input,omitempty"`
	Output     string `json:"output,omitempty"`
	CacheRead  string `json:"cache_read,omitempty"`
	CacheWrite string `json:"cache_write,omitempty"`
}

// ModelsOf translates a list.
func ModelsOf(models []chat.Model) []Model {
	list := []Model{} // an empty list is [] in JSON
	for _, m := range models {
		entry := Model{
			ID: m.ID, Name: m.Name, Group: m.Group, Aliases: m.Aliases, ContextWindow: m.ContextWindow,
			MaxContextWindow: m.MaxContextWindow, MaxOutput: m.MaxOutput,
			Images: m.Images, Reasoning: m.Reasoning, Default: m.Default,
		}
		if p := m.Price; p != nil {
			entry.Price = &Price{
				Input: app.PerMillion(p.Input), Output: app.PerMillion(p.Output),
				CacheRead: app.PerMillion(p.CacheRead), CacheWrite: app.PerMillion(p.CacheWrite),
			}
		}
		list = append(list, entry)
	}
	return list
}

// ChatModels translates a list back.
func ChatModels(list []Model) []chat.Model {
	var models []chat.Model
	for _, m := range list {
		entry := chat.Model{
			ID: m.ID, Name: m.Name, Group: m.Group, Aliases: m.Aliases, ContextWindow: m.ContextWindow,
			MaxContextWindow: m.MaxContextWindow, MaxOutput: m.MaxOutput,
			Images: m.Images, Reasoning: m.Reasoning, Default: m.Default,
		}
		if p := m.Price; p != nil {
			entry.Price = &chat.Price{
				Input: perToken(p.Input), Output: perToken(p.Output), CacheRead: perToken(p.CacheRead), CacheWrite: perToken(p.CacheWrite),
			}
		}
		models = append(models, entry)
	}
	return models
}

// perToken undoes app.PerMillion: an exact decimal number with an exponent.
func perToken(perMillion string) string {
	if perMillion == "" {
		return ""
	}
	return perMillion + "e-6"
}

type modelBody struct {
	Model string `json:"model"`
}

func (s *server) defaultModel(w http.ResponseWriter, r *http.Request) {
	var body modelBody
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, maxKeyBody)).Decode(&body) != nil {
		refuse(w, chat.Errorf(chat.Invalid, "which model?"))
		return
	}
	if err := s.cfg.Account.SetDefaultModel(r.Context(), body.Model); err != nil {
		refuse(w, err)
		return
	}
	s.models(w, r)
}

func (s *server) models(w http.ResponseWriter, r *http.Request) {
	models, err := s.cfg.Models(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, ModelsOf(models))
}
