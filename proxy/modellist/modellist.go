// Package modellist is the front-end for clients that ask which models there
// are: one list in a form that the readers of all dialects understand at once.
// It neither routes nor checks keys, and knows no back-end. It starts no
// goroutine.
package modellist

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
)

// Handler serves the list and its entries. Its methods may be called by any
// number of goroutines.
type Handler struct {
	run    *turn.Runner
	refuse turn.Refuse
}

// New returns a Handler that answers errors by refuse, which knows the dialect
// of the caller. It starts nothing.
func New(cfg turn.Config, refuse turn.Refuse) *Handler {
	return &Handler{run: turn.NewRunner(cfg), refuse: refuse}
}

// List answers GET /v1/models. Everything is on one page, whatever limit
// and cursor the query asks for.
func (h *Handler) List(w http.ResponseWriter, r *http.Request) {
	models, err := h.run.Models(r.Context())
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	list := modelList{Object: "list", Data: []modelEntry{}}
	for _, m := range models {
		list.Data = append(list.Data, entry(m.ID, m))
	}
	if r.Header.Get("Anthropic-Version") != "" {
		for _, m := range models {
			if !strings.HasPrefix(m.ID, "claude") && !strings.HasPrefix(m.ID, "anthropic") {
				list.Data = append(list.Data, entry(turn.AliasPrefix+m.ID, m))
			}
		}
	}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	h.write(w, r, list)
}

// One answers GET /v1/models/{id}; id is percent-decoded.
func (h *Handler) One(w http.ResponseWriter, r *http.Request, id string) {
	models, err := h.run.Models(r.Context())
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if m := findModel(models, id); m != nil {
		h.write(w, r, entry(id, *m))
		return
	}
	h.refuse(w, r, &chat.Error{
		Kind: chat.NotFound, Param: "model",
		Message: "there is no model " + quoteShort(id) + "; GET /v1/models lists them",
	})
}

// findModel looks for the id as it is before its plain form, and for the ids
// of the list before the other names of its models.
func findModel(models []chat.Model, id string) *chat.Model {
	for _, candidate := range []string{id, turn.PlainModel(id)} {
		for i := range models {
			if models[i].ID == candidate {
				return &models[i]
			}
		}
		for i := range models {
			if slices.Contains(models[i].Aliases, candidate) {
				return &models[i]
			}
		}
	}
	return nil
}

func (h *Handler) write(w http.ResponseWriter, r *http.Request, v any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // it would spell text->text with an escape
	if err := encoder.Encode(v); err != nil {
		h.refuse(w, r, chat.AsError(err))
		return
	}
	turn.WriteJSON(w, http.StatusOK, body.Bytes())
}

// quoteShort quotes foreign text for a message, at a bearable length.
func quoteShort(s string) string {
	const limit = 100
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	return `"` + s + `"`
}
