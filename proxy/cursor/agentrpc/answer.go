package agentrpc

import (
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// pendingExec is a request for work that has no answer yet, with all that the
// answer needs.
type pendingExec struct {
	id     uint32
	execID string
}

// answer returns the messages that give the service the client's result: the
// typed result, or events, and then the stream close.
func (p pendingExec) answer(result chat.ToolResult) []*cursorpb.AgentClientMessage {
	var content []*cursorpb.McpToolResultContentItem
	for _, part := range result.Content {
		if t, ok := part.(chat.Text); ok {
			content = append(content, &cursorpb.McpToolResultContentItem{Content: &cursorpb.McpToolResultContentItem_Text{
				Text: &cursorpb.McpTextContent{Text: t.Text}}})
		}
	}
	return p.with(&cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpResult{
		McpResult: &cursorpb.McpResult{Result: &cursorpb.McpResult_Success{
			Success: &cursorpb.McpSuccess{Content: content, IsError: result.Failed}}}}})
}

// refuse returns the messages that say that the work was not done, and why.
func (p pendingExec) refuse(reason string) []*cursorpb.AgentClientMessage {
	return p.throw(reason, "")
}

// heartbeat says that the work is still being done.
func (p pendingExec) heartbeat() *cursorpb.AgentClientMessage {
	return control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_Heartbeat{
		Heartbeat: &cursorpb.ExecClientHeartbeat{Id: p.id}}})
}

// with completes a result with the ids of its request and the stream close.
func (p pendingExec) with(result *cursorpb.ExecClientMessage) []*cursorpb.AgentClientMessage {
	result.Id, result.ExecId = p.id, p.execID
	return []*cursorpb.AgentClientMessage{
		{Message: &cursorpb.AgentClientMessage_ExecClientMessage{ExecClientMessage: result}},
		p.close(),
	}
}

// throw fails the work as a whole.
func (p pendingExec) throw(reason, code string) []*cursorpb.AgentClientMessage {
	throw := &cursorpb.ExecClientThrow{Id: p.id, Error: reason}
	if code != "" {
		throw.ErrorCode = proto.String(code)
	}
	return []*cursorpb.AgentClientMessage{
		control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_Throw{Throw: throw}}),
		p.close(),
	}
}

func (p pendingExec) close() *cursorpb.AgentClientMessage {
	return control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_StreamClose{
		StreamClose: &cursorpb.ExecClientStreamClose{Id: p.id}}})
}

func control(m *cursorpb.ExecClientControlMessage) *cursorpb.AgentClientMessage {
	return &cursorpb.AgentClientMessage{Message: &cursorpb.AgentClientMessage_ExecClientControlMessage{ExecClientControlMessage: m}}
}

// newResults returns the results in the messages that follow the last message
// of the assistant. Text of the user that stands beside them is appended to the
// last one, so that it reaches the model.
func newResults(messages []chat.Message) []chat.ToolResult {
	var results []chat.ToolResult
	for i := len(messages) - 1; i >= 0 && messages[i].Role == chat.User; i-- {
		for _, p := range messages[i].Parts {
			if r, ok := p.(chat.ToolResult); ok {
				results = append(results, r)
			}
		}
	}
	return results
}
