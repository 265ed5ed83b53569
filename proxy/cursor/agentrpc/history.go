package agentrpc

import (
	"encoding/base64"
	"slices"
	"strconv"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// The service makes the prompt of messages in JSON, each a blob that it asks
// the client for. Their shape was seen in checkpoints of 2026. It drops
// messages of the role "system", which is why the system text travels in the
// request context.
type promptMessage struct {
	Role    string `json:"role"` // user, assistant or tool
	Content []any  `json:"content"`
}

type promptText struct {
	Type string `json:"type"` // text
	Text string `json:"text"`
}

type promptImage struct {
	Type      string `json:"type"` // image
	Image     string `json:"image"`
	MediaType string `json:"mediaType"`
}

type promptCall struct {
	Type string `json:"type"` // tool-call
	ID   string `json:"toolCallId"`
	Name string `json:"toolName"` // as the model sees it
	Args any    `json:"args"`
}

type promptResult struct {
	Type    string `json:"type"` // tool-result
	ID      string `json:"toolCallId"`
	Name    string `json:"toolName"`
	Result  string `json:"result"`
	IsError bool   `json:"isError"`
}

// maxHistoryImage bounds pictures of earlier turns, which travel with every
// rebuilt conversation.
const maxHistoryImage = 5 << 20

// history turns messages into prompt messages. Calls and results are matched by
// id in the order of the conversation, since clients use some ids twice; the
// model gets an id of its own for each.
type history struct {
	messages []promptMessage
	open     []openCall      // the last calls that have no result yet
	ids      map[string]bool // given to the model
	pictures []chat.Image    // of results, to be shown behind all of them
}

type openCall struct{ clientsID, id, name string }

// rebuiltState returns a conversation state that stands for the messages, with
// the blobs of the prompt, which the service always asks for, and its others.
// The state of nothing is empty.
func rebuiltState(messages []chat.Message) (state []byte, prompt, others []blob) {
	messagesInPrompt := promptMessages(messages)
	if len(messagesInPrompt) == 0 {
		return []byte{}, nil, nil
	}
	structure := &cursorpb.ConversationStateStructure{Mode: cursorpb.AgentMode_AGENT_MODE_AGENT.Enum()}
	for _, m := range messagesInPrompt {
		b := newBlob(encodeJSON(m))
		prompt = append(prompt, b)
		structure.RootPromptMessagesJson = append(structure.RootPromptMessagesJson, b.id)
	}
	structure.Turns, others = rebuiltTurns(messages)
	state, err := cursorpb.Codec{}.Marshal(structure)
	if err != nil { // it holds ids only, which can always be encoded
		return []byte{}, nil, nil
	}
	return state, prompt, others
}

func promptMessages(messages []chat.Message) []promptMessage {
	h := history{ids: map[string]bool{}}
	for _, m := range messages {
		if m.Role == chat.Assistant {
			h.assistant(m)
		} else {
			h.user(m)
		}
	}
	h.closeCalls()
	return h.messages
}

// add puts content behind the last message of the same role, else in a new one.
func (h *history) add(role string, content ...any) {
	if last := len(h.messages) - 1; last >= 0 && h.messages[last].Role == role {
		h.messages[last].Content = append(h.messages[last].Content, content...)
		return
	}
	h.messages = append(h.messages, promptMessage{Role: role, Content: content})
}

// assistant leaves out reasoning: no place is known for it, and what one model
// thought is of no use to another.
func (h *history) assistant(m chat.Message) {
	for _, part := range m.Parts {
		switch part := part.(type) {
		case chat.Text:
			if part.Text != "" {
				h.closeCalls()
				h.add("assistant", promptText{"text", valid(part.Text)})
			}
		case chat.ToolUse:
			if last := len(h.messages) - 1; last < 0 || h.messages[last].Role != "assistant" {
				h.closeCalls() // the calls before belong to an earlier step
			}
			call := openCall{clientsID: part.ID, id: h.uniqueID(part.ID), name: modelsPrefix + valid(part.Name)}
			h.open = append(h.open, call)
			h.add("assistant", promptCall{"tool-call", call.id, call.name, callArguments(part.Arguments)})
		}
	}
}

// user writes results before words. A result without its call is dropped: the
// providers behind the service refuse it.
func (h *history) user(m chat.Message) {
	var words []any
	for _, part := range m.Parts {
		switch part := part.(type) {
		case chat.ToolResult:
			h.result(part)
		case chat.Text:
			if part.Text != "" {
				words = append(words, promptText{"text", valid(part.Text)})
			}
		case chat.Image:
			words = append(words, picture(part))
		}
	}
	if len(words) > 0 {
		h.closeCalls()
		h.add("user", words...)
	}
}

func (h *history) result(r chat.ToolResult) {
	i := slices.IndexFunc(h.open, func(call openCall) bool { return call.clientsID == r.CallID })
	if i < 0 {
		return
	}
	call := h.open[i]
	h.open = slices.Delete(h.open, i, i+1)
	c := readContent(r)
	if c.text == "" {
		c.text = noOutput
	}
	h.add("tool", promptResult{"tool-result", call.id, call.name, c.text, r.Failed})
	for _, part := range r.Content {
		if image, ok := part.(chat.Image); ok {
			h.pictures = append(h.pictures, image)
		}
	}
}

// closeCalls ends a round of calls: those without a result get one that says
// so, since the providers refuse them, too. Pictures come behind the results,
// as the user's.
func (h *history) closeCalls() {
	for _, call := range h.open {
		h.add("tool", promptResult{"tool-result", call.id, call.name, "(no result was given)", true})
	}
	for _, image := range h.pictures {
		h.add("user", promptText{"text", "Picture in a tool's result:"}, picture(image))
	}
	h.open, h.pictures = nil, nil
}

// uniqueID keeps the client's id where it can.
func (h *history) uniqueID(id string) string {
	id = valid(id)
	if id == "" {
		id = "call"
	}
	unique := id
	for n := 2; h.ids[unique]; n++ {
		unique = id + "_" + strconv.Itoa(n)
	}
	h.ids[unique] = true
	return unique
}

func picture(image chat.Image) any {
	if len(image.Data) > maxHistoryImage {
		return promptText{"text", "[a picture of an earlier turn was left out: it is too large]"}
	}
	mime := valid(image.MIME)
	return promptImage{"image", "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(image.Data), mime}
}

// callArguments returns arguments as a JSON object whatever the client made of
// them.
func callArguments(arguments string) any {
	if object := decodeObject(valid(arguments)); object != nil {
		return object
	}
	if arguments == "" {
		return struct{}{}
	}
	return map[string]string{"arguments": valid(arguments)}
}
