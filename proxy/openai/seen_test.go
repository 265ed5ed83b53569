package openai

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
)

// chunk is what the tests read of one.
type chunk struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []struct {
		Index        *int    `json:"index"`
		FinishReason *string `json:"finish_reason"`
		Delta        struct {
			Role      *string `json:"role"`
			Content   *string `json:"content"`
			Reasoning *string `json:"reasoning_content"`
			ToolCalls []struct {
				Index    *int    `json:"index"`
				ID       *string `json:"id"`
				Type     *string `json:"type"`
				Function struct {
					Name      *string `json:"name"`
					Arguments *string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error *struct {
		Message, Type, Code string
	} `json:"error"`
}

// answer is what a client makes of a stream, or of a whole answer.
type answerSeen struct {
	text, reasoning string
	ids, names      []string
	arguments       []string
	finish          string
	usage           string
	fault           string // code of the error event
	ended           bool   // [DONE] came
	chunks          []chunk
}

func readStream(t *testing.T, w *httptest.ResponseRecorder) answerSeen {
	t.Helper()
	messages, err := sse.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var seen answerSeen
	for _, m := range messages {
		if seen.ended || seen.fault != "" {
			t.Errorf("%+v follows the end", m)
		}
		if m.Comment != "" {
			continue
		}
		if m.Data == "[DONE]" {
			seen.ended = true
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(m.Data), &c); err != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
		seen.chunks = append(seen.chunks, c)
		seen.add(t, c)
	}
	return seen
}

func (a *answerSeen) add(t *testing.T, c chunk) {
	if c.Error != nil {
		a.fault = c.Error.Code
		return
	}
	if len(c.Usage) > 0 {
		a.usage = string(c.Usage)
	}
	for _, choice := range c.Choices {
		if choice.FinishReason != nil {
			a.finish += *choice.FinishReason
		}
		if choice.Delta.Content != nil {
			a.text += *choice.Delta.Content
		}
		if choice.Delta.Reasoning != nil {
			a.reasoning += *choice.Delta.Reasoning
		}
		for _, call := range choice.Delta.ToolCalls {
			if call.ID != nil {
				if *call.Index != len(a.ids) {
					t.Errorf("call %s has the index %d, want %d", *call.ID, *call.Index, len(a.ids))
				}
				a.ids, a.names, a.arguments = append(a.ids, *call.ID), append(a.names, *call.Function.Name), append(a.arguments, "")
			}
			a.arguments[*call.Index] += *call.Function.Arguments
		}
	}
}

// readWhole reads an answer that was not streamed into the same form.
func readWhole(t *testing.T, w *httptest.ResponseRecorder) answerSeen {
	t.Helper()
	var body struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string `json:"content"`
				Reasoning string `json:"reasoning_content"`
				ToolCalls []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.Choices) != 1 {
		t.Fatalf("%s: %v", w.Body, err)
	}
	choice := body.Choices[0]
	seen := answerSeen{
		text: choice.Message.Content, reasoning: choice.Message.Reasoning, finish: choice.FinishReason,
		usage: string(body.Usage), ended: true,
	}
	for _, call := range choice.Message.ToolCalls {
		seen.ids, seen.names = append(seen.ids, call.ID), append(seen.names, call.Function.Name)
		seen.arguments = append(seen.arguments, call.Function.Arguments)
	}
	return seen
}

func streamed(t *testing.T, members string, turn ...chattest.Step) answerSeen {
	t.Helper()
	w := post(newHandler(chattest.New(turn)), body(strings.TrimPrefix(members+`,"stream":true`, ",")))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return readStream(t, w)
}
