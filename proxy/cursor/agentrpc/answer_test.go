package agentrpc

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// planned is how the client with the fullest set of tools is asked.
func planned(t testing.TB, name string) pendingExec {
	t.Helper()
	tools := append(toolSet(t, "camel"), chat.Tool{Name: "delete", Schema: []byte(`{"properties":{"path":{}}}`)})
	for _, n := range natives() {
		if n.name == name {
			plan := mapper(t, settings{}, asks(tools...)).plan(n.exec)
			if plan.call == nil {
				t.Fatalf("%s is refused: %v", name, plan.answers)
			}
			return plan.call.pending
		}
	}
	t.Fatalf("no request %q", name)
	return pendingExec{}
}

// TestAnswers shows what the service is told of the results of each kind of
// native work.
func TestAnswers(t *testing.T) {
	failed := gave("c", "boom")
	failed.Failed = true
	picture := chat.Image{MIME: "image/png", Data: []byte("png")}
	var b strings.Builder
	for _, c := range []struct {
		request string
		results []chat.ToolResult
	}{
		{"read", []chat.ToolResult{gave("c", "1: package a\n2: \n"), gave("c", ""), gave("c", "Error: ENOENT: no such file"), failed, gave("c", picture)}},
		{"read a part", []chat.ToolResult{gave("c", "10: x")}},
		{"write", []chat.ToolResult{gave("c", "Wrote file successfully."), gave("c", "Error: EACCES")}},
		{"delete", []chat.ToolResult{gave("c", "Deleted"), gave("c", "file not found")}},
		{"shell", []chat.ToolResult{
			gave("c", "ok\n"), gave("c", ""), gave("c", "--- FAIL\nExit code: 2"), gave("c", "Process exited with code 0\nOutput:\nexit status fine"),
			gave("c", `{"output":"x","metadata":{"exit_code":127}}`), gave("c", "Error: command timed out after 30000 ms"), failed,
		}},
		{"shell stream", []chat.ToolResult{gave("c", "a\nb"), gave("c", ""), gave("c", "<exit_code>1</exit_code>"), gave("c", "Error: timed out")}},
		{"mini shell", []chat.ToolResult{gave("c", "x")}},
		{"grep", []chat.ToolResult{
			gave("c", "Found 3 matches\n/w/a.go:\n  Line 3: func a() {\n  Line 9: func b() {\n\n/w/b.go:\n  Line 1: func c() {"),
			gave("c", "/w/a.go:3:func a() {\n/w/a.go:9:x: y\nC:\\w\\b.go:1:z"), gave("c", "/w/a.go\n/w/b.go"), gave("c", "No files found"),
			gave("c", "three places, see there"), gave("c", "Error: invalid regex"),
		}},
		{"glob", []chat.ToolResult{gave("c", "/w/a.go\n/w/my file.go\n(Results are truncated)"), gave("c", `["a.go","b.go"]`), gave("c", "No files found")}},
		{"ls", []chat.ToolResult{
			gave("c", "/w/\n  src/\n    a.go\n    deep/\n      b.go\n  c.txt\n"), gave("c", "- /w/\n  - a.go\n  - d/\n    - e"),
			gave("c", "Directory listing for /w:\n[DIR] d\na.go"), gave("c", "total 8\n-rw-r--r-- 1 me me 3 a.go"), gave("c", ""), gave("c", "Error: no such file"),
		}},
		{"fetch", []chat.ToolResult{gave("c", "# Page"), gave("c", "Error: 404 not found")}},
		{"pi read", []chat.ToolResult{gave("c", "x"), gave("c", ""), gave("c", "Error: no such file")}},
		{"pi bash", []chat.ToolResult{gave("c", "x"), gave("c", ""), gave("c", "Command exited with code 3")}},
		{"pi edit", []chat.ToolResult{gave("c", "edited"), gave("c", "Error: not found")}},
		{"pi write", []chat.ToolResult{gave("c", "written"), failed}},
		{"pi grep", []chat.ToolResult{gave("c", "a:1:x"), gave("c", "")}},
		{"pi find", []chat.ToolResult{gave("c", "a")}},
		{"pi ls", []chat.ToolResult{gave("c", "a"), failed}},
	} {
		p := planned(t, c.request)
		for _, result := range c.results {
			fmt.Fprintf(&b, "%s %q:\n", c.request, result.Content)
			answers := p.answer(result)
			checkAnswers(t, p.exec, answers)
			for _, m := range answers[:len(answers)-1] {
				fmt.Fprintf(&b, "\t%s\n", rendered(t, m))
			}
		}
	}
	golden(t, "answers.txt", b.String())
}

