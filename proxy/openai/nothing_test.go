package openai

import (
	"strings"
	"testing"
)

// A history without anything in it is not empty: the message says what lacks.
func TestHistoryWithoutContent(t *testing.T) {
	for members, want := range map[string]string{
		`"messages":[]`: "messages must not be empty",
		`"messages":[{"role":"user","content":""}]`:    "messages has nothing for a model to answer",
		`"messages":[{"role":"user","content":[]}]`:    "messages has nothing for a model to answer",
		`"messages":[{"role":"assistant","name":"x"}]`: "messages has nothing for a model to answer",
	} {
		if _, err := decodeChat([]byte(body(members)), nil); err == nil || !strings.HasPrefix(err.Message, want) {
			t.Errorf("%s: %v, want %q", members, err, want)
		}
	}
	for members, want := range map[string]string{
		`"input":""`:                             "input must not be empty",
		`"input":[]`:                             "input must not be empty",
		`"input":[{"role":"user","content":""}]`: "input has nothing for a model to answer",
		`"input":[{"type":"reasoning","summary":[]}]`: "input has nothing for a model to answer",
	} {
		if _, err := decodeResponses([]byte(askResponse(members)), nil, nil); err == nil || !strings.HasPrefix(err.Message, want) {
			t.Errorf("%s: %v, want %q", members, err, want)
		}
	}
}
