package modellist

import (
	"time"

	"cursortray/proxy/chat"
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
