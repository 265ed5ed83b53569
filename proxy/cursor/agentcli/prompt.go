package agentcli

import (
	"encoding/json"
	"strings"

	"cursortray/proxy/chat"
)

// maxPrompt is the longest prompt handed to the CLI. Prompts are never cut.
const maxPrompt = 10 << 20

// saveImage puts a picture where the CLI can read it and returns its path.
type saveImage func(chat.Image) (path string, err error)

// buildPrompt writes a whole conversation as the one text that the CLI reads
// from standard input. A nil save means that there is no place for pictures:
// a request that has one is refused, since the CLI takes none on standard
// input and dropping one in silence would falsify the answer.
//
// The text begins with a header and so never with "&" or "/", which the CLI
// would take for orders of its own.
func buildPrompt(req *chat.Request, save saveImage) (string, *chat.Error) {
	w := promptWriter{save: save, names: callNames(req.Messages)}
	w.b.Grow(promptSize(req))
	w.b.WriteString("SYSTEM:")
	w.line(req.System)
	w.line(formatRule(req.Format))
	w.block(toolSection(req))
	for _, m := range req.Messages {
		w.message(m)
	}
	return w.finish(req.Messages)
}

// deltaPrompt writes only what is new in a conversation that the CLI already
// holds: the last user message, or the trailing tool results after the calls
// they answer. It reports false when the end of the conversation is anything
// else, or holds a picture; then the whole prompt must be sent to a new chat.
func deltaPrompt(req *chat.Request) (string, bool) {
	cut := lastAssistant(req.Messages) + 1
	tail := req.Messages[cut:]
	w := promptWriter{names: callNames(req.Messages)}
	switch {
	case len(tail) == 1 && onlyText(tail[0].Parts):
	case len(tail) > 0 && cut > 0 && answersOnly(req.Messages[cut-1], tail):
		w.message(chat.Message{Role: chat.Assistant, Parts: toolUses(req.Messages[cut-1].Parts)})
	default:
		return "", false
	}
	for _, m := range tail {
		w.message(m)
	}
	w.block(strings.Join(nonEmpty(choiceRule(req), formatRule(req.Format)), "\n"))
	text, err := w.finish(req.Messages)
	return text, err == nil && text != ""
}

// promptWriter joins blocks by blank lines.
type promptWriter struct {
	b     strings.Builder
	save  saveImage
	names map[string]string // tool names by call id
	err   *chat.Error
}

func (w *promptWriter) block(text string) {
	if text == "" {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteString("\n\n")
	}
	w.b.WriteString(text)
}

// line adds to the block that is being written.
func (w *promptWriter) line(text string) {
	if text != "" {
		w.b.WriteByte('\n')
		w.b.WriteString(text)
	}
}

// message writes one block per speaker in a message: a tool result is a block
// of its own. Thinking of earlier turns is left out; the CLI has no place for
// it. A message without anything to say leaves no block.
func (w *promptWriter) message(m chat.Message) {
	header := "USER:"
	if m.Role == chat.Assistant {
		header = "ASSISTANT:"
	}
	open := false
	say := func(text string) {
		if !open {
			w.block(header)
			open = true
		}
		w.line(text)
	}
	for _, part := range m.Parts {
		switch p := part.(type) {
		case chat.Text:
			if p.Text != "" {
				say(p.Text)
			}
		case chat.Image:
			say(w.image(p))
		case chat.ToolUse:
			say("tool_call(id: " + p.ID + ", name: " + p.Name + ", args: " + callArgs(p.Arguments) + ")")
		case chat.ToolResult:
			open = false
			w.result(p)
		}
	}
}

// result writes the text of a result byte for byte: models copy it into later
// writes, so anything added would end up in files.
func (w *promptWriter) result(r chat.ToolResult) {
	name := w.names[r.CallID]
	if name == "" {
		name = "unknown"
	}
	header := "TOOL_RESULT (name: " + name + ", call_id: " + r.CallID
	if r.Failed {
		header += ", failed: true"
	}
	w.block(header + "):")
	for _, part := range r.Content {
		switch p := part.(type) {
		case chat.Text:
			w.line(p.Text)
		case chat.Image:
			w.line(w.image(p))
		}
	}
}

