package simserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/cursor/cursorpb"
	"cursortray/proxy/cursor/cursorsim"
)

// Demo plays a whole turn by itself: the scripted model of cursorsim, which
// calls a tool of the client if one fits, goes on with its result, and leaves a
// state behind that the next turn goes on from.
func Demo() Step {
	return func(r *Run) error {
		if err := Opening()(r); err != nil {
			return err
		}
		m, err := r.recall()
		if err != nil {
			return err
		}
		if err := m.turn(); err != nil {
			return err
		}
		if err := m.save(); err != nil {
			return err
		}
		cached := min(m.before, m.input)
		return r.end(Count(int64(m.input), int64(m.output), int64(cached), 0, int64(m.reasoning)))
	}
}

// memory is a conversation as the demo's model has it.
type memory struct {
	run   *Run
	state *cursorpb.ConversationStateStructure
	talk  []promptMessage // all messages, also those of this turn
	ids   [][]byte        // their blobs, so far as they were given to the client
	steps [][]byte        // blobs of this turn's steps
	user  []byte          // blob of this turn's message

	before                   int // tokens of the turns before
	input, output, reasoning int
	calls                    int
}

// promptMessage is a message as the service keeps it in a blob.
type promptMessage struct {
	Role    string       `json:"role"`
	Content []promptPart `json:"content"`
}