func TestListedByGlob(t *testing.T) {
	exec := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_LsArgs{LsArgs: &cursorpb.LsArgs{Path: "/w/"}}}
	plan := mapper(t, settings{}, asks(toolSet(t, "capital")...)).plan(exec)
	root := plan.call.pending.answer(gave("c", "/w/a.go\nb.go\n./c.go"))[0].GetExecClientMessage().GetLsResult().GetSuccess().GetDirectoryTreeRoot()
	var names []string
	for _, f := range root.GetChildrenFiles() {
		names = append(names, f.GetName())
	}
	if strings.Join(names, " ") != "a.go b.go c.go" || root.GetNumFiles() != 3 {
		t.Errorf("got %v", root)
	}
}

func toolPending() pendingExec {
	return pendingExec{id: 2, execID: "e2", exec: callOf("", "any", nil)}
}

func items(t *testing.T, answers []*cursorpb.AgentClientMessage) []*cursorpb.McpToolResultContentItem {
	t.Helper()
	success := answers[0].GetExecClientMessage().GetMcpResult().GetSuccess()
	if success == nil {
		t.Fatalf("no success: %v", answers)
	}
	return success.GetContent()
}

func TestResultsOfTools(t *testing.T) {
	picture := chat.Image{MIME: "image/png", Data: []byte("png")}
	got := items(t, toolPending().answer(gave("c", "a", "b", picture, "", "c")))
	if len(got) != 3 || got[0].GetText().GetText() != "a\nb" || string(got[1].GetImage().GetData()) != "png" ||
		got[1].GetImage().GetMimeType() != "image/png" || got[2].GetText().GetText() != "c" {
		t.Errorf("got %v", got)
	}
	for _, empty := range []chat.ToolResult{gave("c"), gave("c", "")} {
		if got := items(t, toolPending().answer(empty)); len(got) != 1 || got[0].GetText().GetText() != "(no output)" {
			t.Errorf("got %v", got)
		}
	}
	failed := gave("c", "no")
	failed.Failed = true
	if !toolPending().answer(failed)[0].GetExecClientMessage().GetMcpResult().GetSuccess().GetIsError() {
		t.Error("the failure got lost")
	}
}

func TestTC10_ResultTextIsNotTouched(t *testing.T) {
	text := "<file>\n00001| a\t<b>&\r\n00002| \n(File has more lines. Use 'offset')\n</file>\n\n"
	if got := items(t, toolPending().answer(gave("c", text))); got[0].GetText().GetText() != text {
		t.Errorf("got %q", got[0].GetText().GetText())
	}
	read := planned(t, "read").answer(gave("c", text))[0].GetExecClientMessage().GetReadResult().GetSuccess()
	if read.GetContent() != text || read.GetTruncated() {
		t.Errorf("got %v", read)
	}
	shell := planned(t, "shell").answer(gave("c", text))[0].GetExecClientMessage().GetShellResult().GetSuccess()
	if shell.GetStdout() != text {
		t.Errorf("got %v", shell)
	}
}

func TestR5_OwnCutsAreSaid(t *testing.T) {
	long := strings.Repeat("ü", maxResultText)
	got := items(t, toolPending().answer(gave("c", long)))[0].GetText().GetText()
	if len(got) > maxResultText || !utf8.ValidString(got) || !strings.Contains(got[len(got)-200:], "cut here: the result has 1048576 bytes") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-200:])
	}
	if short := strings.Repeat("x", maxResultText); items(t, toolPending().answer(gave("c", short)))[0].GetText().GetText() != short {
		t.Error("a result within the limit was cut")
	}
	read := planned(t, "read").answer(gave("c", long))[0].GetExecClientMessage().GetReadResult().GetSuccess()
	if !read.GetTruncated() || !strings.Contains(read.GetContent(), "cut here") {
		t.Error("a file was cut without a word")
	}
	picture := chat.Image{MIME: "image/png", Data: make([]byte, maxResultImages)}
	parts := items(t, toolPending().answer(gave("c", picture, picture)))
	if len(parts) != 2 || !strings.Contains(parts[1].GetText().GetText(), "1 pictures") {
		t.Errorf("%d parts", len(parts))
	}
}

