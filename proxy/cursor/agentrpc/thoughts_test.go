package agentrpc

import (
	"testing"

	"cursortray/proxy/chat"
)

// Reasoning that a model puts into its text is reasoning for the client, however
// the text is cut; what else looks like a tag is text.
func TestThoughtsInTheText(t *testing.T) {
	for name, c := range map[string]struct{ said, text, reasoning string }{
		"none":             {"Hello <b>you</b>", "Hello <b>you</b>", ""},
		"at the beginning": {"<think>\nhm\n</think>\n\nHello", "Hello", "\nhm\n"},
		"white space":      {"\n <think>a < b </thin</think>Hello", "Hello", "a < b </thin"},
		"in the middle":    {"Use <think>x</think>.", "Use <think>x</think>.", ""},
		"a second time":    {"<think>x</think>a <think>b</think>", "a <think>b</think>", "x"},
		"nothing else":     {"<think>x</think>", "", "x"},
		"without an end":   {"<think>x </thi", "", "x </thi"},
		"half a tag":       {"<thin", "<thin", ""},
		"another tag":      {"<thinking>x</thinking>", "<thinking>x</thinking>", ""},
		"white space only": {" \n", " \n", ""},
	} {
		for size := 1; size <= len(c.said); size++ {
			var split thoughts
			var a answer
			take := func(e chat.Event) {
				switch e := e.(type) {
				case chat.TextDelta:
					a.text += e.Text
				case chat.ReasoningDelta:
					a.reasoning += e.Text
				}
			}
			for rest := c.said; rest != ""; {
				n := min(size, len(rest))
				for _, e := range split.split(rest[:n]) {
					take(e)
				}
				rest = rest[n:]
			}
			take(split.rest())
			want := c.text
			if c.reasoning != "" { // white space behind the tag may come late
				a.text = trimmedStart(a.text)
			}
			if a.text != want || a.reasoning != c.reasoning {
				t.Errorf("%s, %d bytes at a time: got %q and %q", name, size, a.text, a.reasoning)
			}
		}
	}
}

func trimmedStart(text string) string {
	for text != "" && (text[0] == '\n' || text[0] == ' ') {
		text = text[1:]
	}
	return text
}

// Nothing is held back for longer than it may be a tag: a call or the end of the
// turn shows it. The conversation is found again by the text that was shown.
func TestThoughtsInATurn(t *testing.T) {
	checkpointed := checkpointTurn(true)
	b := newBench(t, func(s *session) error {
		for _, text := range []string{"<thi", "nk>hm</thi", "nk>", "And so: "} {
			if err := s.say(text); err != nil {
				return err
			}
		}
		return checkpointed(s)
	})
	req, answers := b.talk(t, words("Hi"), 1)
	if a := answers[0]; a.reasoning != "hm" || a.text != "And so: answer 1" {
		t.Errorf("got %+v", a)
	}
	if b.ask(t, req); b.service.seen()[1].GetConversationId() != b.service.seen()[0].GetConversationId() {
		t.Error("the conversation was not found again")
	}
	half := newBench(t, plainTurn("<th"))
	if a := half.ask(t, words("Hi")); a.text != "<th" || a.err != nil {
		t.Errorf("got %+v", a)
	}
}
