package agentrpc

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// maxPrefetch is how much of a rebuilt history travels with the request; the
// service asks for the rest.
const maxPrefetch = 1 << 20

// buildRun returns the first message of a run and the blobs that it refers to.
func buildRun(req *chat.Request, s settings, tools *toolbox, o opening) (*cursorpb.AgentRunRequest, []blob, *chat.Error) {
	run := &cursorpb.AgentRunRequest{
		ConversationState:               o.state,
		ConversationId:                  proto.String(o.conversation),
		RunId:                           proto.String(o.run),
		McpTools:                        &cursorpb.McpTools{McpTools: tools.definitions},
		RequestedModel:                  requestedModel(o),
		ClientSupportsRoutedModelUpdate: proto.Bool(true),
	}
	if run.ConversationState == nil {
		run.ConversationState = []byte{} // present but empty: the service insists on it
	}
	context := requestContext(req, s, tools)
	if o.resume {
		run.Action = &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_ResumeAction{
			ResumeAction: &cursorpb.ResumeAction{RequestContext: context}}}
		return run, nil, nil
	}
	var blobs []blob
	before, turn := splitTurn(req.Messages, o)
	if o.state == nil && o.replay == replayBlobs {
		past := withResults(before, turn)
		if !takesImages(o) {
			past = withoutImages(past)
		}
		state, prompt, others := rebuiltState(past)
		run.ConversationState, run.PreFetchedBlobs = state, prefetched(prompt)
		blobs = append(prompt, others...)
	}
	message, err := userMessage(req, s, o, before, turn)
	if err != nil {
		return nil, nil, err
	}
	if len(message.GetSelectedContext().GetSelectedImages()) > 0 {
		run.ClientSupportsInlineImages = proto.Bool(true)
	}
	run.Action = &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_UserMessageAction{
		UserMessageAction: &cursorpb.UserMessageAction{UserMessage: message, RequestContext: context}}}
	return run, blobs, nil
}

func requestedModel(o opening) *cursorpb.RequestedModel {
	m := &cursorpb.RequestedModel{ModelId: valid(o.model.ID), MaxMode: o.model.Max}
	for _, p := range o.model.Parameters {
		m.Parameters = append(m.Parameters, &cursorpb.RequestedModelParameter{Id: valid(p.ID), Value: valid(p.Value)})
	}
	return m
}

// splitTurn returns the messages that the state does not stand for: those
// before the user's turn, and the turn. A list that ends with words of the
// assistant has an empty turn.
func splitTurn(messages []chat.Message, o opening) (before, turn []chat.Message) {
	known := min(max(o.known, 0), len(messages))
	cut := max(lastTurn(messages), known)
	return messages[known:cut], messages[cut:]
}

// withResults adds the results of a turn to the history, where their calls are.
func withResults(before, turn []chat.Message) []chat.Message {
	all := before[:len(before):len(before)]
	for _, m := range turn {
		var results []chat.Part
		for _, part := range m.Parts {
			if _, ok := part.(chat.ToolResult); ok {
				results = append(results, part)
			}
		}
		if len(results) > 0 {
			all = append(all, chat.Message{Role: chat.User, Parts: results})
		}
	}
	return all
}

// prefetched takes blobs along as far as there is room.
func prefetched(blobs []blob) []*cursorpb.PreFetchedBlob {
	var list []*cursorpb.PreFetchedBlob
	room := maxPrefetch
	for _, b := range blobs {
		if len(b.data) > room {
			continue
		}
		room -= len(b.data)
		list = append(list, &cursorpb.PreFetchedBlob{Id: b.id, Value: b.data})
	}
	return list
}

// userMessage is what the model is to answer.
func userMessage(req *chat.Request, s settings, o opening, before, turn []chat.Message) (*cursorpb.UserMessage, *chat.Error) {
	var b strings.Builder
	if s.systemInFront {
		if rule := systemText(req); rule != "" {
			b.WriteString(rule + "\n\n")
		}
	}
	if o.state != nil || o.replay == replayText {
		b.WriteString(transcript(before))
	}
	b.WriteString(lostResults(o, before, turn))
	words := turnText(turn)
	images, err := selectedImages(o, turn)
	switch {
	case err != nil:
		return nil, err
	case words != "":
		b.WriteString(words)
	case len(images) > 0:
		b.WriteString(" ") // an empty text is refused
	default:
		b.WriteString("Continue.")
	}
	if rule := choiceRule(req); rule != "" {
		b.WriteString("\n\n" + rule)
	}
	m := &cursorpb.UserMessage{Text: valid(b.String()), MessageId: o.message, Mode: cursorpb.AgentMode_AGENT_MODE_AGENT}
	if len(images) > 0 {
		m.SelectedContext = &cursorpb.SelectedContext{SelectedImages: images}
	}
	return m, nil
}

// turnText joins the texts of the user's turn.
func turnText(turn []chat.Message) string {
	var texts []string
	for _, m := range turn {
		if text := userText(m); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func userText(m chat.Message) string {
	var texts []string
	for _, part := range m.Parts {
		if t, ok := part.(chat.Text); ok && t.Text != "" {
			texts = append(texts, valid(t.Text))
		}
	}
	return strings.Join(texts, "\n")
}

// lostResults tells of the results that have no place in the history: their
// calls were cut out of it by the client, or the state stands for them.
// Otherwise they would be lost.
func lostResults(o opening, before, turn []chat.Message) string {
	calls := map[string]bool{}
	if o.state == nil && o.replay == replayBlobs {
		for _, m := range before {
			for _, part := range m.Parts {
				if use, ok := part.(chat.ToolUse); ok {
					calls[use.ID] = true
				}
			}
		}
	}
	var b strings.Builder
	for _, m := range turn {
		for _, part := range m.Parts {
			if r, ok := part.(chat.ToolResult); ok && !calls[r.CallID] {
				fmt.Fprintf(&b, "<tool_result>\n%s\n</tool_result>\n", resultText(r))
			}
		}
	}
	return b.String()
}

// choiceRule asks for a call where the client does; the protocol has no field
// for it. "No call" needs no words: each one is refused.
func choiceRule(req *chat.Request) string {
	if len(req.Tools) == 0 {
		return ""
	}
	switch req.Choice.Mode {
	case chat.ToolAny:
		return "You must call at least one of the MCP tools of the server " + provider + " now."
	case chat.ToolNamed:
		return "You must call the MCP tool `" + valid(req.Choice.Name) + "` now."
	}
	return ""
}
