package simserver

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// tokens is a guess: four characters make one.
func tokens(text string) int { return (len(text) + 3) / 4 }

// systemTokens is the service's own prompt, which stands above everything.
const systemTokens = 2400

// category is a part of the context.
type category struct {
	id, label string
	chars     int
	tokens    int
}

// categories split the context as the service does it.
func (m *memory) categories() []category {
	offered := m.run.tools
	tools := 0
	for _, tool := range offered.tools {
		tools += len(tool.GetName()) + len(tool.GetDescription()) + len(tool.GetInputSchema())
	}
	messages := 0
	for _, message := range m.talk {
		data, _ := json.Marshal(message) // it was encoded before
		messages += len(data)
	}
	list := []category{
		{"system_prompt", "System prompt", systemTokens * 4, systemTokens},
		{"tools", "Tool definitions", tools, (tools + 3) / 4},
		{"rules", "Rules", len(offered.rule), tokens(offered.rule)},
		{"conversation", "Conversation", messages, (messages + 3) / 4},
	}
	return list
}

// size is how many tokens the context has now.
func (m *memory) size() int {
	sum := 0
	for _, c := range m.categories() {
		sum += c.tokens
	}
	return sum
}

// details are the token details of a checkpoint.
func (m *memory) details() *cursorpb.ConversationTokenDetails {
	window := uint32(m.run.sim.window(m.run.request.GetRequestedModel()))
	breakdown := &cursorpb.PromptTokenBreakdownSnapshot{MaxTokens: window}
	for _, c := range m.categories() {
		breakdown.TotalUsedTokens += uint32(c.tokens)
		breakdown.Categories = append(breakdown.Categories, &cursorpb.PromptTokenBreakdownCategory{
			Id: c.id, Label: c.label, EstimatedTokens: uint32(c.tokens), CharacterCount: uint32(c.chars),
		})
	}
	return &cursorpb.ConversationTokenDetails{UsedTokens: breakdown.TotalUsedTokens, MaxTokens: window, Breakdown: breakdown}
}

// save gives the client the state: the blobs first, then what refers to them.
func (m *memory) save() error {
	state := clone(m.state)
	state.RootPromptMessagesJson = m.ids
	state.TokenDetails = m.details()
	if m.user != nil {
		turn := &cursorpb.ConversationTurnStructure{Turn: &cursorpb.ConversationTurnStructure_AgentConversationTurn{
			AgentConversationTurn: &cursorpb.AgentConversationTurnStructure{UserMessage: m.user, Steps: m.steps},
		}}
		raw, err := proto.Marshal(turn)
		if err != nil {
			return fmt.Errorf("encode a turn: %w", err)
		}
		id, err := m.run.SetBlob(raw)
		if err != nil {
			return err
		}
		state.Turns = append(state.Turns, id)
	}
	return m.run.Checkpoint(state)
}

// window is the context window of a model: the one that the client asked for,
// or that of the list.
func (s *Sim) window(model *cursorpb.RequestedModel) int {
	for _, p := range model.GetParameters() {
		if p.GetId() == "context" {
			if n := windowSize(p.GetValue()); n > 0 {
				return n
			}
		}
	}
	var list struct {
		Models []struct {
			Name              string
			ContextTokenLimit int
		}
	}
	if json.Unmarshal(s.Catalog().Available, &list) == nil {
		for _, m := range list.Models {
			if m.Name == model.GetModelId() && m.ContextTokenLimit > 0 {
				return m.ContextTokenLimit
			}
		}
	}
	return 200_000
}

// windowSize reads "200k" and "1m".
func windowSize(text string) int {
	text = strings.ToLower(text)
	for suffix, factor := range map[string]int{"k": 1000, "m": 1_000_000} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return n * factor
			}
		}
	}
	return 0
}
