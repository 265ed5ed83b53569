package agentrpc

import (
	"strings"

	"cursortray/proxy/chat"
)

// thoughts takes the reasoning out of answers in which it is text: some models
// begin with it, between <think> and </think>. Tags anywhere else are a part of
// what is said. The zero value waits for the first text.
type thoughts struct {
	inside bool   // the first tag came
	past   bool   // nothing is looked for any more
	held   string // what may be a part of a tag
}

const (
	thoughtsBegin = "<think>"
	thoughtsEnd   = "</think>"
	whiteSpace    = " \t\r\n"
)

// split returns what a piece of text is for the client.
func (t *thoughts) split(text string) (events []chat.Event) {
	if t.past {
		return []chat.Event{chat.TextDelta{Text: text}}
	}
	text, t.held = t.held+text, ""
	if !t.inside {
		begun := strings.TrimLeft(text, whiteSpace)
		rest, tagged := strings.CutPrefix(begun, thoughtsBegin)
		switch {
		case strings.HasPrefix(thoughtsBegin, begun): // or no word at all
			t.held = text
			return nil
		case !tagged:
			t.past = true
			return []chat.Event{chat.TextDelta{Text: text}}
		}
		t.inside, text = true, rest
	}
	thought, said, ended := strings.Cut(text, thoughtsEnd)
	if !ended {
		thought = text[:len(text)-partOf(thoughtsEnd, text)]
		t.held = text[len(thought):]
	}
	if thought != "" {
		events = append(events, chat.ReasoningDelta{Text: thought})
	}
	if ended {
		t.past = true
		if said = strings.TrimLeft(said, whiteSpace); said != "" {
			events = append(events, chat.TextDelta{Text: said})
		}
	}
	return events
}

// rest returns what was held back, nil for nothing: something else follows, so
// that it was no tag.
func (t *thoughts) rest() chat.Event {
	text := t.held
	t.held = ""
	switch {
	case text == "":
		return nil
	case t.inside:
		return chat.ReasoningDelta{Text: text}
	}
	return chat.TextDelta{Text: text}
}

// partOf returns how many bytes at the end of text may be the beginning of tag.
func partOf(tag, text string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}
