package agentcli

import (
	"encoding/json"
	"strconv"
	"strings"

	"cursortray/proxy/chat"
)

// Marks of a call in the model's text.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
)

// toolSection describes the client's tools to the model. The CLI has no way to
// be given tools, so the model is asked to write its calls into its text,
// where toolScanner finds them. One line of JSON per tool follows the rules.
func toolSection(req *chat.Request) string {
	if len(req.Tools) == 0 || req.Choice.Mode == chat.ToolNone {
		return ""
	}
	var b strings.Builder
	b.WriteString("TOOLS:\n" +
		"The user's program offers you the tools below, beside your own. It executes them for you on the user's machine and sends you the results. " +
		whereFiles(req) + "\n" +
		"To call a tool, write exactly one block of this form for each call, with the arguments as JSON that matches the tool's parameters:\n" +
		callOpen + `{"name":"TOOL","arguments":{}}` + callClose + "\n" +
		"Write nothing after the last block: stop there and wait for the results. Never write results yourself. " +
		"Earlier calls are shown in another notation below; always write yours as a block.")
	for _, rule := range nonEmpty(serialRule(req), choiceRule(req)) {
		b.WriteString("\n" + rule)
	}
	for _, tool := range req.Tools {
		b.WriteByte('\n')
		b.Write(encodeJSON(describedTool{tool.Name, tool.Description, parameters(tool.Schema)}))
	}
	return b.String()
}

// whereFiles keeps the model from looking for the user's files with its own
// tools, which by default work in an empty private folder.
func whereFiles(req *chat.Request) string {
	if req.Workspace != "" {
		return "Prefer them to your own tools."
	}
	return "The user's files are reached with these tools only; your own tools see an empty folder."
}

type describedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func parameters(schema json.RawMessage) json.RawMessage {
	if !json.Valid(schema) {
		return json.RawMessage(`{"type":"object"}`)
	}
	return schema
}

func serialRule(req *chat.Request) string {
	if req.SerialTools {
		return "Call at most one tool before you stop."
	}
	return "Calls that do not depend on each other may follow one another, each in a block of its own."
}

func choiceRule(req *chat.Request) string {
	if len(req.Tools) == 0 {
		return ""
	}
	switch req.Choice.Mode {
	case chat.ToolNone:
		return "Do not call any tool of the user's program now; answer in words."
	case chat.ToolAny:
		return "You must call at least one of these tools now."
	case chat.ToolNamed:
		return "You must call the tool " + strconv.Quote(req.Choice.Name) + " now."
	}
	return ""
}
