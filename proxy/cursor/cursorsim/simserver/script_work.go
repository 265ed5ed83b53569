package simserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/cursor/cursorpb"
)

// toolset is what the client offers.
type toolset struct {
	tools []*cursorpb.McpToolDefinition
	rule  string
}

func newToolset(tools []*cursorpb.McpToolDefinition, rule string) *toolset {
	return &toolset{tools: tools, rule: rule}
}

// find returns the definition of a tool by its bare name; one that was not
// offered is made up.
func (t *toolset) find(name string) *cursorpb.McpToolDefinition {
	if t != nil {
		for _, tool := range t.tools {
			if tool.GetToolName() == name {
				return tool
			}
		}
		if len(t.tools) > 0 {
			return &cursorpb.McpToolDefinition{Name: name, ToolName: name, ProviderIdentifier: t.tools[0].GetProviderIdentifier()}
		}
	}
	return &cursorpb.McpToolDefinition{Name: name, ToolName: name, ProviderIdentifier: "unknown"}
}

// Opening asks for the request context, as the service does at the beginning.
func Opening() Step {
	return func(r *Run) error {
		e, err := r.Exec(&cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_RequestContextArgs{RequestContextArgs: &cursorpb.RequestContextArgs{}}})
		if err != nil {
			return err
		}
		if _, err := e.Wait(); err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last = r.last[:len(r.last)-1]
		if r.tools == nil { // refused, which is on record
			r.tools = &toolset{}
		}
		if r.bad != nil {
			return r.bad
		}
		return nil
	}
}

// offered is what the client offers, asked for if need be.
func (r *Run) offered() (*toolset, error) {
	r.mu.Lock()
	known := r.tools
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if err := Opening()(r); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tools, nil
}

// ToolCall is a call of a tool of the client. Arguments is a JSON object.
type ToolCall struct {
	Name      string
	Arguments string
	Bare      bool // without the updates for display that go before a call
}

// Call calls a tool of the client and waits for its result.
func Call(name, arguments string) Step { return Calls(ToolCall{Name: name, Arguments: arguments}) }

// Calls calls several tools at once, in one piece of the stream, and waits for
// all results.
func Calls(calls ...ToolCall) Step {
	return func(r *Run) error {
		if _, err := r.offered(); err != nil {
			return err
		}
		var asked []*Exec
		err := r.framed(&framing{joined: true}, func(r *Run) error {
			for _, call := range calls {
				e, err := r.Call(call)
				if err != nil {
					return err
				}
				asked = append(asked, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return waitAll(asked)
	}
}

func waitAll(asked []*Exec) error {
	for _, e := range asked {
		if _, err := e.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// Call calls a tool of the client and does not wait.
func (r *Run) Call(call ToolCall) (*Exec, error) {
	offered, err := r.offered()
	if err != nil {
		return nil, err
	}
	tool := offered.find(call.Name)
	args, err := encodeArguments(call.Arguments)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	id := fmt.Sprintf("toolu_%04d", r.nextID)
	r.mu.Unlock()
	mcp := &cursorpb.McpArgs{
		Name: "mcp_" + tool.GetProviderIdentifier() + "_" + tool.GetToolName(), Args: args, ToolCallId: id,
		ProviderIdentifier: tool.GetProviderIdentifier(), ToolName: tool.GetToolName(),
	}
	if !call.Bare {
		if err := r.display(mcp, call.Arguments); err != nil {
			return nil, err
		}
	}
	return r.Exec(&cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_McpArgs{McpArgs: mcp}})
}

// display sends the updates that show a call while the model writes it.
func (r *Run) display(mcp *cursorpb.McpArgs, arguments string) error {
	args, err := proto.Marshal(mcp)
	if err != nil {
		return err
	}
	shown := &cursorpb.ToolCall{Tool: &cursorpb.ToolCall_McpToolCall{McpToolCall: lengthDelimited(1, args)}, ToolCallId: &mcp.ToolCallId}
	if err := r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_ToolCallStarted{
		ToolCallStarted: &cursorpb.ToolCallStartedUpdate{CallId: mcp.ToolCallId, ToolCall: shown, ModelCallId: "model-call-1"},
	}}); err != nil {
		return err
	}
	return r.Update(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_PartialToolCall{
		PartialToolCall: &cursorpb.PartialToolCallUpdate{CallId: mcp.ToolCallId, ToolCall: shown, ArgsTextDelta: arguments, ModelCallId: "model-call-1"},
	}})
}

// encodeArguments encodes each member of a JSON object as a Value.
func encodeArguments(arguments string) (map[string][]byte, error) {
	if arguments == "" {
		arguments = "{}"
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(arguments), &members); err != nil {
		return nil, fmt.Errorf("arguments of a call: %w", err)
	}
	args := map[string][]byte{}
	for name, member := range members {
		value, err := structpb.NewValue(member)
		if err != nil {
			return nil, fmt.Errorf("arguments of a call: %w", err)
		}
		if args[name], err = (proto.MarshalOptions{Deterministic: true}).Marshal(value); err != nil {
			return nil, fmt.Errorf("arguments of a call: %w", err)
		}
	}
	return args, nil
}

// Work asks for a piece of work of any kind and waits for the answer, which the
// checks may then look at.
func Work(m *cursorpb.ExecServerMessage, checks ...func(ExecAnswer) error) Step {
	return func(r *Run) error {
		e, err := r.Exec(m)
		if err != nil {
			return err
		}
		answer, err := e.Wait()
		for _, check := range checks {
			if err == nil {
				err = check(answer)
			}
		}
		return err
	}
}

// Last returns the answer to the last piece of work, except those that Opening
// asked for.
func (r *Run) Last() ExecAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == 0 {
		return ExecAnswer{}
	}
	return r.last[len(r.last)-1]
}

// Answers returns all answers so far in the order in which they were awaited.
func (r *Run) Answers() []ExecAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}

// Tell sends text that depends on what happened so far.
func Tell(text func(*Run) string) Step {
	return func(r *Run) error { return Text(text(r))(r) }
}

// Text is what the model would read of an answer: the text of a tool's result,
// an error, the output of a command, the content of a file.
func (a ExecAnswer) Text() string {
	var text strings.Builder
	for _, result := range a.Results {
		for _, item := range result.GetMcpResult().GetSuccess().GetContent() {
			text.WriteString(item.GetText().GetText())
		}
		text.WriteString(result.GetShellStream().GetStdout().GetData())
	}
	if text.Len() > 0 || len(a.Results) == 0 {
		return text.String() + a.Throw.GetError()
	}
	return anyText(a.Results[0].ProtoReflect())
}
