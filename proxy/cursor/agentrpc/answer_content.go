package agentrpc

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
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
	images, dropped := 0, 0
	for _, part := range parts {
		switch part := part.(type) {
		case chat.Text:
			if part.Text != "" {
				kept = appendText(kept, part.Text)
			}
		case chat.Image:
			if images+len(part.Data) > maxResultImages {
				dropped++
				continue
			}
			images += len(part.Data)
			kept = append(kept, part)
		}
	}
	room := maxResultText
	for i, part := range kept {
		if t, ok := part.(chat.Text); ok {
			text, short := capText(t.Text, room)
			kept[i] = chat.Text{Text: text}
			room -= len(text)
			cut = cut || short
		}
	}
	if dropped > 0 {
		kept = append(kept, chat.Text{Text: fmt.Sprintf("[%d pictures of this result were left out: they are too large]", dropped)})
	}
	return kept, cut
}

func appendText(parts []chat.Part, text string) []chat.Part {
	if last := len(parts) - 1; last >= 0 {
		if before, ok := parts[last].(chat.Text); ok {
			parts[last] = chat.Text{Text: before.Text + "\n" + text}
			return parts
		}
	}
	return append(parts, chat.Text{Text: text})
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

// What the user said beside the results of tools travels in a wrapper, so that
// the model does not take it for output.
const (
	noteOpen  = "<user_message>\n"
	noteClose = "\n</user_message>"
)

// newResults returns the results in the messages that follow the last message
// of the assistant. Text of the user that stands beside them is appended to the
// last one, so that it reaches the model.
func newResults(messages []chat.Message) []chat.ToolResult {
	var results []chat.ToolResult
	var texts []string
	var images []chat.Part
	for _, m := range messages[lastTurn(messages):] {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case chat.ToolResult:
				results = append(results, part)
			case chat.Text:
				if strings.TrimSpace(part.Text) != "" {
					texts = append(texts, part.Text)
				}
			case chat.Image:
				images = append(images, part)
			}
		}
	}
	if last := len(results) - 1; last >= 0 && (len(texts) > 0 || len(images) > 0) {
		// An empty text marks the note as ours; no client sends one.
		note := append([]chat.Part{chat.Text{}, chat.Text{Text: noteOpen + strings.Join(texts, "\n") + noteClose}}, images...)
		results[last].Content = append(results[last].Content[:len(results[last].Content):len(results[last].Content)], note...)
	}
	return results
}

// lastTurn is the index behind the last message of the assistant.
func lastTurn(messages []chat.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == chat.Assistant {
			return i + 1
		}
	}
	return 0
}

// splitNote takes the user's words off the end of a result.
func splitNote(parts []chat.Part) (own, note []chat.Part) {
	for i := len(parts) - 1; i > 0; i-- {
		t, ok := parts[i].(chat.Text)
		if !ok {
			continue
		}
		if mark, ok := parts[i-1].(chat.Text); ok && mark.Text == "" && strings.HasPrefix(t.Text, noteOpen) && strings.HasSuffix(t.Text, noteClose) {
			return parts[:i-1], parts[i:]
		}
		break
	}
	return parts, nil
}

// place puts the user's words where they do no harm. The text of most results
// takes them at its end, but not that of a file: the service writes it back when
// it edits. There, and where a result has no text, they travel as what a hook
// adds.
func (p pendingExec) place(c *content, note []chat.Part) []*cursorpb.HookAdditionalContext {
	var words string
	kept, _ := gather(note)
	for _, part := range kept {
		if t, ok := part.(chat.Text); ok {
			words = t.Text
		}
	}
	switch {
	case words == "":
		return nil
	case p.exec.GetAcceptHookAdditionalContexts() || !c.failed && !takesNote(p.exec):
		return []*cursorpb.HookAdditionalContext{{HookEventName: "user_message", Content: words}}
	}
	if c.text != "" {
		c.text += "\n\n"
	}
	c.text += words
	return nil
}

// takesNote tells whether a successful result has text that is neither a file
// nor a list.
func takesNote(exec *cursorpb.ExecServerMessage) bool {
	switch exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_ReadArgs, *cursorpb.ExecServerMessage_PiReadArgs,
		*cursorpb.ExecServerMessage_WriteArgs, *cursorpb.ExecServerMessage_DeleteArgs,
		*cursorpb.ExecServerMessage_GrepArgs, *cursorpb.ExecServerMessage_LsArgs:
		return false
	}
	return true
}
