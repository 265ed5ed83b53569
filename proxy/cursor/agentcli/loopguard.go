package agentcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cursortray/proxy/chat"
)

// loopGuard stops a model that makes the same call over and over. It looks at
// the calls since the user last spoke: asking again is the user's right.
type loopGuard struct {
	limit int // equal failing calls that are let through; 0 = 2, below 0 = no guard
}

const (
	defaultLoopLimit = 2
	readingFactor    = 5 // equal calls that succeed, of tools that only look
	coarseFactor     = 3 // failing calls of one tool whatever the arguments, and equal calls that succeed
)

// outcome is a class of results.
type outcome string

const (
	outcomeSuccess    outcome = "success"
	outcomeValidation outcome = "validation"
	outcomeNotFound   outcome = "not found"
	outcomePermission outcome = "permission"
	outcomeTimeout    outcome = "timeout"
	outcomeToolError  outcome = "tool error"
)

// pastCall is a call of the history with what came of it.
type pastCall struct {
	name, args string
	outcome    outcome
	text       string // start of a failing result
}

// check returns "" if call may be made, else the short text for the user that
// ends the turn instead of it.
func (g loopGuard) check(history []chat.Message, call chat.ToolCall) string {
	limit := g.limit
	if limit == 0 {
		limit = defaultLoopLimit
	}
	if limit < 0 {
		return ""
	}
	equal := make(map[outcome]int)
	alike := make(map[outcome]int)
	last := make(map[outcome]string)
	args := canonicalJSON(string(call.Arguments))
	for _, past := range pastCalls(history) {
		if past.name != call.Name {
			continue
		}
		alike[past.outcome]++
		last[past.outcome] = past.text
		if past.args == args {
			equal[past.outcome]++
		}
	}
	reading := readsOnly(call.Name)
	if n := equal[outcomeSuccess]; n >= limit*successFactor(reading) {
		return fmt.Sprintf("Stopped: the tool %q was called %d times with the same arguments and succeeded each time; calling it again would not help.", call.Name, n)
	}
	for _, class := range []outcome{outcomeValidation, outcomeNotFound, outcomePermission, outcomeTimeout, outcomeToolError} {
		switch {
		case equal[class] >= limit:
			return fmt.Sprintf("Stopped: the tool %q was called %d times with the same arguments and failed each time. Last error: %s", call.Name, equal[class], last[class])
		case !reading && alike[class] >= limit*coarseFactor:
			return fmt.Sprintf("Stopped: the tool %q failed %d times in the same way. Last error: %s", call.Name, alike[class], last[class])
		}
	}
	return ""
}

func successFactor(reading bool) int {
	if reading {
		return readingFactor
	}
	return coarseFactor
}

func readsOnly(name string) bool {
	switch fold(name) {
	case "read", "grep", "glob", "ls", "stat", "bash", "webfetch", "task":
		return true
	}
	return false
}

// pastCalls lists the calls since the user last spoke, oldest first. A call
// without a result counts as a success: nothing says that it failed.
func pastCalls(history []chat.Message) []pastCall {
	var list []pastCall
	open := make(map[string]int) // index of the call that an id means, from 1
	for _, m := range sinceUser(history) {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case chat.ToolUse:
				list = append(list, pastCall{name: p.Name, args: canonicalJSON(p.Arguments), outcome: outcomeSuccess})
				open[p.ID] = len(list)
			case chat.ToolResult:
				if i := open[p.CallID]; i > 0 {
					list[i-1].outcome, list[i-1].text = classifyResult(p)
				}
			}
		}
	}
	return list
}

// sinceUser cuts the history behind the last words of the user that began a
// turn. Text that comes together with tool results is no such beginning:
// clients add notes of their own there.
func sinceUser(history []chat.Message) []chat.Message {
	for i := len(history) - 1; i >= 0; i-- {
		m := history[i]
		if m.Role == chat.User && hasText(m.Parts) && (i == 0 || !inToolRound(history[:i])) {
			return history[i:]
		}
	}
	return history
}

// inToolRound reports whether the model's last message made calls.
func inToolRound(history []chat.Message) bool {
	last := lastAssistant(history)
	return last >= 0 && len(toolUses(history[last].Parts)) > 0
}

func hasText(parts []chat.Part) bool {
	for _, part := range parts {
		if t, ok := part.(chat.Text); ok && strings.TrimSpace(t.Text) != "" {
			return true
		}
	}
	return false
}

const (
	resultHead  = 400 // bytes of a result that are looked at
	resultQuote = 200 // bytes of an error that are shown
)

// classifyResult tells failures apart. Most clients have no flag for them, so
// the beginning of the text decides; a file that merely holds such words must
// not look like a failure.
func classifyResult(r chat.ToolResult) (outcome, string) {
	var head strings.Builder
	for _, part := range r.Content {
		if t, ok := part.(chat.Text); ok && head.Len() < resultHead {
			head.WriteString(t.Text[:min(len(t.Text), resultHead)])
		}
	}
	text := strings.ToLower(strings.TrimSpace(head.String()))
	if !r.Failed && !failing(text) {
		return outcomeSuccess, ""
	}
	shown := clip(strings.Join(strings.Fields(strings.ToValidUTF8(head.String(), "")), " "), resultQuote)
	for _, c := range []struct {
		class outcome
		words []string
	}{
		{outcomeTimeout, []string{"timed out", "timeout", "etimedout", "deadline exceeded"}},
		{outcomePermission, []string{"permission", "denied", "eacces", "eperm", "not allowed", "rejected", "forbidden"}},
		{outcomeNotFound, []string{"not found", "no such", "enoent", "does not exist", "unknown tool", "could not find", "cannot find"}},
		{outcomeValidation, []string{"invalid", "validation", "required", "must be", "schema", "missing", "expected"}},
	} {
		for _, word := range c.words {
			if strings.Contains(text, word) {
				return c.class, shown
			}
		}
	}
	return outcomeToolError, shown
}

// failing knows how the clients' tools begin to tell of a failure.
func failing(text string) bool {
	for _, start := range []string{
		"error", "failed", "failure", "fatal", "exception", "traceback", "invalid ", "permission denied", "enoent", "eacces",
		"no such file", "file not found", "unknown tool", "tool error", "timed out", "<error", "<tool_use_error", `{"error"`, `{"is_error":true`,
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// canonicalJSON makes arguments comparable: the order of keys and space do not
// matter. What is no JSON stands for itself.
func canonicalJSON(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(args)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return args
	}
	return string(encodeJSON(v))
}
