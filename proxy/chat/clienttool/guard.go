package clienttool

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cursortray/proxy/chat"
)

// Guard stops a model that makes the same call over and over. It looks at
// the calls since the user last spoke: asking again is the user's right.
type Guard struct {
	Limit int // equal failing calls that are let through; 0 = 2, below 0 = no guard
}

const (
	defaultLoopLimit = 2
	readingFactor    = 5 // equal calls that succeed, of tools that only look
	coarseFactor     = 3 // failing calls of one tool whatever the arguments, and equal calls that succeed
)

// Outcome is a class of results.
type Outcome string

// The outcomes.
const (
	Success    Outcome = "success"
	Validation Outcome = "validation"
	NotFound   Outcome = "not found"
	Permission Outcome = "permission"
	Timeout    Outcome = "timeout"
	ToolError  Outcome = "tool error"
)

// pastCall is a call of the history with what came of it.
type pastCall struct {
	name, args string
	outcome    Outcome
	text       string // start of a failing result
}

// Check returns "" if call may be made, else the short text for the user that
// ends the turn instead of it.
func (g Guard) Check(history []chat.Message, call chat.ToolCall) string {
	limit := g.Limit
	if limit == 0 {
		limit = defaultLoopLimit
	}
	if limit < 0 {
		return ""
	}
	equal := make(map[Outcome]int)
	alike := make(map[Outcome]int)
	last := make(map[Outcome]string)
	args := Canonical(string(call.Arguments))
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
	if n := equal[Success]; n >= limit*successFactor(reading) {
		return fmt.Sprintf("Stopped: the tool %q was called %d times with the same arguments and succeeded each time; calling it again would not help.", call.Name, n)
	}
	for _, class := range []Outcome{Validation, NotFound, Permission, Timeout, ToolError} {
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
	switch Fold(name) {
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
	for _, m := range SinceUser(history) {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case chat.ToolUse:
				list = append(list, pastCall{name: p.Name, args: Canonical(p.Arguments), outcome: Success})
				open[p.ID] = len(list)
			case chat.ToolResult:
				if i := open[p.CallID]; i > 0 {
					list[i-1].outcome, list[i-1].text = Classify(p)
				}
			}
		}
	}
	return list
}

// SinceUser cuts the history behind the last words of the user that began a
// turn. Text that comes together with tool results is no such beginning:
// clients add notes of their own there.
func SinceUser(history []chat.Message) []chat.Message {
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
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != chat.Assistant {
			continue
		}
		return slices.ContainsFunc(history[i].Parts, func(p chat.Part) bool {
			_, call := p.(chat.ToolUse)
			return call
		})
	}
	return false
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

// Classify tells failures apart. Most clients have no flag for them, so
// the beginning of the text decides; a file that merely holds such words must
// not look like a failure.
func Classify(r chat.ToolResult) (Outcome, string) {
	var head strings.Builder
	for _, part := range r.Content {
		if t, ok := part.(chat.Text); ok && head.Len() < resultHead {
			head.WriteString(t.Text[:min(len(t.Text), resultHead)])
		}
	}
	text := strings.ToLower(strings.TrimSpace(head.String()))
	if !r.Failed && !failing(text) {
		return Success, ""
	}
	shown := clip(strings.Join(strings.Fields(strings.ToValidUTF8(head.String(), "")), " "), resultQuote)
	for _, c := range []struct {
		class Outcome
		words []string
	}{
		{Timeout, []string{"timed out", "timeout", "etimedout", "deadline exceeded"}},
		{Permission, []string{"permission", "denied", "eacces", "eperm", "not allowed", "rejected", "forbidden"}},
		{NotFound, []string{"not found", "no such", "enoent", "does not exist", "unknown tool", "could not find", "cannot find"}},
		{Validation, []string{"invalid", "validation", "required", "must be", "schema", "missing", "expected"}},
	} {
		for _, word := range c.words {
			if strings.Contains(text, word) {
				return c.class, shown
			}
		}
	}
	return ToolError, shown
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

// clip shortens a text to a number of bytes without splitting a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const more = "…"
	cut := limit - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}