// image saves a picture and returns the words that stand for it.
func (w *promptWriter) image(img chat.Image) string {
	if w.err != nil {
		return ""
	}
	if w.save == nil {
		w.err = &chat.Error{
			Kind:    chat.Invalid,
			Param:   "messages",
			Message: "this back-end cannot take pictures here: Cursor's CLI reads text only; send the request without the picture",
		}
		return ""
	}
	path, err := w.save(img)
	if err != nil {
		w.err = &chat.Error{
			Kind: chat.Unavailable, Code: codeNoFolder, Err: err,
			Message: "A picture of the request could not be stored for Cursor's CLI: " + systemReason(err) + ". Make room on the disk, or send the request without the picture.",
		}
		return ""
	}
	return "[The user attached a picture. It is the file " + path + "; look at it with your own read tool before you answer.]"
}

// finish closes the prompt.
func (w *promptWriter) finish(messages []chat.Message) (string, *chat.Error) {
	if w.err != nil {
		return "", w.err
	}
	if endsWithResult(messages) {
		w.block("The tool calls above were executed and these are their results. Go on with the answer.")
	}
	if w.b.Len() > maxPrompt {
		return "", chat.Errorf(chat.TooLarge, "the conversation is larger than the 10 MB that can be handed to Cursor's CLI; shorten it or start a new one")
	}
	return w.b.String(), nil
}

// callArgs shows arguments as JSON whatever the client made of them.
func callArgs(args string) string {
	switch {
	case strings.TrimSpace(args) == "":
		return "{}"
	case !json.Valid([]byte(args)):
		return string(quoteJSON(args))
	}
	return args
}

func formatRule(f chat.Format) string {
	switch {
	case !f.JSON:
		return ""
	case f.Schema == nil:
		return "Answer with one JSON object and nothing else: no prose around it, no code fence."
	}
	return "Answer with one JSON value and nothing else: no prose around it, no code fence. It must match this JSON Schema: " + string(f.Schema)
}

func callNames(messages []chat.Message) map[string]string {
	names := make(map[string]string)
	for _, m := range messages {
		for _, part := range m.Parts {
			if use, ok := part.(chat.ToolUse); ok {
				names[use.ID] = use.Name
			}
		}
	}
	return names
}

// promptSize is about the length of the prompt, to build it without copying.
func promptSize(req *chat.Request) int {
	n := len(req.System) + 1024
	for _, tool := range req.Tools {
		n += len(tool.Name) + len(tool.Description) + len(tool.Schema) + 64
	}
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			n += 64
			switch p := part.(type) {
			case chat.Text:
				n += len(p.Text)
			case chat.ToolUse:
				n += len(p.Arguments)
			case chat.ToolResult:
				for _, c := range p.Content {
					if t, ok := c.(chat.Text); ok {
						n += len(t.Text)
					}
				}
			}
		}
	}
	return n
}

// lastAssistant returns the index of the model's last message, -1 for none.
func lastAssistant(messages []chat.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == chat.Assistant {
			return i
		}
	}
	return -1
}

func onlyText(parts []chat.Part) bool {
	for _, part := range parts {
		if _, ok := part.(chat.Text); !ok {
			return false
		}
	}
	return true
}

// answersOnly reports whether tail is nothing but textual results of calls
// that m made.
func answersOnly(m chat.Message, tail []chat.Message) bool {
	asked := callNames([]chat.Message{m})
	for _, t := range tail {
		for _, part := range t.Parts {
			r, ok := part.(chat.ToolResult)
			if !ok || !onlyText(r.Content) || asked[r.CallID] == "" {
				return false
			}
		}
	}
	return true
}

func toolUses(parts []chat.Part) []chat.Part {
	var uses []chat.Part
	for _, part := range parts {
		if use, ok := part.(chat.ToolUse); ok {
			uses = append(uses, use)
		}
	}
	return uses
}

func endsWithResult(messages []chat.Message) bool {
	for i := len(messages) - 1; i >= 0; i-- {
		if parts := messages[i].Parts; len(parts) > 0 {
			_, ok := parts[len(parts)-1].(chat.ToolResult)
			return ok
		}
	}
	return false
}

func nonEmpty(texts ...string) []string {
	var list []string
	for _, text := range texts {
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}
