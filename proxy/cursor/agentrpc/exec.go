package agentrpc

import (
	"slices"

	"encoding/json"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
)

// execMapper decides what becomes of the service's requests for work in one
// run. It remembers what it refused, to stop a model that insists. It is not
// safe for concurrent use.
type execMapper struct {
	settings settings
	tools    *toolbox
	req      *chat.Request // whose tools they are, as far as it is needed
	guard    clienttool.Guard
	refused  map[string]int // how often, by what was asked for
	total    int
}

func newExecMapper(s settings, req *chat.Request, tools *toolbox) *execMapper {
	return &execMapper{settings: s, req: remembered(req), tools: tools, refused: map[string]int{}}
}

// remembered is what a run that waits for the client needs of a request. The
// rest may be large, and the wait long.
func remembered(req *chat.Request) *chat.Request {
	recent := slices.Clone(clienttool.SinceUser(req.Messages))
	for i, m := range recent {
		recent[i].Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p chat.Part) bool { _, image := p.(chat.Image); return image })
	}
	return &chat.Request{System: req.System, Format: req.Format, Workspace: req.Workspace, Messages: recent}
}

// attach tells of another request of the client that the run goes on for.
func (m *execMapper) attach(req *chat.Request, tools *toolbox) {
	m.req, m.tools = remembered(req), tools
}

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
// Only a call of an offered tool, and native work that an offered tool can do,
// reaches the client; a request that had no answer would hang the run.
func (m *execMapper) plan(exec *cursorpb.ExecServerMessage) execPlan {
	p := pendingExec{id: exec.GetId(), execID: exec.GetExecId(), exec: exec}
	if answers := m.always(p); answers != nil {
		return execPlan{answers: answers}
	}
	if x := exec.GetMcpArgs(); x != nil {
		return m.planTool(p, x)
	}
	work, ok := nativeWork(exec)
	if !ok {
		return m.refuse(p, notHere, m.tools.listed())
	}
	return m.planNative(p, work)
}

// always answers what is answered whatever the tools are, nil for all else.
func (m *execMapper) always(p pendingExec) []*cursorpb.AgentClientMessage {
	switch p.exec.GetMessage().(type) {
	case nil:
		return p.throw("this kind of work is not known here", unknownVariant)
	case *cursorpb.ExecServerMessage_RequestContextArgs:
		return p.with(m.context())
	case *cursorpb.ExecServerMessage_McpStateExecArgs:
		return p.with(m.state())
	}
	if result := emptyAnswer(p.exec); result != nil {
		return p.with(result)
	}
	return nil
}

func (m *execMapper) context() *cursorpb.ExecClientMessage {
	return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_RequestContextResult{
		RequestContextResult: &cursorpb.RequestContextResult{Result: &cursorpb.RequestContextResult_Success{
			Success: &cursorpb.RequestContextSuccess{RequestContext: requestContext(m.req, m.settings, m.tools)}}}}}
}

// state presents the client's tools as one tool server.
func (m *execMapper) state() *cursorpb.ExecClientMessage {
	status := "connected"
	return &cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpStateExecResult{
		McpStateExecResult: &cursorpb.McpStateExecResult{Result: &cursorpb.McpStateExecResult_Success{
			Success: &cursorpb.McpStateSuccess{Servers: []*cursorpb.McpStateServer{{
				ServerName: provider, ServerIdentifier: provider, Tools: m.tools.definitions, Status: &status,
			}}}}}}}
}

// planTool hands over a call of one of the client's tools.
func (m *execMapper) planTool(p pendingExec, args *cursorpb.McpArgs) execPlan {
	name, arguments, ok := m.tools.resolve(args)
	switch {
	case m.tools.choice.Mode == chat.ToolNone:
		return m.refuse(p, toolsDisabled, "")
	case !ok:
		return m.notFound(p, args)
	case args.GetSmartModeApprovalOnly():
		return execPlan{answers: p.with(approved())} // the client itself asks its user
	}
	return m.call(p, name, arguments)
}

// planNative looks for the client's tool that does the work.
func (m *execMapper) planNative(p pendingExec, work work) execPlan {
	switch {
	case m.tools.choice.Mode == chat.ToolNone:
		return m.refuse(p, toolsDisabled, "")
	case len(m.tools.definitions) == 0:
		return m.refuse(p, noTools, "")
	case m.settings.rejectNative:
		return m.refuse(p, notHere, m.tools.hint(work))
	}
	for _, way := range work.ways {
		for _, name := range way.tools {
			tool := m.tools.names.Find(name)
			if tool == nil {
				continue
			}
			b := newArguments(tool, m.settings, m.req.Workspace)
			way.fill(b)
			if arguments, ok := b.finish(); ok {
				p.way = way.kind
				p.ranged = b.ranged
				return m.call(p, tool.Name, arguments)
			}
		}
	}
	reason := work.unable
	if reason == "" {
		reason = notHere
	}
	return m.refuse(p, reason, m.tools.hint(work))
}

// call hands a call over unless the model makes it over and over.
func (m *execMapper) call(p pendingExec, name string, arguments json.RawMessage) execPlan {
	if text := m.guard.Check(m.req.Messages, chat.ToolCall{Name: name, Arguments: arguments}); text != "" {
		return m.refuse(p, text, "")
	}
	return execPlan{call: &plannedCall{name: name, arguments: arguments, pending: p}}
}
