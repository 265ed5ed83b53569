package tokencount

import "cursortray/proxy/chat"

// What the makers' own counts show around the texts, rounded.
const (
	perRequest = 3
	perMessage = 4 // who speaks, and the ends
	perCall    = 8
	perTool    = 12
)

// walk shows all texts of a request to text, and returns the tokens of what
// is no text.
func walk(req *chat.Request, text func(string)) int {
	extra := perRequest
	if req.System != "" {
		extra += perMessage
		text(req.System)
	}
	for _, tool := range req.Tools {
		extra += perTool
		text(tool.Name)
		text(tool.Description)
		text(string(tool.Schema))
	}
	if req.Format.JSON {
		text(string(req.Format.Schema))
	}
	for _, message := range req.Messages {
		extra += perMessage + walkParts(message.Parts, text)
	}
	return extra
}

func walkParts(parts []chat.Part, text func(string)) int {
	extra := 0
	for _, part := range parts {
		switch p := part.(type) {
		case chat.Text:
			text(p.Text)
		case chat.Reasoning:
			text(p.Text)
		case chat.Image:
			extra += picture(p)
		case chat.ToolUse:
			extra += perCall
			text(p.Name)
			text(p.Arguments)
		case chat.ToolResult:
			extra += perCall + walkParts(p.Content, text)
		}
	}
	return extra
}
