package proxy

import (
	"encoding/json"
	"testing"

	"cursortray/proxy/sse"
)

// messageAnswer is a message of Anthropic's dialect, or an event of one.
type messageAnswer struct {
	Type  string
	Block messageBlock `json:"content_block"`
	Delta struct {
		Text, Thinking string
		JSON           string `json:"partial_json"`
		StopReason     string `json:"stop_reason"`
	}
	Content    []messageBlock
	StopReason string `json:"stop_reason"`
	Usage      *struct {
		Input      int `json:"input_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
		Output     int `json:"output_tokens"`
	}
}

type messageBlock struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
}

// stopReasons translates into the words of chat completions.
var stopReasons = map[string]string{"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}

func hearMessageEvents(t *testing.T, events []sse.Message) heard {
	var h heard
	for _, e := range events {
		m := parse[messageAnswer](t, e.Data)
		h.broken = h.broken || e.Event == "error"
		h.text += m.Delta.Text
		h.reasoning += m.Delta.Thinking
		h.finish += stopReasons[m.Delta.StopReason]
		if m.Block.Type == "tool_use" {
			h.calls = append(h.calls, &heardCall{id: m.Block.ID, name: m.Block.Name})
		}
		if m.Delta.JSON != "" {
			h.calls[len(h.calls)-1].arguments += m.Delta.JSON
		}
		h.addMessageUsage(m)
	}
	return h
}

func hearMessage(t *testing.T, body []byte) heard {
	m := parse[messageAnswer](t, string(body))
	h := heard{finish: stopReasons[m.StopReason], broken: m.Type == "error"}
	for _, b := range m.Content {
		h.text += b.Text
		h.reasoning += b.Thinking
		if b.Type == "tool_use" {
			h.calls = append(h.calls, &heardCall{b.ID, b.Name, string(b.Input)})
		}
	}
	h.addMessageUsage(m)
	return h
}

func (h *heard) addMessageUsage(m messageAnswer) {
	if u := m.Usage; u != nil {
		h.usage = &tokens{u.Input + u.CacheRead + u.CacheWrite, u.CacheRead, u.Output}
	}
}
