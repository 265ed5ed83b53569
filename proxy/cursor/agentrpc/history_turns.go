package agentrpc

import (
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// rebuiltTurns writes the same history once more as the turns that the service
// keeps its books with. Nothing of it reaches the prompt. It returns the ids of
// the turns and all the blobs.
func rebuiltTurns(messages []chat.Message) (ids [][]byte, blobs []blob) {
	var turn *cursorpb.AgentConversationTurnStructure
	put := func(m proto.Message) []byte {
		data, err := cursorpb.Codec{}.Marshal(m)
		if err != nil {
			return nil
		}
		b := newBlob(data)
		blobs = append(blobs, b)
		return b.id
	}
	end := func() {
		if turn != nil {
			ids = append(ids, put(&cursorpb.ConversationTurnStructure{
				Turn: &cursorpb.ConversationTurnStructure_AgentConversationTurn{AgentConversationTurn: turn}}))
		}
	}
	results := resultsByCall(messages)
	for i, m := range messages {
		if words := userText(m); m.Role == chat.User && words != "" {
			end()
			turn = &cursorpb.AgentConversationTurnStructure{UserMessage: put(&cursorpb.UserMessage{
				Text: words, MessageId: derivedUUID(fmt.Sprint("turn ", i, words)), Mode: cursorpb.AgentMode_AGENT_MODE_AGENT})}
		}
		if m.Role != chat.Assistant || turn == nil {
			continue
		}
		for _, part := range m.Parts {
			if step := turnStep(part, results); step != nil {
				turn.Steps = append(turn.Steps, put(step))
			}
		}
	}
	end()
	return ids, blobs
}

func turnStep(part chat.Part, results map[string]chat.ToolResult) *cursorpb.ConversationStep {
	switch part := part.(type) {
	case chat.Text:
		if part.Text == "" {
			return nil
		}
		return &cursorpb.ConversationStep{Message: &cursorpb.ConversationStep_AssistantMessage{
			AssistantMessage: &cursorpb.AssistantMessage{Text: valid(part.Text)}}}
	case chat.ToolUse:
		result, ok := results[part.ID]
		return &cursorpb.ConversationStep{Message: &cursorpb.ConversationStep_ToolCall{
			ToolCall: &cursorpb.ToolCall{Tool: &cursorpb.ToolCall_McpToolCall{McpToolCall: encodeCall(part, result, ok)}}}}
	}
	return nil
}

// Fields of the display form of a call: arguments and result, and the success in
// the result.
const (
	callArgsField    = 1
	callResultField  = 2
	callSuccessField = 1
)

func encodeCall(use chat.ToolUse, result chat.ToolResult, answered bool) []byte {
	args := &cursorpb.McpArgs{
		Name: modelsPrefix + valid(use.Name), ToolName: valid(use.Name), ToolCallId: valid(use.ID),
		ProviderIdentifier: provider, Args: map[string][]byte{},
	}
	for key, value := range decodeSchema(encodeJSON(callArguments(use.Arguments))) {
		encoded, err := cursorpb.Codec{}.Marshal(protoValue(value))
		if err != nil {
			encoded, _ = cursorpb.Codec{}.Marshal(structpb.NewNullValue())
		}
		args.Args[valid(key)] = encoded
	}
	call := appendMessage(nil, callArgsField, args)
	if answered {
		success := toolAnswer(result, nil).GetMcpResult().GetSuccess()
		call = protowire.AppendTag(call, callResultField, protowire.BytesType)
		call = protowire.AppendBytes(call, appendMessage(nil, callSuccessField, success))
	}
	return call
}

func appendMessage(dst []byte, field protowire.Number, m proto.Message) []byte {
	encoded, err := cursorpb.Codec{}.Marshal(m)
	if err != nil {
		return dst
	}
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendBytes(dst, encoded)
}

// resultsByCall has the last result of each id.
func resultsByCall(messages []chat.Message) map[string]chat.ToolResult {
	results := map[string]chat.ToolResult{}
	for _, m := range messages {
		for _, part := range m.Parts {
			if r, ok := part.(chat.ToolResult); ok {
				results[r.CallID] = r
			}
		}
	}
	return results
}

// derivedUUID has the form of a random UUID but is the same for the same text.
func derivedUUID(text string) string {
	b := sha256.Sum256([]byte(text))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
