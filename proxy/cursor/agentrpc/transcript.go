package agentrpc

import (
	"strings"

	"cursortray/proxy/chat"
)

// transcript tells a history as text, for a service that refused it in any
// other form. The marks are such that a model does not take them for a way to
// write itself.
func transcript(messages []chat.Message) string {
	var b strings.Builder
	names := map[string]string{}
	block := func(head, text string) {
		if text != "" {
			b.WriteString("<" + head + ">\n" + text + "\n</" + strings.Fields(head)[0] + ">\n")
		}
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case chat.Text:
				block(speaker(m.Role), valid(part.Text))
			case chat.Image:
				block(speaker(m.Role), "[a picture]")
			case chat.ToolUse:
				names[part.ID] = valid(part.Name)
				block("earlier_tool_call name=\""+valid(part.Name)+"\"", valid(part.Arguments))
			case chat.ToolResult:
				block("earlier_tool_result name=\""+names[part.CallID]+"\"", resultText(part))
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<conversation_so_far>\n" + b.String() + "</conversation_so_far>\n" +
		"The conversation so far stands above, for you to know. Do not repeat its form; answer what follows.\n\n"
}

func speaker(role chat.Role) string {
	if role == chat.Assistant {
		return "your_earlier_answer"
	}
	return "user"
}

func resultText(r chat.ToolResult) string {
	c := readContent(r)
	if c.text == "" {
		return noOutput
	}
	return c.text
}
