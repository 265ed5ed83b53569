package cursorsim

import (
	"strings"

	"cursortray/proxy/chat"
)

// turnOf reduces a request to what Play looks at.
func turnOf(req *chat.Request) Turn {
	t := Turn{
		Prompt: lastPrompt(req.Messages),
		System: req.System,
		Result: lastResult(req.Messages),
		Must:   req.Choice.Mode == chat.ToolAny || req.Choice.Mode == chat.ToolNamed,
		JSON:   req.Format.JSON,
		Schema: req.Format.Schema,
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if _, ok := p.(chat.ToolUse); ok {
				t.Calls++
			}
		}
	}
	for _, tool := range req.Tools {
		wanted := req.Choice.Mode != chat.ToolNone && (req.Choice.Mode != chat.ToolNamed || tool.Name == req.Choice.Name)
		if wanted {
			t.Tools = append(t.Tools, Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
		}
	}
	return t
}

// lastPrompt is the text of the person's last message that holds any.
func lastPrompt(messages []chat.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != chat.User {
			continue
		}
		if text := joinText(messages[i].Parts, isSpoken); text != "" {
			return text
		}
	}
	return ""
}

// lastResult is the last tool result, nil unless the conversation waits for
// the answer to it: the last message holds it and no new prompt after it.
func lastResult(messages []chat.Message) *string {
	if len(messages) == 0 {
		return nil
	}
	parts := messages[len(messages)-1].Parts
	for i := len(parts) - 1; i >= 0; i-- {
		switch p := parts[i].(type) {
		case chat.Text:
			if isSpoken(p.Text) {
				return nil
			}
		case chat.ToolResult:
			text := joinText(p.Content, isText)
			return &text
		}
	}
	return nil
}

func joinText(parts []chat.Part, counts func(string) bool) string {
	var texts []string
	for _, p := range parts {
		if text, ok := p.(chat.Text); ok && counts(text.Text) {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func isText(text string) bool { return strings.TrimSpace(text) != "" }

// isSpoken tells whether a text comes from the person. Claude Code puts notes
// of its own beside it, about the project for example, between these tags.
func isSpoken(text string) bool {
	return isText(text) && !strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>")
}

// estimate counts the tokens of a request as the simulated model does: four
// bytes each, and a round figure for a picture.
func estimate(req *chat.Request) int {
	const perImage = 1000
	size, images := len(req.System), 0
	for _, tool := range req.Tools {
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	count := func(p chat.Part) {
		switch p := p.(type) {
		case chat.Text:
			size += len(p.Text)
		case chat.Reasoning:
			size += len(p.Text)
		case chat.ToolUse:
			size += len(p.Name) + len(p.Arguments)
		case chat.Image:
			images++
		}
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			count(p)
			if result, ok := p.(chat.ToolResult); ok {
				for _, inner := range result.Content {
					count(inner)
				}
			}
		}
	}
	return size/4 + 1 + images*perImage
}