// promptPart is a part of it: text, tool-call, tool-result or image.
type promptPart struct {
	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Result     any             `json:"result,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Image      string          `json:"image,omitempty"`
	MediaType  string          `json:"mediaType,omitempty"`
}

// UnmarshalJSON also takes content that is plain text.
func (m *promptMessage) UnmarshalJSON(text []byte) error {
	var wire struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	m.Role = wire.Role
	var plain string
	if json.Unmarshal(wire.Content, &plain) == nil {
		m.Content = []promptPart{{Type: "text", Text: plain}}
		return nil
	}
	return json.Unmarshal(wire.Content, &m.Content)
}

func (m promptMessage) text() string {
	text := ""
	for _, part := range m.Content {
		text += part.Text
	}
	return text
}

// recall reads what came before from the blobs of the client, and takes this
// turn's message in.
func (r *Run) recall() (*memory, error) {
	m := &memory{run: r, state: &cursorpb.ConversationStateStructure{}}
	if err := proto.Unmarshal(r.request.GetConversationState(), m.state); err != nil {
		return nil, &RunError{Code: "invalid_argument", Message: "parse binary: the conversation state"}
	}
	ahead := map[string][]byte{}
	for _, blob := range r.request.GetPreFetchedBlobs() {
		ahead[string(blob.GetId())] = blob.GetValue()
	}
	for _, id := range m.state.GetRootPromptMessagesJson() {
		data, ok := ahead[string(id)]
		if !ok {
			var err error
			if data, ok, err = r.GetBlob(id); err != nil {
				return nil, err
			}
		}
		var message promptMessage
		if !ok || json.Unmarshal(data, &message) != nil {
			return nil, Failure("blob not found")
		}
		m.talk, m.ids = append(m.talk, message), append(m.ids, id)
		m.before += tokens(string(data))
	}
	return m, m.hear()
}

// hear takes the user's message in, if this turn has one.
func (m *memory) hear() error {
	said := m.run.request.GetAction().GetUserMessageAction().GetUserMessage()
	if said == nil {
		return nil
	}
	for _, image := range said.GetSelectedContext().GetSelectedImages() {
		if id := image.GetBlobId(); id != nil {
			if _, ok, err := m.run.GetBlob(id); err != nil || !ok {
				return Failure("image not found")
			}
		}
	}
	raw, err := proto.Marshal(said)
	if err != nil {
		return fmt.Errorf("encode the user's message: %w", err)
	}
	if m.user, err = m.run.SetBlob(raw); err != nil {
		return err
	}
	return m.add(promptMessage{Role: "user", Content: []promptPart{{Type: "text", Text: said.GetText()}}})
}

// add appends a message and gives it to the client to keep.
func (m *memory) add(message promptMessage) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	id, err := m.run.SetBlob(data)
	if err != nil {
		return err
	}
	m.talk, m.ids = append(m.talk, message), append(m.ids, id)
	return nil
}

// addStep gives the client a step of the turn to keep.
func (m *memory) addStep(step *cursorpb.ConversationStep) error {
	raw, err := proto.Marshal(step)
	if err != nil {
		return fmt.Errorf("encode a step: %w", err)
	}
	id, err := m.run.SetBlob(raw)
	m.steps = append(m.steps, id)
	return err
}

// turn plays until the model makes no more calls.
func (m *memory) turn() error {
	for {
		m.input += m.size()
		next, err := m.play(cursorsim.Play(m.now()))
		if err != nil || len(next) == 0 {
			return err
		}
		if err := m.call(next); err != nil {
			return err
		}
		if err := m.save(); err != nil {
			return err
		}
	}
}

// now is what the scripted model knows.
func (m *memory) now() cursorsim.Turn {
	offered := m.run.tools
	turn := cursorsim.Turn{System: offered.rule}
	turn.JSON, turn.Schema = jsonRule(offered.rule)
	for _, tool := range offered.tools {
		var schema structpb.Value
		var text json.RawMessage
		if proto.Unmarshal(tool.GetInputSchema(), &schema) == nil {
			text, _ = schema.MarshalJSON() // nil takes any object
		}
		turn.Tools = append(turn.Tools, cursorsim.Tool{Name: tool.GetToolName(), Description: tool.GetDescription(), Schema: text})
	}
	for i, message := range m.talk {
		switch message.Role {
		case "user":
			if !m.goesOn(i) {
				turn.Prompt, turn.Results = message.text(), nil
			}
		case "assistant":
			for _, part := range message.Content {
				if part.Type == "tool-call" {
					turn.Calls++
				}
			}
		case "tool":
			for _, part := range message.Content {
				turn.Results = append(turn.Results, fmt.Sprint(part.Result))
			}
		}
	}
	return turn
}

// jsonRule tells whether the rules ask for JSON, and of which form. A model
// understands any words; this one knows those that agentrpc uses.
func jsonRule(rule string) (asked bool, schema json.RawMessage) {
	_, form, asked := strings.Cut(rule, "Answer with one JSON ")
	_, text, _ := strings.Cut(form, "JSON Schema: ")
	if json.NewDecoder(strings.NewReader(text)).Decode(&schema) != nil {
		schema = nil // any object
	}
	return asked, schema
}

// goesOn tells that a message only asks to go on with the results before it: a
// client whose run was lost brings them in its history, and such a message
// because there must be one.
func (m *memory) goesOn(i int) bool {
	return i > 0 && m.talk[i-1].Role == "tool" && strings.HasPrefix(m.talk[i].text(), "Continue.")
}

// play sends the steps up to the calls, which it returns.
func (m *memory) play(steps []cursorsim.Step) (calls []cursorsim.Call, err error) {
	pace := m.run.rules.Pace
	for _, step := range steps {
		switch step := step.(type) {
		case cursorsim.Think:
			if err := Steps(Words(Thinking, step.Text, pace), ThinkingDone(pace))(m.run); err != nil {
				return nil, err
			}
			m.reasoning += tokens(step.Text)
			m.output += tokens(step.Text)
			if err := m.addStep(&cursorpb.ConversationStep{Message: &cursorpb.ConversationStep_ThinkingMessage{ThinkingMessage: &cursorpb.ThinkingMessage{Text: step.Text}}}); err != nil {
				return nil, err
			}
		case cursorsim.Say:
			if err := Steps(Words(Text, step.Text, pace), TokenDelta(tokens(step.Text)))(m.run); err != nil {
				return nil, err
			}
			m.output += tokens(step.Text)
			if err := m.addStep(&cursorpb.ConversationStep{Message: &cursorpb.ConversationStep_AssistantMessage{AssistantMessage: &cursorpb.AssistantMessage{Text: step.Text}}}); err != nil {
				return nil, err
			}
			if err := m.add(promptMessage{Role: "assistant", Content: []promptPart{{Type: "text", Text: step.Text}}}); err != nil {
				return nil, err
			}
		case cursorsim.Call:
			calls = append(calls, step)
		}
	}
	return calls, nil
}

// call makes the calls, in one piece of the stream, and takes their results in.
func (m *memory) call(calls []cursorsim.Call) error {
	var asked []*Exec
	err := m.run.framed(&framing{joined: true}, func(r *Run) error {
		for _, call := range calls {
			m.output += tokens(string(call.Arguments))
			m.calls++
			e, err := r.Call(ToolCall{Name: call.Name, Arguments: string(call.Arguments)})
			if err != nil {
				return err
			}
			asked = append(asked, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	said, heard := promptMessage{Role: "assistant"}, promptMessage{Role: "tool"}
	for i, e := range asked {
		answer, err := e.Wait()
		if err != nil {
			return err
		}
		id, call := answer.Request.GetMcpArgs().GetToolCallId(), calls[i]
		said.Content = append(said.Content, promptPart{Type: "tool-call", ToolCallID: id, ToolName: call.Name, Args: call.Arguments})
		heard.Content = append(heard.Content, promptPart{Type: "tool-result", ToolCallID: id, ToolName: call.Name, Result: answer.Text()})
	}
	if err := m.add(said); err != nil {
		return err
	}
	return m.add(heard)
}
