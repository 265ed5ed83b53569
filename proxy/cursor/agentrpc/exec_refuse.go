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
	notHere       = "this is not available here"
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

// refuse answers in the negative at once. hint names the tools that exist, since
// models that are only told "no" ask again.
func (m *execMapper) refuse(p pendingExec, reason, hint string) execPlan {
	count, fail := m.count(p.exec)
	switch {
	case fail != nil:
		return execPlan{fail: fail}
	case count >= refusalsUntilText:
		reason += ". " + inText
	case hint != "":
		reason += "; " + hint
	}
	return execPlan{answers: p.refuse(reason)}
}

// notFound tells of the tools that exist in place of one that does not.
func (m *execMapper) notFound(p pendingExec, args *cursorpb.McpArgs) execPlan {
	count, fail := m.count(p.exec)
	switch {
	case fail != nil:
		return execPlan{fail: fail}
	case count >= refusalsUntilText:
		return execPlan{answers: p.refuse("there is no such tool. " + inText)}
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

// hint names the tools that are made for the work, else the first ones of all.
func (b *toolbox) hint(work work) string {
	var names []string
	for _, way := range work.ways {
		for _, candidate := range way.tools {
			if tool := b.names.Find(candidate); tool != nil {
				names = append(names, "`"+tool.Name+"`")
			}
		}
	}
	switch names = unique(names); len(names) {
	case 0:
		return b.listed()
	case 1:
		return "use the MCP tool " + names[0]
	}
	return "use one of the MCP tools " + strings.Join(names, ", ")
}

// listed names the tools, not all of very many.
func (b *toolbox) listed() string {
	if len(b.definitions) == 0 {
		return noTools
	}
	var names []string
	for _, d := range b.definitions[:min(len(b.definitions), namedTools)] {
		names = append(names, "`"+d.Name+"`")
	}
	return "the MCP tools of this session are " + strings.Join(names, ", ")
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
