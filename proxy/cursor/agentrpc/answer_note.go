package agentrpc

import (
	"slices"
	"strings"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

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

// moveNote puts the user's words beside the results where they are best off:
// with a tool of the client, else with text that is no file, else where they
// can only travel as what a hook adds. Results that no work waits for take
// nothing: they are not sent.
func moveNote(results []chat.ToolResult, waiting func(id string) (pendingExec, bool)) []chat.ToolResult {
	last := len(results) - 1
	if last < 0 {
		return results
	}
	own, note := splitNote(results[last].Content)
	if note == nil {
		return results
	}
	best, top := last, 0
	for i, r := range results {
		if p, ok := waiting(r.CallID); ok && p.suits() >= top {
			best, top = i, p.suits()
		}
	}
	moved := slices.Clone(results)
	moved[last].Content = own
	moved[best].Content = slices.Concat(moved[best].Content, []chat.Part{chat.Text{}}, note)
	return moved
}

// suits says how well the user's words fit beside the result.
func (p pendingExec) suits() int {
	switch {
	case p.exec.GetMcpArgs() != nil:
		return 3
	case p.exec.GetAcceptHookAdditionalContexts() || takesNote(p.exec):
		return 2
	}
	return 1
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
