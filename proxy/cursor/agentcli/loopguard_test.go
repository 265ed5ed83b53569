package agentcli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// looped is a history with n rounds of one call.
func looped(n int, name string, args func(i int) string, result func(i int) chat.ToolResult) []chat.Message {
	history := []chat.Message{said(chat.User, text("do it"))}
	for i := range n {
		r := result(i)
		r.CallID = fmt.Sprint("c", i)
		history = append(history, said(chat.Assistant, use(r.CallID, name, args(i))), said(chat.User, r))
	}
	return history
}

func TestLoopGuard(t *testing.T) {
	same := func(int) string { return `{"b":1,"a":"x"}` }
	other := func(i int) string { return fmt.Sprintf(`{"a":%d}`, i) }
	gives := func(content string) func(int) chat.ToolResult {
		return func(int) chat.ToolResult { return answer("", content) }
	}
	fails := func(content string) func(int) chat.ToolResult {
		return func(int) chat.ToolResult { r := answer("", content); r.Failed = true; return r }
	}
	mixed := func(i int) chat.ToolResult {
		return answer("", []string{"Error: file not found", "Error: permission denied"}[i%2])
	}
	for _, c := range []struct {
		name  string
		guard loopGuard
		tool  string
		n     int // calls that pass
		args  func(int) string
		gives func(int) chat.ToolResult
	}{
		{"equal failing calls", loopGuard{}, "edit", 2, same, gives("Error: old text not found")},
		{"failing by flag", loopGuard{}, "edit", 2, same, fails("hm")},
		{"reading tools too", loopGuard{}, "read", 2, same, gives("Error: ENOENT")},
		{"classes count apart", loopGuard{}, "edit", 3, same, mixed},
		{"reading that succeeds", loopGuard{}, "Read", 10, same, gives("text with error: not found")},
		{"writing that succeeds", loopGuard{}, "edit", 6, same, gives("ok")},
		{"failing with other arguments", loopGuard{}, "edit", 6, other, gives("Error: no such file")},
		{"reading that fails with other arguments", loopGuard{}, "grep", 100, other, gives("Error: no such file")},
		{"succeeding with other arguments", loopGuard{}, "write", 100, other, gives("ok")},
		{"own limit", loopGuard{limit: 4}, "edit", 4, same, gives("failed")},
		{"off", loopGuard{limit: -1}, "edit", 100, same, gives("failed")},
	} {
		next := chat.ToolCall{Name: c.tool, Arguments: json.RawMessage(`{"a":"x","b":1}`)}
		if got := c.guard.check(looped(c.n-1, c.tool, c.args, c.gives), next); got != "" {
			t.Errorf("%s: stopped too early: %s", c.name, got)
		}
		got := c.guard.check(looped(c.n, c.tool, c.args, c.gives), next)
		if stopped := got != ""; stopped != (c.n < 100) {
			t.Errorf("%s: after %d calls: %q", c.name, c.n, got)
		}
		if got != "" && !strings.Contains(got, c.tool) {
			t.Errorf("%s: %q does not name the tool", c.name, got)
		}
	}
}

func TestLoopGuardTurns(t *testing.T) {
	same := func(int) string { return "{}" }
	fails := func(int) chat.ToolResult { return answer("", "Error: the old text\nis not there") }
	history := looped(3, "edit", same, fails)
	next := chat.ToolCall{Name: "edit", Arguments: json.RawMessage("{}")}
	if got := (loopGuard{}).check(history, next); !strings.HasSuffix(got, "Last error: Error: the old text is not there") {
		t.Errorf("got %q", got)
	}
	noted := append(history[:len(history):len(history)], said(chat.User, text("<environment>now</environment>")))
	if (loopGuard{}).check(noted, next) == "" {
		t.Error("a note beside the results is no new turn")
	}
	asked := append(history[:len(history):len(history)], said(chat.Assistant, text("It failed.")), said(chat.User, text("again")))
	if got := (loopGuard{}).check(asked, next); got != "" {
		t.Errorf("the user asked again, yet %q", got)
	}
	if got := (loopGuard{}).check(history, chat.ToolCall{Name: "write", Arguments: json.RawMessage("{}")}); got != "" {
		t.Errorf("another tool: %q", got)
	}
}

func TestClassifyResult(t *testing.T) {
	for content, want := range map[string]outcome{
		"": outcomeSuccess, "the file says: error, not found": outcomeSuccess, "1: error handling": outcomeSuccess, "invalidate(x)": outcomeSuccess,
		"Error: ENOENT: no such file": outcomeNotFound, "<tool_use_error>String to replace not found": outcomeNotFound, "Unknown tool x": outcomeNotFound,
		"Error: permission denied": outcomePermission, "Error: the user rejected this": outcomePermission,
		"Error: command timed out after 30s": outcomeTimeout, "Invalid arguments: path is required": outcomeValidation,
		`{"error":"boom"}`: outcomeToolError, "Traceback (most recent call last)": outcomeToolError, "\n  FAILED\n": outcomeToolError,
	} {
		if got, shown := classifyResult(answer("c", content)); got != want || (shown == "") != (want == outcomeSuccess) {
			t.Errorf("%q: %s, %q", content, got, shown)
		}
	}
	long := answer("c", "Error: "+strings.Repeat("ü", 1000))
	if _, shown := classifyResult(long); len(shown) > resultQuote {
		t.Errorf("shows %d bytes", len(shown))
	}
}
