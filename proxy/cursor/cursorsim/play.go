// Package cursorsim is the scripted model of the simulations: Play. It never
// gives a real answer and says so; it copies from tool results and makes up
// nothing else. It speaks no wire format and starts no goroutine.
package cursorsim

import (
	"encoding/json"
	"strings"
	"time"
)

// NaturalPace is the pause between two pieces of a stream that reads like a
// real model's.
const NaturalPace = 25 * time.Millisecond

// Tool is a function that the client offers.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; nil is "any object"
}

// Turn is what the scripted model knows when it answers.
type Turn struct {
	Prompt string // what the person asked last
	System string // only tells titles and summaries from conversations; may be empty
	Tools  []Tool
	// Results of the calls since the prompt, in the order of the calls; none when
	// a person speaks.
	Results []string
	Calls   int  // calls made so far in this conversation
	Must    bool // the client insists on a call

	JSON   bool            // the client wants a JSON object
	Schema json.RawMessage // and this is its schema; may be nil
}

// Step is one of Think, Say, Call.
type Step interface{ isStep() }

// Think is reasoning.
type Think struct{ Text string }

// Say is text of the answer.
type Say struct{ Text string }

// Call asks the client for one of its tools. Only calls follow it in a turn:
// they are made at once.
type Call struct {
	Name      string
	Arguments json.RawMessage // a JSON object
}

func (Think) isStep() {}
func (Say) isStep()   {}
func (Call) isStep()  {}

// maxCalls ends a conversation of a client that comes back with one result
// after the other, so that a demo never loops.
const maxCalls = 50

const (
	nothingReal = "This is cursortray's simulated model: nothing here is real, and no model has read your prompt."
	canRead     = " Ask it to read a file, and it asks your client's tool to do that and repeats the file's first line." +
		" It can also replace \"this\" with \"that\" in a file and run the command \"date\", one step after the other."
	noTool = " Your client offered no tool that it could use, so there is nothing more to show."
	copied = "\n\n(Simulated: copied from the tool's result.)"
	goReal = " Without --demo, cursortray passes your prompt on to Cursor."
)

// Play returns the steps of one turn, at least one. Equal turns give equal
// steps.
func Play(t Turn) []Step {
	t.Prompt = clientNote().ReplaceAllString(t.Prompt, "")
	if t.Calls < maxCalls {
		if steps := taskTurn(t); steps != nil {
			return steps
		}
	}
	if n := len(t.Results); n > 0 {
		return []Step{Say{resultAnswer(t.Results[n-1])}}
	}
	if t.Calls < maxCalls {
		if steps := callSteps(t); steps != nil {
			return steps
		}
	}
	if t.JSON {
		return []Step{Say{jsonAnswer(t.Schema)}}
	}
	if text := sideAnswer(t); text != "" {
		return []Step{Say{text}}
	}
	return []Step{
		Think{"The prompt asks for nothing that one of the client's tools could do. So I say what I am."},
		Say{plainAnswer(t)},
	}
}

// taskTurn returns the steps of a task of several steps, nil if the prompt has
// none, or none that the tools can do.
func taskTurn(t Turn) []Step {
	batches := doable(findTask(t.Prompt), t.Tools)
	if len(batches) == 0 {
		return nil
	}
	return taskSteps(batches, t)
}

// callSteps returns the steps that lead to a call, nil if there is none to
// make.
func callSteps(t Turn) []Step {
	if path := findPath(t.Prompt); path != "" {
		if call, ok := (action{kind: reading, path: path}).call(t.Tools, nil); ok {
			return []Step{Think{"The prompt asks for the file " + path + ", which the tool " + call.Name + " can read."}, call}
		}
	}
	tool, ok := bestTool(t.Tools, topicScore(t.Prompt))
	if !ok && t.Must && len(t.Tools) > 0 {
		tool, ok = t.Tools[0], true
	}
	if !ok {
		return nil
	}
	return []Step{
		Think{"The tool " + tool.Name + " fits the prompt."},
		Call{tool.Name, fill(tool.Schema, topicHint(t.Prompt))},
	}
}

func resultAnswer(result string) string {
	line := firstLine(result)
	if line == "" {
		return "The tool's result is empty."
	}
	return "The first line is: " + line + copied
}

// jsonAnswer fits the schema; its texts say "simulated".
func jsonAnswer(schema json.RawMessage) string {
	if len(schema) == 0 {
		return `{"simulated":true}`
	}
	return string(fill(schema))
}

func plainAnswer(t Turn) string {
	if len(t.Tools) == 0 {
		return nothingReal + noTool + goReal
	}
	return nothingReal + canRead + goReal
}

// sideAnswer answers the calls that editors make for themselves, without
// tools: the title of a conversation, the summary that replaces its history.
func sideAnswer(t Turn) string {
	if len(t.Tools) > 0 {
		return ""
	}
	asked := strings.ToLower(t.System)
	if asked == "" {
		asked = strings.ToLower(t.Prompt)
	}
	switch {
	case strings.Contains(asked, "title"), strings.Contains(asked, "topic"):
		return "Simulated conversation"
	case strings.Contains(asked, "summar"), strings.Contains(asked, "compact"):
		return "Simulated summary: no model has read this conversation, so there is nothing to sum up."
	}
	return ""
}
