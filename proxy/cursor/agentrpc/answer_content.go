package agentrpc

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
)

// Limits on what one result may carry. Larger ones fill the model's window for
// the rest of the conversation.
const (
	maxResultText   = 512 << 10
	maxResultImages = 16 << 20
	noOutput        = "(no output)"
)

// content is a client's result as the native kinds need it.
type content struct {
	text   string // valid UTF-8, at most maxResultText bytes
	cut    bool   // text ends with a notice that the rest is missing
	image  *chat.Image
	failed bool
	class  clienttool.Outcome
}

// readContent also decides whether a result tells of a failure. The dialects of
// most clients have no flag for it, so the text decides, but only a short one:
// a file that begins with the word "error" is no failure.
func readContent(result chat.ToolResult) content {
	c := content{class: clienttool.Success}
	parts, cut := gather(result.Content)
	c.cut = cut
	var texts []string
	for _, part := range parts {
		switch part := part.(type) {
		case chat.Text:
			texts = append(texts, part.Text)
		case chat.Image:
			if c.image == nil {
				c.image = &part
			}
		}
	}
	c.text = strings.Join(texts, "\n")
	class, _ := clienttool.Classify(result)
	if result.Failed || class != clienttool.Success && shortMessage(c.text) {
		c.failed, c.class = true, class
	}
	return c
}

// shortMessage tells a message about a failure from content.
func shortMessage(text string) bool {
	return len(text) <= 2000 && strings.Count(strings.TrimSpace(text), "\n") < 12
}

// gather joins neighbouring texts by a newline and keeps the pictures that fit.
// What is left out is said in the text; cut tells of left out text.
func gather(parts []chat.Part) (kept []chat.Part, cut bool) {
	var texts []string
	room, images, dropped := maxResultText, maxResultImages, 0
	flush := func() {
		if len(texts) == 0 {
			return
		}
		text, short := capText(strings.Join(texts, "\n"), room)
		kept = append(kept, chat.Text{Text: text})
		texts, room, cut = nil, room-len(text), cut || short
	}
	for _, part := range parts {
		switch part := part.(type) {
		case chat.Text:
			if part.Text != "" {
				texts = append(texts, part.Text)
			}
		case chat.Image:
			if len(part.Data) > images {
				dropped++
				continue
			}
			images -= len(part.Data)
			flush()
			kept = append(kept, part)
		}
	}
	if dropped > 0 {
		texts = append(texts, fmt.Sprintf("[%d pictures of this result were left out: they are too large]", dropped))
	}
	flush()
	return kept, cut
}

// capText makes a text fit for the wire. It stays as it came unless there is
// not enough room; then a notice at its end says so, so that nobody takes it
// for the whole.
func capText(text string, room int) (capped string, cut bool) {
	text = valid(text)
	if len(text) <= room {
		return text, false
	}
	notice := fmt.Sprintf("\n\n[cut here: the result has %d bytes, of which the first part is shown; ask for a smaller part]", len(text))
	end := max(room-len(notice), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + notice, true
}
