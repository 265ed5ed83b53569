package clienttool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// looped is a history with n rounds of one call.
func looped(n int, name string, args func(i int) string, result func(i int) chat.ToolResult) []chat.Message {
	history := []chat.Message{said(chat.User, words("do it"))}
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
		guard Guard
		tool  string
		n     int // calls that pass
		args  func(int) string
		gives func(int) chat.ToolResult
	}{
		{"equal failing calls", Guard{}, "edit", 2, same, gives("Error: old text not found")},
		{"failing by flag", Guard{}, "edit", 2, same, fails("hm")},
		{"reading tools too", Guard{}, "read", 2, same, gives("Error: ENOENT")},
		{"classes count apart", Guard{}, "edit", 3, same, mixed},
		{"reading that succeeds", Guard{}, "Read", 10, same, gives("text with error: not found")},
		{"writing that succeeds", Guard{}, "edit", 6, same, gives("ok")},
		{"failing with other arguments", Guard{}, "edit", 6, other, gives("Error: no such file")},
		{"reading that fails with other arguments", Guard{}, "grep", 100, other, gives("Error: no such file")},
		{"succeeding with other arguments", Guard{}, "write", 100, other, gives("ok")},
		{"own limit", Guard{Limit: 4}, "edit", 4, same, gives("failed")},
		{"off", Guard{Limit: -1}, "edit", 100, same, gives("failed")},
	} {
		next := chat.ToolCall{Name: c.tool, Arguments: json.RawMessage(`{"a":"x","b":1}`)}
		if got := c.guard.Check(looped(c.n-1, c.tool, c.args, c.gives), next); got != "" {
			t.Errorf("%s: stopped too early: %s", c.name, got)
		}
		got := c.guard.Check(looped(c.n, c.tool, c.args, c.gives), next)
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
	if got := (Guard{}).Check(history, next); !strings.HasSuffix(got, "Last error: Error: the old text is not there") {
		t.Errorf("got %q", got)
	}
	noted := append(history[:len(history):len(history)], said(chat.User, words("<environment>now</environment>")))
	if (Guard{}).Check(noted, next) == "" {
		t.Error("a note beside the results is no new turn")
	}
	asked := append(history[:len(history):len(history)], said(chat.Assistant, words("It failed.")), said(chat.User, words("again")))
	if got := (Guard{}).Check(asked, next); got != "" {
		t.Errorf("the user asked again, yet %q", got)
	}
	if got := (Guard{}).Check(history, chat.ToolCall{Name: "write", Arguments: json.RawMessage("{}")}); got != "" {
		t.Errorf("another tool: %q", got)
	}
}

func TestClassify(t *testing.T) {
	for content, want := range map[string]Outcome{
		"": Success, "the file says: error, not found": Success, "1: error handling": Success, "invalidate(x)": Success,
		"Error: ENOENT: no such file": NotFound, "<tool_use_error>String to replace not found": NotFound, "Unknown tool x": NotFound,
		"Error: permission denied": Permission, "Error: the user rejected this": Permission,
		"Error: command timed out after 30s": Timeout, "Invalid arguments: path is required": Validation,
		`{"error":"boom"}`: ToolError, "Traceback (most recent call last)": ToolError, "\n  FAILED\n": ToolError,
	} {
		if got, shown := Classify(answer("c", content)); got != want || (shown == "") != (want == Success) {
			t.Errorf("%q: %s, %q", content, got, shown)
		}
	}
	long := answer("c", "Error: "+strings.Repeat("ü", 1000))
	if _, shown := Classify(long); len(shown) > resultQuote {
		t.Errorf("shows %d bytes", len(shown))
	}
}

func said(role chat.Role, parts ...chat.Part) chat.Message {
	return chat.Message{Role: role, Parts: parts}
}

func words(s string) chat.Text { return chat.Text{Text: s} }

func use(id, name, args string) chat.ToolUse {
	return chat.ToolUse{ID: id, Name: name, Arguments: args}
}

func answer(id, content string) chat.ToolResult {
	return chat.ToolResult{CallID: id, Content: []chat.Part{words(content)}}
}
