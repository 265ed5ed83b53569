package agentsim

import (
	"encoding/json"
	"strings"

	"cursortray/proxy/cursor/cursorsim"
)

// transcript is what a model reads out of a prompt: the conversation as blocks
// under headers, the client's tools as JSON objects before it.
type transcript struct {
	system string
	tools  []cursorsim.Tool
	blocks []block
	calls  int
}

type block struct{ header, text string }

// Headers of the prompt's blocks.
const (
	systemHeader    = "SYSTEM:"
	userHeader      = "USER:"
	assistantHeader = "ASSISTANT:"
	resultHeader    = "TOOL_RESULT ("
)

func header(line string) bool {
	return line == systemHeader || line == userHeader || line == assistantHeader ||
		strings.HasPrefix(line, resultHeader) && strings.HasSuffix(line, "):")
}

// readPrompt takes a prompt apart.
func readPrompt(prompt string) transcript {
	var t transcript
	for line := range strings.SplitSeq(prompt, "\n") {
		switch {
		case header(line):
			t.blocks = append(t.blocks, block{header: line})
			continue
		case len(t.blocks) == 0:
			t.blocks = append(t.blocks, block{header: userHeader})
		}
		last := &t.blocks[len(t.blocks)-1]
		last.text += line + "\n"
		switch {
		case last.header == assistantHeader && strings.HasPrefix(line, "tool_call("):
			t.calls++
		case last.header == systemHeader:
			if tool, ok := readTool(line); ok {
				t.tools = append(t.tools, tool)
			}
		}
	}
	for i := range t.blocks {
		t.blocks[i].text = strings.TrimSpace(t.blocks[i].text)
		if t.blocks[i].header == systemHeader {
			t.system = t.blocks[i].text
		}
	}
	return t
}

// readTool reads a line that describes one of the client's tools.
func readTool(line string) (cursorsim.Tool, bool) {
	if !strings.HasPrefix(line, "{") {
		return cursorsim.Tool{}, false
	}
	var tool struct {
		Name, Description               string
		Parameters, Schema, InputSchema json.RawMessage
	}
	if json.Unmarshal([]byte(line), &tool) != nil || tool.Name == "" {
		return cursorsim.Tool{}, false
	}
	schema := tool.Parameters
	if schema == nil {
		schema = tool.Schema
	}
	return cursorsim.Tool{Name: tool.Name, Description: tool.Description, Schema: schema}, schema != nil
}

// turn is what the model has to answer.
func (t transcript) turn() cursorsim.Turn {
	rules := strings.ToLower(t.system)
	turn := cursorsim.Turn{
		System: t.system, Tools: t.tools, Calls: t.calls,
		Must: strings.Contains(rules, "you must call"),
		JSON: strings.Contains(rules, "one json object") || strings.Contains(rules, "one json value"),
	}
	for _, b := range t.blocks {
		switch {
		case b.header == userHeader:
			turn.Prompt, turn.Results = b.text, nil
		case strings.HasPrefix(b.header, resultHeader):
			turn.Results = append(turn.Results, b.text)
		}
	}
	if n := len(turn.Results); n > 0 {
		// The closing sentence behind the results is for the model only.
		if i := strings.LastIndex(turn.Results[n-1], "\n\n"); i >= 0 {
			turn.Results[n-1] = turn.Results[n-1][:i]
		}
	}
	return turn
}
