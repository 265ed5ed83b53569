package agentrpc

import (
	"cmp"
	"encoding/json"
	"slices"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/clienttool"
	"cursortray/proxy/cursor/cursorpb"
)

// provider is the name under which the client's tools are known to the model:
// it sees each as mcp_cursortray_ and the client's name.
const (
	provider     = "cursortray"
	modelsPrefix = "mcp_" + provider + "_"
)

// toolbox holds the tools of a request in the forms that the service and the
// mapping of its requests need. It does not change.
type toolbox struct {
	definitions []*cursorpb.McpToolDefinition // sorted by name
	names       *clienttool.Names
	choice      chat.ToolChoice
}

// newToolbox fails if a tool cannot be offered to the model. The same tools in
// another order, or with another order of keys in their schemas, give the same
// bytes: Cursor's prompt cache is lost by any change.
func newToolbox(req *chat.Request) (*toolbox, *chat.Error) {
	box := &toolbox{choice: req.Choice}
	cleaned := make([]chat.Tool, 0, len(req.Tools))
	for _, tool := range req.Tools {
		if !offerable(tool.Name) {
			return nil, &chat.Error{
				Kind: chat.Invalid, Param: "tools",
				Message: "a tool's name must have 1 to 64 characters out of letters, digits, _, - and .",
			}
		}
		schema := cleanSchema(tool.Schema)
		definition, err := newDefinition(tool, schema)
		if err != nil {
			return nil, chat.Errorf(chat.Internal, "a tool of the request cannot be encoded: %w", err)
		}
		box.definitions = append(box.definitions, definition)
		text, err := json.Marshal(schema)
		if err != nil {
			return nil, chat.Errorf(chat.Internal, "a tool of the request cannot be read: %w", err)
		}
		cleaned = append(cleaned, chat.Tool{Name: tool.Name, Schema: text})
	}
	slices.SortFunc(box.definitions, func(a, b *cursorpb.McpToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(box.definitions); i++ {
		if box.definitions[i].Name == box.definitions[i-1].Name {
			return nil, &chat.Error{Kind: chat.Invalid, Param: "tools", Message: "two tools have the same name"}
		}
	}
	box.names = clienttool.NewNames(cleaned)
	return box, nil
}

func newDefinition(tool chat.Tool, schema map[string]any) (*cursorpb.McpToolDefinition, error) {
	encoded, err := cursorpb.Codec{}.Marshal(protoValue(schema))
	if err != nil {
		return nil, err
	}
	return &cursorpb.McpToolDefinition{
		Name: tool.Name, ToolName: tool.Name, Description: valid(tool.Description),
		ProviderIdentifier: provider, InputSchema: encoded,
	}, nil
}

// offerable tells whether all models take a name.
func offerable(name string) bool {
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.':
		default:
			return false
		}
	}
	return name != "" && len(name) <= 64
}

func (b *toolbox) has(name string) bool {
	_, found := slices.BinarySearchFunc(b.definitions, name, func(d *cursorpb.McpToolDefinition, name string) int {
		return cmp.Compare(d.Name, name)
	})
	return found
}

// all returns the names of the tools.
func (b *toolbox) all() []string {
	names := make([]string, len(b.definitions))
	for i, d := range b.definitions {
		names[i] = d.Name
	}
	return names
}

// size is how many bytes the tools take in a request. Very large lists are
// refused with no reason given, so it is worth a line in the log.
func (b *toolbox) size() int {
	n := 0
	for _, d := range b.definitions {
		n += len(d.Name) + len(d.ToolName) + len(d.Description) + len(d.InputSchema)
	}
	return n
}
