package proxy

import (
	"strings"
	"testing"

	"cursortray/proxy/sse"
)

// chatAnswer is a completion or a chunk of one.
type chatAnswer struct {
	Choices []struct {
		Message, Delta chatMessage
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *struct{}
}

type chatMessage struct {
	Content   string
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func hearChunks(t *testing.T, events []sse.Message) heard {
	var h heard
	for _, e := range events {
		if e.Data != "" && e.Data != "[DONE]" {
			h.addChat(parse[chatAnswer](t, e.Data))
		}
	}
	return h
}

func hearCompletion(t *testing.T, body []byte) heard {
	var h heard
	h.addChat(parse[chatAnswer](t, string(body)))
	return h
}

func (h *heard) addChat(a chatAnswer) {
	for _, choice := range a.Choices {
		h.finish += choice.FinishReason
		for _, m := range []chatMessage{choice.Message, choice.Delta} {
			h.text += m.Content
			h.reasoning += m.Reasoning
			for _, call := range m.ToolCalls {
				if call.ID != "" {
					h.calls = append(h.calls, &heardCall{id: call.ID, name: call.Function.Name})
				}
				h.calls[len(h.calls)-1].arguments += call.Function.Arguments
			}
		}
	}
	if u := a.Usage; u != nil {
		h.usage = &tokens{u.Prompt, u.Details.Cached, u.Completion}
	}
	h.broken = h.broken || a.Error != nil
}

// responseAnswer is a response.
type responseAnswer struct {
	Status     string
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Output     []responseItem
	Usage      *struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	}
}

type responseItem struct {
	Type             string
	Content, Summary []struct{ Text string }
	CallID           string `json:"call_id"`
	Name, Arguments  string
}

// hearResponseEvents believes the deltas and items, not the whole at the end.
func hearResponseEvents(t *testing.T, events []sse.Message) heard {
	var h heard
	for _, m := range events {
		e := parse[struct {
			Type, Delta string
			Item        responseItem
			Response    responseAnswer
		}](t, m.Data)
		switch e.Type {
		case "response.output_text.delta":
			h.text += e.Delta
		case "response.reasoning_summary_text.delta":
			h.reasoning += e.Delta
		case "response.output_item.added":
			h.addCall(e.Item)
		case "response.function_call_arguments.delta":
			h.calls[len(h.calls)-1].arguments += e.Delta
		case "response.completed", "response.incomplete", "response.failed":
			h.endResponse(e.Response)
		}
	}
	return h
}

func hearResponse(t *testing.T, body []byte) heard {
	var h heard
	a := parse[responseAnswer](t, string(body))
	for _, item := range a.Output {
		for _, part := range item.Content {
			h.text += part.Text
		}
		for _, part := range item.Summary {
			h.reasoning += part.Text
		}
		h.addCall(item)
	}
	h.endResponse(a)
	return h
}

func (h *heard) addCall(item responseItem) {
	if strings.HasSuffix(item.Type, "_call") {
		h.calls = append(h.calls, &heardCall{item.CallID, item.Name, item.Arguments})
	}
}

func (h *heard) endResponse(a responseAnswer) {
	switch {
	case a.Status == "failed":
		h.broken = true
	case a.Incomplete != nil && a.Incomplete.Reason == "max_output_tokens":
		h.finish = "length"
	case a.Incomplete != nil:
		h.finish = a.Incomplete.Reason
	case len(h.calls) > 0:
		h.finish = "tool_calls"
	case a.Status == "completed":
		h.finish = "stop"
	}
	if u := a.Usage; u != nil {
		h.usage = &tokens{u.Input, u.Details.Cached, u.Output}
	}
}
