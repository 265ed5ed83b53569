package simserver

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/cursor/cursorpb"
)

// checkOpening looks at the request of a run. What the service refuses is
// returned; what it lets pass but no client sends is put on record.
func (r *Run) checkOpening() *RunError {
	m := r.request
	r.mu.Lock()
	defer r.mu.Unlock()
	r.talk = r.sim.runs.talk(m.GetConversationId())
	if m.ConversationState == nil {
		r.violate("state", "the run request has no conversation state, not even an empty one")
		return &RunError{Code: "invalid_argument", Message: "Conversation state is required"}
	}
	if m.CustomSystemPrompt != nil {
		r.violate("run-request", "custom_system_prompt is refused for ordinary accounts")
		return &RunError{Code: "permission_denied", Message: "Error"}
	}
	r.checkState(m.GetConversationState())
	r.checkRequest(m)
	if refused := r.checkAction(m.GetAction()); refused != nil {
		return refused
	}
	if !r.sim.knowsModel(m.GetRequestedModel().GetModelId()) {
		e := Failures()["bad model"]
		e.Detail = "Model name is not valid: " + m.GetRequestedModel().GetModelId()
		return e
	}
	return r.checkTools("mcp_tools", m.GetMcpTools().GetMcpTools())
}

// checkState: a state that the service gave out comes back as it was.
func (r *Run) checkState(raw []byte) {
	if len(raw) == 0 {
		return
	}
	if some, this := r.sim.runs.sent(r.talk, raw); some && !this {
		r.violate("checkpoint", "the conversation state is none of the checkpoints of this conversation, byte for byte")
	}
	if proto.Unmarshal(raw, &cursorpb.ConversationStateStructure{}) != nil {
		r.violate("state", "the conversation state cannot be decoded")
	}
}

func (r *Run) checkRequest(m *cursorpb.AgentRunRequest) {
	if m.GetConversationId() == "" {
		r.violate("run-request", "no conversation_id")
	}
	if m.GetRequestedModel().GetModelId() == "" {
		r.violate("run-request", "no requested_model")
	}
	if m.McpFileSystemOptions != nil || m.SkillOptions != nil {
		r.violate("run-request", "options about files on the client's disk")
	}
	for _, blob := range m.GetPreFetchedBlobs() {
		if !slices.Equal(BlobID(blob.GetValue()), blob.GetId()) {
			r.violate("run-request", "a blob sent ahead whose id is not the hash of its value")
		}
	}
}

// checkAction: one run is one turn.
func (r *Run) checkAction(a *cursorpb.ConversationAction) *RunError {
	switch action := a.GetAction().(type) {
	case *cursorpb.ConversationAction_UserMessageAction:
		turn := action.UserMessageAction
		if context := turn.GetRequestContext(); context != nil {
			r.checkContext(context, rawField(r.raw, 1, 2, 1, 2))
		}
		return r.checkMessage(turn.GetUserMessage())
	case *cursorpb.ConversationAction_ResumeAction:
		if context := action.ResumeAction.GetRequestContext(); context != nil {
			r.checkContext(context, rawField(r.raw, 1, 2, 2, 2))
		}
	case *cursorpb.ConversationAction_SummarizeAction:
	default:
		r.violate("run-request", "an action that opens no turn")
		return &RunError{Code: "invalid_argument", Message: "Error"}
	}
	return nil
}

func (r *Run) checkMessage(m *cursorpb.UserMessage) *RunError {
	switch {
	case m.GetText() == "":
		r.violate("user-message", "a message without text; one of images alone has a blank")
	case !uuidShape().MatchString(m.GetMessageId()):
		r.violate("user-message", "message_id is not a random UUID: "+quote(m.GetMessageId()))
	case !r.sim.runs.freshMessage(r.talk, m.GetMessageId()):
		r.violate("user-message", "message_id was used before in this conversation")
	}
	for _, image := range m.GetSelectedContext().GetSelectedImages() {
		if id := image.GetBlobId(); len(id) != 0 && len(id) != 32 {
			r.violate("user-message", "an image's bytes where its blob id belongs")
			return Failures()["image not found"]
		}
		if !strings.HasPrefix(image.GetMimeType(), "image/") {
			r.violate("user-message", "an image of type "+quote(image.GetMimeType()))
		}
	}
	return nil
}

