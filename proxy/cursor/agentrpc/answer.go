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
	exec   *cursorpb.ExecServerMessage
	way    wayKind // how the client does the work
	ranged bool    // the client was asked for a part of a file only
}

// answer returns the messages that give the service the client's result: the
// typed result, or events, and then the stream close. The kind of the answer is
// that of the request, whatever tool did the work.
func (p pendingExec) answer(result chat.ToolResult) []*cursorpb.AgentClientMessage {
	own, note := splitNote(result.Content)
	result.Content = own
	if p.exec == nil || p.exec.GetMcpArgs() != nil {
		return p.with(toolAnswer(result, note))
	}
	c := readContent(result)
	hooks := p.place(&c, note)
	var messages []*cursorpb.ExecClientMessage
	if p.exec.GetShellStreamArgs() != nil {
		messages = streamAnswer(p.exec.GetShellStreamArgs(), c)
	} else {
		messages = []*cursorpb.ExecClientMessage{p.native(c)}
	}
	messages[0].HookAdditionalContexts = hooks
	return p.with(messages...)
}

// native is the typed result of native work.
func (p pendingExec) native(c content) *cursorpb.ExecClientMessage {
	if result := p.fileAnswer(c); result != nil {
		return result
	}
	if result := p.commandAnswer(c); result != nil {
		return result
	}
	if result := piAnswer(p.exec, c); result != nil {
		return result
	}
	if result := p.searchAnswer(c); result != nil {
		return result
	}
	return toolAnswer(chat.ToolResult{Content: []chat.Part{chat.Text{Text: c.text}}, Failed: c.failed}, nil)
}

// heartbeat says that the work is still being done.
func (p pendingExec) heartbeat() *cursorpb.AgentClientMessage {
	return control(&cursorpb.ExecClientControlMessage{Message: &cursorpb.ExecClientControlMessage_Heartbeat{
		Heartbeat: &cursorpb.ExecClientHeartbeat{Id: p.id}}})
}

// with completes a result, or the events that make one, with the ids of the
// request and the stream close.
func (p pendingExec) with(results ...*cursorpb.ExecClientMessage) []*cursorpb.AgentClientMessage {
	var messages []*cursorpb.AgentClientMessage
	for _, result := range results {
		result.Id, result.ExecId = p.id, p.execID
		messages = append(messages, &cursorpb.AgentClientMessage{
			Message: &cursorpb.AgentClientMessage_ExecClientMessage{ExecClientMessage: result}})
	}
	return append(messages, p.close())
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

// toolAnswer is the result of one of the client's tools, with pictures, and
// with what the user said beside it as an item of its own.
func toolAnswer(result chat.ToolResult, note []chat.Part) *cursorpb.ExecClientMessage {
	items := contentItems(result.Content)
	if len(items) == 0 {
		items = []*cursorpb.McpToolResultContentItem{textItem(noOutput)}
	}
	items = append(items, contentItems(note)...)
	return mcpResult(&cursorpb.McpResult{Result: &cursorpb.McpResult_Success{
		Success: &cursorpb.McpSuccess{Content: items, IsError: result.Failed}}})
}

// contentItems joins neighbouring texts and keeps pictures.
func contentItems(parts []chat.Part) []*cursorpb.McpToolResultContentItem {
	var items []*cursorpb.McpToolResultContentItem
	kept, _ := gather(parts)
	for _, part := range kept {
		switch part := part.(type) {
		case chat.Text:
			items = append(items, textItem(part.Text))
		case chat.Image:
			items = append(items, &cursorpb.McpToolResultContentItem{Content: &cursorpb.McpToolResultContentItem_Image{
				Image: &cursorpb.McpImageContent{Data: part.Data, MimeType: valid(part.MIME)}}})
		}
	}
	return items
}

func textItem(text string) *cursorpb.McpToolResultContentItem {
	return &cursorpb.McpToolResultContentItem{Content: &cursorpb.McpToolResultContentItem_Text{
		Text: &cursorpb.McpTextContent{Text: text}}}
}