func TestInvalidTextIsRepaired(t *testing.T) {
	for _, name := range []string{"read", "shell", "grep", "ls", "pi bash"} {
		p := planned(t, name)
		checkAnswers(t, p.exec, p.answer(gave("c", "a\xffb/c.go:\xfe")))
	}
	checkAnswers(t, toolPending().exec, toolPending().answer(gave("c", "\xff", chat.Image{MIME: "\xff"})))
	checkAnswers(t, toolPending().exec, toolPending().refuse("\xff"))
}

// TestWordsBesideResults: what the user says while tools run reaches the model
// without becoming part of a file.
func TestWordsBesideResults(t *testing.T) {
	messages := []chat.Message{
		said("old"), answered(called("a", "x", ""), called("b", "y", "")),
		said(gave("a", "one")), said(gave("b", "two"), "stop that"), said("please", chat.Image{MIME: "image/png", Data: []byte("p")}),
	}
	results := newResults(messages)
	if len(results) != 2 || results[0].CallID != "a" || results[1].CallID != "b" || len(results[0].Content) != 1 {
		t.Fatalf("got %+v", results)
	}
	got := items(t, toolPending().answer(results[1]))
	if len(got) != 3 || got[0].GetText().GetText() != "two" ||
		got[1].GetText().GetText() != "<user_message>\nstop that\nplease\n</user_message>" || string(got[2].GetImage().GetData()) != "p" {
		t.Errorf("got %v", got)
	}
	if len(messages[3].Parts[0].(chat.ToolResult).Content) != 1 {
		t.Error("the request was changed")
	}

	read := planned(t, "read").answer(results[1])[0].GetExecClientMessage()
	if read.GetReadResult().GetSuccess().GetContent() != "two" || !strings.Contains(read.GetHookAdditionalContexts()[0].GetContent(), "stop that") {
		t.Errorf("got %v", read)
	}
	shell := planned(t, "shell").answer(results[1])[0].GetExecClientMessage()
	if shell.GetShellResult().GetSuccess().GetStdout() != "two\n\n<user_message>\nstop that\nplease\n</user_message>" {
		t.Errorf("got %v", shell)
	}
	stream := planned(t, "shell stream")
	stream.exec = proto.CloneOf(stream.exec)
	stream.exec.AcceptHookAdditionalContexts = proto.Bool(true)
	events := stream.answer(results[1])
	if len(events) != 4 || len(events[0].GetExecClientMessage().GetHookAdditionalContexts()) != 1 ||
		events[1].GetExecClientMessage().GetShellStream().GetStdout().GetData() != "two" {
		t.Errorf("got %v", events)
	}
}

func TestNewResultsOnly(t *testing.T) {
	if got := newResults([]chat.Message{said("a"), answered("b"), said("c")}); got != nil {
		t.Errorf("got %+v", got)
	}
	old := []chat.Message{answered(called("a", "x", "")), said(gave("a", "1")), answered("ok"), said("next")}
	if got := newResults(old); got != nil {
		t.Errorf("got %+v", got)
	}
	if got := newResults(nil); got != nil {
		t.Errorf("got %+v", got)
	}
}

// TestWordsMoveToWhereTheyFit: the last result is that of a file, or of a call
// that nobody waits for.
func TestWordsMoveToWhereTheyFit(t *testing.T) {
	pending := map[string]pendingExec{"tool": toolPending(), "shell": planned(t, "shell"), "read": planned(t, "read")}
	waiting := func(id string) (pendingExec, bool) { p, ok := pending[id]; return p, ok }
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"tool", "shell", "read"}, "tool"}, {[]string{"shell", "read"}, "shell"}, {[]string{"read"}, "read"},
		{[]string{"tool", "gone"}, "tool"}, {[]string{"read", "gone"}, "read"}, {[]string{"read", "shell"}, "shell"},
	} {
		var parts []any
		for _, id := range c.ids {
			parts = append(parts, gave(id, "own"))
		}
		results := moveNote(newResults([]chat.Message{said(append(parts, "words")...)}), waiting)
		for _, r := range results {
			own, note := splitNote(r.Content)
			if len(own) != 1 || (note != nil) != (r.CallID == c.want) {
				t.Errorf("%v: %s has %q and %q", c.ids, r.CallID, own, note)
			}
		}
	}
	plain := []chat.ToolResult{gave("read", "own")}
	if got := moveNote(plain, waiting); len(got[0].Content) != 1 {
		t.Errorf("got %v", got)
	}
}