// contextAnswer takes the request context from an exec answer.
func (r *Run) contextAnswer(result *cursorpb.RequestContextResult, raw []byte) {
	context := result.GetSuccess().GetRequestContext()
	if context == nil {
		r.violate("context", "the request for the request context was refused")
		return
	}
	r.checkContext(context, rawField(raw, 2, 10, 1, 1))
}

// checkContext: the same bytes in every turn of a conversation, and nothing in
// them that a proxy does not send.
func (r *Run) checkContext(c *cursorpb.RequestContext, raw []byte) {
	if !r.sim.runs.sameContext(r.talk, raw) {
		r.violate("context-changed", "the request context has other bytes than in the turns before")
	}
	if c.WebSearchEnabled == nil || c.GetWebSearchEnabled() || c.WebFetchEnabled == nil || c.GetWebFetchEnabled() {
		r.violate("web-tools", "web_search_enabled and web_fetch_enabled are not both present and false")
	}
	if c.McpMetaToolOptions != nil || c.McpFileSystemOptions != nil || c.SkillOptions != nil || len(c.GetRepositoryInfo()) > 0 {
		r.violate("context", "a part that a proxy leaves out")
	}
	if refused := r.checkTools("tools", c.GetTools()); refused != nil {
		r.bad = refused
	}
	if listed := r.request.GetMcpTools().GetMcpTools(); len(listed) > 0 && !sameTools(listed, c.GetTools()) {
		r.violate("tools", "the run request and the request context list different tools")
	}
	r.tools = newToolset(c.GetTools(), c.GetCloudRule())
}

func sameTools(a, b []*cursorpb.McpToolDefinition) bool {
	return slices.EqualFunc(a, b, func(x, y *cursorpb.McpToolDefinition) bool { return proto.Equal(x, y) })
}

// checkTools: names are unique, schemas are objects in a Value. One with a
// choice at any level makes the service refuse the whole run without a word.
func (r *Run) checkTools(where string, tools []*cursorpb.McpToolDefinition) *RunError {
	names := map[string]bool{}
	var refused *RunError
	for _, tool := range tools {
		if tool.GetName() == "" || tool.GetToolName() == "" || tool.GetProviderIdentifier() == "" || names[tool.GetName()] {
			r.violate("tools", where+": a tool without name or provider, or with the name of another: "+quote(tool.GetName()))
		}
		names[tool.GetName()] = true
		var schema structpb.Value
		switch err := proto.Unmarshal(tool.GetInputSchema(), &schema); {
		case err != nil || schema.GetStructValue() == nil:
			r.violate("schema", where+": the schema of "+quote(tool.GetName())+" is not an object in a google.protobuf.Value")
			refused = &RunError{Code: "invalid_argument", Message: "parse binary: invalid end group tag"}
		case schema.GetStructValue().GetFields()["type"].GetStringValue() != "object":
			r.violate("schema", where+": the schema of "+quote(tool.GetName())+" is not of type object")
		}
		if word := choiceIn(&schema); word != "" {
			r.violate("schema", where+": the schema of "+quote(tool.GetName())+" has "+word)
			if word != "$schema" { // which no refusal is known of
				refused = Failures()["bare exhausted"]
			}
		}
	}
	return refused
}

// choiceIn names a word in a schema that the service does not take.
func choiceIn(v *structpb.Value) string {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		for name, field := range kind.StructValue.GetFields() {
			if (name == "oneOf" || name == "anyOf" || name == "allOf") && field.GetListValue() != nil || name == "$schema" && field.GetStructValue() == nil {
				return name
			}
			if word := choiceIn(field); word != "" {
				return word
			}
		}
	case *structpb.Value_ListValue:
		for _, item := range kind.ListValue.GetValues() {
			if word := choiceIn(item); word != "" {
				return word
			}
		}
	}
	return ""
}

// knowsModel tells whether the account's lists have a model.
func (s *Sim) knowsModel(id string) bool {
	catalog := s.Catalog()
	var lists struct {
		Models []struct{ Name, ModelID string }
	}
	for _, list := range []json.RawMessage{catalog.Available, catalog.Usable} {
		lists.Models = nil
		if json.Unmarshal(list, &lists) == nil {
			for _, m := range lists.Models {
				if id != "" && (m.Name == id || m.ModelID == id) {
					return true
				}
			}
		}
	}
	return false
}
