package agentrpc

import (
	"crypto/sha256"
	"strings"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// Reasons for a refusal; the model reads them.
const (
	toolsDisabled = "tools are disabled for this reply; answer in text"
	noTools       = "no tools exist in this session; answer from the conversation"
	inText        = "This was refused several times and always will be. Do not ask for it again: answer in text."
)

// Bounds on a model that insists on what it cannot have.
const (
	refusalsUntilText = 3   // of the same request, then it is told to stop
	refusalsUntilEnd  = 10  // of the same request, then the run ends
	refusalsInAll     = 100 // whatever was asked for
	namedTools        = 12
)

// refuse answers in the negative at once and names the tools that exist, since
// models that are only told "no" ask again.
func (m *execMapper) refuse(p pendingExec, reason string, tools []string) execPlan {
	count, fail := m.count(p.exec)
	if fail != nil {
		return execPlan{answers: nil, fail: fail}
	}
	return execPlan{answers: p.refuse(reasonWith(reason, tools, count))}
}

// notFound tells of the tools that exist in place of one that does not.
func (m *execMapper) notFound(p pendingExec, args *cursorpb.McpArgs) execPlan {
	count, fail := m.count(p.exec)
	switch {
	case fail != nil:
		return execPlan{fail: fail}
	case count >= refusalsUntilText:
		return execPlan{answers: p.refuse(reasonWith("there is no such tool", nil, count))}
	}
	name := args.GetToolName()
	if name == "" {
		name = args.GetName()
	}
	return execPlan{answers: p.with(&cursorpb.ExecClientMessage{Message: &cursorpb.ExecClientMessage_McpResult{
		McpResult: &cursorpb.McpResult{Result: &cursorpb.McpResult_ToolNotFound{
			ToolNotFound: &cursorpb.McpToolNotFound{Name: name, AvailableTools: m.tools.all()}}}}})}
}

// count notes one more refusal and fails when there were too many.
func (m *execMapper) count(exec *cursorpb.ExecServerMessage) (int, *chat.Error) {
	key := sameRequest(exec)
	m.refused[key]++
	m.total++
	if m.refused[key] >= refusalsUntilEnd || m.total >= refusalsInAll {
		return 0, &chat.Error{
			Kind: chat.BadGateway, Code: "tool_loop",
			Message: "the model asked over and over for something that is not available to it; ask again in other words, or with another model",
		}
	}
	return m.refused[key], nil
}

func reasonWith(reason string, tools []string, count int) string {
	if count >= refusalsUntilText {
		return reason + ". " + inText
	}
	switch len(tools) {
	case 0:
		return reason
	case 1:
		return reason + "; use the MCP tool `" + tools[0] + "`"
	}
	return reason + "; use one of the MCP tools `" + strings.Join(tools, "`, `") + "`"
}

// related names the tools that come nearest to the work: those that are made
// for it, else the first ones of all.
func (b *toolbox) related(work work) []string {
	var names []string
	for _, way := range work.ways {
		for _, candidate := range way.tools {
			if tool := b.names.Find(candidate); tool != nil {
				names = append(names, tool.Name)
			}
		}
	}
	if len(names) == 0 {
		names = b.all()
	}
	names = unique(names)
	return names[:min(len(names), namedTools)]
}

// sameRequest is equal for requests that ask for the same thing, whatever their
// ids.
func sameRequest(exec *cursorpb.ExecServerMessage) string {
	plain := proto.CloneOf(exec)
	plain.Id, plain.ExecId, plain.SpanContext = 0, "", nil
	r := plain.ProtoReflect()
	if field := r.WhichOneof(r.Descriptor().Oneofs().ByName("message")); field != nil && field.Message() != nil {
		inner := r.Mutable(field).Message()
		if id := inner.Descriptor().Fields().ByName("tool_call_id"); id != nil {
			inner.Clear(id)
		}
	}
	encoded, err := cursorpb.Codec{}.Marshal(plain)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(encoded) // files to be written can be large
	return string(sum[:])
}
