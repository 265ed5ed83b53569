package agentrpc

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// execMapper decides what becomes of the service's requests for work in one
// run. It remembers what it refused, to stop a model that insists. It is not
// safe for concurrent use.
type execMapper struct {
	settings settings
	tools    *toolbox
	req      *chat.Request // whose tools they are; for the request context
}

func newExecMapper(s settings, req *chat.Request, tools *toolbox) *execMapper {
	return &execMapper{settings: s, req: req, tools: tools}
}

// attach tells of another request of the client that the run goes on for.
func (m *execMapper) attach(req *chat.Request, tools *toolbox) { m.req, m.tools = req, tools }

// execPlan is what is to be done with a request for work: exactly one of call
// and answers, or fail.
type execPlan struct {
	call    *plannedCall                   // for the client to execute
	answers []*cursorpb.AgentClientMessage // the whole answer, with its stream close
	fail    *chat.Error                    // the run leads nowhere and is to end
}

// plannedCall is a call of one of the client's tools.
type plannedCall struct {
	name      string
	arguments json.RawMessage // a JSON object
	pending   pendingExec
}

// plan never panics and always has an answer, also to what it does not know.
func (m *execMapper) plan(exec *cursorpb.ExecServerMessage) execPlan {
	p := pendingExec{id: exec.GetId(), execID: exec.GetExecId()}
	switch x := exec.GetMessage().(type) {
	case *cursorpb.ExecServerMessage_RequestContextArgs:
		return execPlan{answers: p.with(&cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_RequestContextResult{
			RequestContextResult: &cursorpb.RequestContextResult{Result: &cursorpb.RequestContextResult_Success{
				Success: &cursorpb.RequestContextSuccess{RequestContext: requestContext(m.req, m.settings, m.tools)}}}}})}
	case *cursorpb.ExecServerMessage_McpArgs:
		if m.tools.has(x.McpArgs.GetToolName()) {
			return execPlan{call: &plannedCall{name: x.McpArgs.GetToolName(), arguments: mcpArguments(x.McpArgs), pending: p}}
		}
	}
	return execPlan{answers: p.throw("not available here", "unknown_exec_variant")}
}

// mcpArguments returns the arguments of a call as a JSON object.
func mcpArguments(args *cursorpb.McpArgs) json.RawMessage {
	object := map[string]any{}
	for name, encoded := range args.GetArgs() {
		var v structpb.Value
		if proto.Unmarshal(encoded, &v) == nil {
			object[name] = v.AsInterface()
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}
