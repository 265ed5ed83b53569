package editors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"cursortray/app/confedit"
)

// Doer sends a request: an *http.Client. It may be called from any goroutine.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Answer is what the model said when the editor's call was made.
type Answer struct {
	URL, Model, Text string
}

// ErrNoAnswer says that nothing answered at the address.
var ErrNoAnswer = errors.New("no answer")

// Refusal is an answer with a status that is not 200.
type Refusal struct {
	Status  int
	Message string // the server's; "" if it gave none
}

func (r *Refusal) Error() string {
	if r.Message != "" {
		return fmt.Sprintf("the answer was %d: %s", r.Status, r.Message)
	}
	return fmt.Sprintf("the answer was %d %s", r.Status, http.StatusText(r.Status))
}

// ErrNotInFile says that the editor's file lacks what the editor needs.
var ErrNotInFile = errors.New("cursortray is not in the file")

// Check makes one small real call the way the editor would: with the address,
// key and model that stand in its file, in its dialect. What its file does not
// hold (a key in a keychain, a model chosen in a dialog) comes from s.
func (m *Manager) Check(ctx context.Context, client Doer, id string, s Setup) (Answer, error) {
	e, err := m.editor(id)
	if err != nil {
		return Answer{}, err
	}
	if s, err = s.checked(); err != nil {
		return Answer{}, err
	}
	base := s.BaseURL
	if e.dialect == messages {
		base = s.root()
	}
	for _, v := range m.variants(e) {
		if v.says == nil {
			continue
		}
		if base, err = v.read(&s, base); err != nil {
			return Answer{}, fmt.Errorf("%s: %w", v.path, err)
		}
	}
	answer := Answer{URL: e.dialect.url(base), Model: s.Model}
	answer.Text, err = e.dialect.ask(ctx, client, answer.URL, s.Key, s.Model)
	return answer, err
}

// read takes the editor's point of view: what its file says counts.
func (v variant) read(s *Setup, base string) (string, error) {
	data, err := readFile(v.path)
	if err != nil {
		return "", err
	}
	tree, err := confedit.Decode(v.format, data)
	if err != nil {
		return "", err
	}
	at := v.says(*s)
	for _, value := range []struct {
		path   confedit.Path
		into   *string
		prefix string
		needed bool
	}{{at.base, &base, "", true}, {at.key, &s.Key, "", true}, {at.model, &s.Model, at.prefix, false}} {
		if value.path == nil {
			continue
		}
		found, _ := confedit.Get(tree, value.path)
		text, _ := found.(string)
		mine := text != "" && strings.HasPrefix(text, value.prefix)
		switch {
		case mine:
			*value.into = strings.TrimPrefix(text, value.prefix)
		case value.needed:
			return "", fmt.Errorf("%w (no %s)", ErrNotInFile, value.path)
		}
	}
	return base, nil
}

// dialect is how an editor talks.
type dialect int

const (
	chatCompletions dialect = iota
	responses
	messages
)

func (d dialect) url(base string) string {
	path := map[dialect]string{chatCompletions: "/chat/completions", responses: "/responses", messages: "/v1/messages"}[d]
	return strings.TrimSuffix(strings.TrimSuffix(base, "/"), path) + path
}

const question = "Reply with the single word: ready"

// wireRequest is the request of any dialect; each uses some of the fields.
type wireRequest struct {
	Model     string        `json:"model"`
	Stream    bool          `json:"stream"`
	MaxTokens int           `json:"max_tokens,omitempty"`
	Messages  []wireMessage `json:"messages,omitempty"`
	Input     []wireMessage `json:"input,omitempty"`
}

type wireMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (d dialect) body(model string) wireRequest {
	req := wireRequest{Model: model, Stream: true}
	user := []wireMessage{{"user", question}}
	switch d {
	case responses:
		req.Input = user
	case messages:
		req.Messages, req.MaxTokens = user, 64
	default:
		req.Messages = user
	}
	return req
}

func (d dialect) ask(ctx context.Context, client Doer, url, key, model string) (string, error) {
	body, err := json.Marshal(d.body(model))
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	if d == messages {
		req.Header.Set("anthropic-version", "2023-06-01")
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusOK {
		return "", refusal(resp.StatusCode, data)
	}
	if err != nil {
		return "", fmt.Errorf("the answer broke off: %w", err)
	}
	return answerText(data)
}

// wireEvent is the part of the events of all three dialects that is read here.
type wireEvent struct {
	Type    string          `json:"type"`
	Error   *wireError      `json:"error"`
	Delta   json.RawMessage `json:"delta"`
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Response struct {
		Error *wireError `json:"error"`
	} `json:"response"`
}

type wireError struct {
	Message string `json:"message"`
}

func refusal(status int, body []byte) error {
	var e wireEvent
	r := &Refusal{Status: status}
	if json.Unmarshal(body, &e) == nil && e.Error != nil {
		r.Message = e.Error.Message
	}
	return r
}

// answerText puts the text of a stream together. Silence, an error on the way
// and a stream without its end are no success.
func answerText(stream []byte) (string, error) {
	var text strings.Builder
	ended := false
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		if !ok {
			continue
		}
		var e wireEvent
		if json.Unmarshal([]byte(data), &e) != nil {
			continue // [DONE]
		}
		for _, err := range []*wireError{e.Error, e.Response.Error} {
			if err != nil {
				return "", errors.New("the answer was an error: " + err.Message)
			}
		}
		for _, c := range e.Choices {
			text.WriteString(c.Delta.Content)
			ended = ended || c.FinishReason != ""
		}
		text.WriteString(e.deltaText())
		ended = ended || e.Type == "response.completed" || e.Type == "message_stop"
	}
	switch answer := strings.TrimSpace(text.String()); {
	case !ended:
		return "", errors.New("the answer broke off")
	case answer == "":
		return "", errors.New("the answer was empty")
	default:
		return answer, nil
	}
}

// deltaText reads the delta of Responses (a text) and of Messages (an object).
func (e wireEvent) deltaText() string {
	switch e.Type {
	case "response.output_text.delta":
		var text string
		if json.Unmarshal(e.Delta, &text) == nil {
			return text
		}
	case "content_block_delta":
		var delta struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(e.Delta, &delta) == nil {
			return delta.Text
		}
	}
	return ""
}
