package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
)

// modelsSince is when every model is said to have been created. Nobody knows it,
// and clients that compare lists want the same value at every start.
var modelsSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// modelEntry is one model in the forms of all readers at once. Unknown figures
// are left out: 0 would read as "free" or "no context".
type modelEntry struct {
	// OpenAI
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	// Anthropic
	Type        string `json:"type"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
	// OpenRouter
	Name                string       `json:"name"`
	ContextLength       int          `json:"context_length,omitempty"`
	Architecture        architecture `json:"architecture"`
	Pricing             *pricing     `json:"pricing,omitempty"`
	TopProvider         *topProvider `json:"top_provider,omitempty"`
	SupportedParameters []string     `json:"supported_parameters"`
	// LiteLLM and Anthropic
	MaxInputTokens  int `json:"max_input_tokens,omitempty"`
	MaxOutputTokens int `json:"max_output_tokens,omitempty"`
	MaxTokens       int `json:"max_tokens,omitempty"`
	// Groq and vLLM
	ContextWindow int `json:"context_window,omitempty"`
	MaxModelLen   int `json:"max_model_len,omitempty"`
}

type architecture struct {
	InputModalities  []string `json:"input_modalities"`
	OutputModalities []string `json:"output_modalities"`
	Modality         string   `json:"modality"`
}

// pricing is in dollars per token, as decimal texts.
type pricing struct {
	Prompt          string `json:"prompt,omitempty"`
	Completion      string `json:"completion,omitempty"`
	InputCacheRead  string `json:"input_cache_read,omitempty"`
	InputCacheWrite string `json:"input_cache_write,omitempty"`
}

type topProvider struct {
	ContextLength       int `json:"context_length,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
}

type modelList struct {
	Object  string       `json:"object"`
	Data    []modelEntry `json:"data"`
	HasMore bool         `json:"has_more"`
	FirstID *string      `json:"first_id"`
	LastID  *string      `json:"last_id"`
}

// entry describes m under the given id, which may be an alias.
func entry(id string, m chat.Model) modelEntry {
	e := modelEntry{
		ID: id, Object: "model", Created: modelsSince.Unix(), OwnedBy: "cursor",
		Type: "model", DisplayName: m.Name, CreatedAt: modelsSince.Format(time.RFC3339),
		Name: m.Name, ContextLength: m.ContextWindow,
		Architecture: architecture{
			InputModalities: []string{"text"}, OutputModalities: []string{"text"}, Modality: "text->text",
		},
		SupportedParameters: []string{"tools", "tool_choice", "parallel_tool_calls", "stop", "response_format"},
		MaxInputTokens:      m.ContextWindow, MaxOutputTokens: m.MaxOutput, MaxTokens: m.MaxOutput,
		ContextWindow: m.ContextWindow, MaxModelLen: m.ContextWindow,
	}
	if m.Images {
		e.Architecture.InputModalities = append(e.Architecture.InputModalities, "image")
		e.Architecture.Modality = "text+image->text"
	}
	if m.Reasoning {
		e.SupportedParameters = append(e.SupportedParameters, "reasoning", "reasoning_effort")
	}
	if m.ContextWindow > 0 || m.MaxOutput > 0 {
		e.TopProvider = &topProvider{ContextLength: m.ContextWindow, MaxCompletionTokens: m.MaxOutput}
	}
	if p := m.Price; p != nil && *p != (chat.Price{}) {
		e.Pricing = &pricing{
			Prompt: p.Input, Completion: p.Output, InputCacheRead: p.CacheRead, InputCacheWrite: p.CacheWrite,
		}
	}
	return e
}

// Models answers GET /v1/models. Everything is on one page, whatever limit
// and cursor the query asks for.
func (h *Handler) Models(w http.ResponseWriter, r *http.Request) {
	models, err := h.run.Models(r.Context())
	if err != nil {
		WriteError(w, r, err)
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
	writeModels(w, r, list)
}

// Model answers GET /v1/models/{id}; id is percent-decoded.
func (h *Handler) Model(w http.ResponseWriter, r *http.Request, id string) {
	models, err := h.run.Models(r.Context())
	if err != nil {
		WriteError(w, r, err)
		return
	}
	if m := findModel(models, id); m != nil {
		writeModels(w, r, entry(id, *m))
		return
	}
	WriteError(w, r, &chat.Error{
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

func writeModels(w http.ResponseWriter, r *http.Request, v any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // it would spell text->text with an escape
	if err := encoder.Encode(v); err != nil {
		WriteError(w, r, chat.AsError(err))
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
