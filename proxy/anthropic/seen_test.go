package anthropic

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"cursortray/proxy/chat/chattest"
	"cursortray/proxy/sse"
)

// blockSeen is a content block, as a client puts it together.
type blockSeen struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type usageSeen struct {
	Input      *int `json:"input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	Output     *int `json:"output_tokens"`
}

func (u usageSeen) whole() bool {
	return u.Input != nil && u.CacheWrite != nil && u.CacheRead != nil && u.Output != nil
}

// messageSeen is an answer, streamed or not, as a client sees it.
type messageSeen struct {
	ID         string      `json:"id"`
	Type       string      `json:"type"`
	Role       string      `json:"role"`
	Model      string      `json:"model"`
	Content    []blockSeen `json:"content"`
	StopReason *string     `json:"stop_reason"`
	StopText   *string     `json:"stop_sequence"`
	Usage      usageSeen   `json:"usage"`

	first usageSeen // of message_start
	fault string    // type of the error event
	ended bool      // message_stop came
	order []string  // types of the events, repeated ones once
}

// event is any event of a stream.
type event struct {
	Type    string          `json:"type"`
	Index   *int            `json:"index"`
	Message *messageSeen    `json:"message"`
	Block   *blockSeen      `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   *usageSeen      `json:"usage"`
	Error   *struct {
		Type, Message string
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// readStream reads a stream as strictly as the strictest client does.
func readStream(t *testing.T, w *httptest.ResponseRecorder) messageSeen {
	t.Helper()
	all, err := sse.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var r streamReader
	for _, m := range all {
		if m.Comment != "" {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(m.Data), &e); err != nil {
			t.Fatalf("%s: %v", m.Data, err)
		}
		if m.Event != e.Type {
			t.Errorf("the event line says %q, the data %q", m.Event, e.Type)
		}
		if problem := r.next(e); problem != "" {
			t.Fatalf("%s: %s", m.Data, problem)
		}
	}
	return r.messageSeen
}

// streamReader puts a message together and knows what may come next.
type streamReader struct {
	messageSeen
	begun, open bool
	delta       bool // message_delta came
}

func (r *streamReader) next(e event) (problem string) {
	if r.ended || r.fault != "" {
		return "follows the end"
	}
	if n := len(r.order); n == 0 || r.order[n-1] != e.Type {
		r.order = append(r.order, e.Type)
	}
	if r.begun == (e.Type == "message_start") && e.Type != "error" {
		return "message_start is to be the first event and the only one of its kind"
	}
	switch e.Type {
	case "message_start":
		r.begun = true
		r.messageSeen = *e.Message
		r.first, r.order = e.Message.Usage, []string{e.Type}
		if !r.first.whole() || r.StopReason != nil || r.Content == nil || len(r.Content) > 0 {
			return "not the beginning of a message"
		}
	case "content_block_start":
		if r.open || *e.Index != len(r.Content) {
			return "a block within a block, or with a wrong index"
		}
		r.open = true
		r.Content = append(r.Content, *e.Block)
		if e.Block.Type == "tool_use" {
			r.Content[*e.Index].Input = nil
		}
	case "content_block_delta":
		if !r.open || *e.Index != len(r.Content)-1 {
			return "not of the open block"
		}
		return r.Content[*e.Index].add(e.Delta)
	case "content_block_stop":
		if !r.open || *e.Index != len(r.Content)-1 {
			return "not of the open block"
		}
		r.open = false
		if b := r.Content[*e.Index]; b.Type == "thinking" && b.Signature == "" || b.Type == "tool_use" && !json.Valid(b.Input) {
			return "the block is not whole"
		}
	case "message_delta":
		if r.open || r.delta || e.Usage == nil || !e.Usage.whole() {
			return "out of place, or without usage"
		}
		r.delta = true
		r.Usage = *e.Usage
		if err := json.Unmarshal(e.Delta, &r.messageSeen); err != nil || r.StopReason == nil {
			return "no stop reason"
		}
	case "message_stop":
		if !r.delta {
			return "before message_delta"
		}
		r.ended = true
	case "error":
		if e.Error.Message == "" || e.RequestID == "" {
			return "an error without a message or id"
		}
		r.fault = e.Error.Type
	default:
		return "no such event"
	}
	return ""
}

// add takes a delta, which must be of the block's own type.
func (b *blockSeen) add(delta json.RawMessage) (problem string) {
	var d struct {
		Type, Text, Thinking, Signature string
		JSON                            string `json:"partial_json"`
	}
	if err := json.Unmarshal(delta, &d); err != nil {
		return err.Error()
	}
	switch b.Type + " " + d.Type {
	case "text text_delta":
		b.Text += d.Text
	case "thinking thinking_delta":
		if b.Signature != "" {
			return "thinking after its signature"
		}
		b.Thinking += d.Thinking
	case "thinking signature_delta":
		if b.Signature != "" {
			return "a second signature"
		}
		b.Signature = d.Signature
	case "tool_use input_json_delta":
		b.Input = append(b.Input, d.JSON...)
	default:
		return "a delta of another type than its block"
	}
	if d.Text+d.Thinking+d.Signature+d.JSON == "" {
		return "an empty delta"
	}
	return ""
}

func (m messageSeen) joined() (text, thinking string, calls []blockSeen) {
	for _, b := range m.Content {
		text += b.Text
		thinking += b.Thinking
		if b.Type == "tool_use" {
			calls = append(calls, b)
		}
	}
	return text, thinking, calls
}

// readWhole reads an answer that was not streamed.
func readWhole(t *testing.T, w *httptest.ResponseRecorder) messageSeen {
	t.Helper()
	var m messageSeen
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.Type != "message" || m.Role != "assistant" || m.StopReason == nil || !m.Usage.whole() {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return m
}

func streamed(t *testing.T, members string, turn ...chattest.Step) messageSeen {
	t.Helper()
	w := post(newHandler(chattest.New(turn)), body(strings.TrimPrefix(members+`,"stream":true`, ",")))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return readStream(t, w)
}

func whole(t *testing.T, members string, turn ...chattest.Step) messageSeen {
	t.Helper()
	return readWhole(t, post(newHandler(chattest.New(turn)), body(members)))
}
