package agentrpc

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// buildRun returns the first message of a run and the blobs that it refers to.
func buildRun(req *chat.Request, s settings, tools *toolbox, o opening) (*cursorpb.AgentRunRequest, []blob, *chat.Error) {
	state := o.state
	if state == nil {
		state = []byte{} // present but empty: the service insists on it
	}
	run := &cursorpb.AgentRunRequest{
		ConversationState: state,
		ConversationId:    proto.String(o.conversation),
		RunId:             proto.String(o.run),
		McpTools:          &cursorpb.McpTools{McpTools: tools.definitions},
		RequestedModel:    &cursorpb.RequestedModel{ModelId: o.model.ID, MaxMode: o.model.Max},
	}
	for _, p := range o.model.Parameters {
		run.RequestedModel.Parameters = append(run.RequestedModel.Parameters, &cursorpb.RequestedModelParameter{Id: p.ID, Value: p.Value})
	}
	context := requestContext(req, s, tools)
	if o.resume {
		run.Action = &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_ResumeAction{
			ResumeAction: &cursorpb.ResumeAction{RequestContext: context}}}
		return run, nil, nil
	}
	var text []string
	for _, m := range req.Messages[o.known:] {
		for _, p := range m.Parts {
			if t, ok := p.(chat.Text); ok {
				text = append(text, t.Text)
			}
		}
	}
	run.Action = &cursorpb.ConversationAction{Action: &cursorpb.ConversationAction_UserMessageAction{
		UserMessageAction: &cursorpb.UserMessageAction{
			UserMessage: &cursorpb.UserMessage{
				Text: strings.Join(text, "\n"), MessageId: o.message, Mode: cursorpb.AgentMode_AGENT_MODE_AGENT,
			},
			RequestContext: context,
		}}}
	return run, nil, nil
}

// requestContext is what the client tells about itself. It is the same for the
// same system text and the same tools in whatever order.
func requestContext(req *chat.Request, s settings, tools *toolbox) *cursorpb.RequestContext {
	return &cursorpb.RequestContext{
		Env: s.env, Tools: tools.definitions, CloudRule: proto.String(req.System),
		WebSearchEnabled: proto.Bool(false), WebFetchEnabled: proto.Bool(false),
	}
}
