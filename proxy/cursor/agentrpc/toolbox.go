package agentrpc

import (
	"cmp"
	"slices"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// provider is the name under which the client's tools are known to the model.
const provider = "cursortray"

// toolbox holds the tools of a request in the forms that the service and the
// mapping of its requests need. It does not change.
type toolbox struct {
	definitions []*cursorpb.McpToolDefinition // sorted by name
	choice      chat.ToolChoice
}

// newToolbox fails if a tool cannot be offered to the model.
func newToolbox(req *chat.Request) (*toolbox, *chat.Error) {
	box := &toolbox{choice: req.Choice}
	for _, tool := range req.Tools {
		box.definitions = append(box.definitions, &cursorpb.McpToolDefinition{
			Name: tool.Name, ToolName: tool.Name, Description: tool.Description, ProviderIdentifier: provider,
		})
	}
	slices.SortFunc(box.definitions, func(a, b *cursorpb.McpToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	return box, nil
}

func (b *toolbox) has(name string) bool {
	return slices.ContainsFunc(b.definitions, func(d *cursorpb.McpToolDefinition) bool { return d.Name == name })
}
