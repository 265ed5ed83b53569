package agentrpc

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

func shellExec(command, folder string) *cursorpb.ExecServerMessage {
	return &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_ShellArgs{
		ShellArgs: &cursorpb.ShellArgs{Command: command, WorkingDirectory: folder, Timeout: 5000}}}
}

func TestShellOnWindows(t *testing.T) {
	s := settings{env: &cursorpb.RequestContextEnv{OsVersion: "windows 10.0"}}
	argv := mapper(t, s, asks(toolSet(t, "patch")...)).plan(shellExec("dir", ""))
	if got := string(argv.call.arguments); got != `{"command":["powershell.exe","-NoProfile","-Command","dir"],"timeout_ms":5000}` {
		t.Errorf("got %s", got)
	}
	// Which shell reads the command is not known, so nobody can change into a
	// folder in its language.
	if plan := mapper(t, s, asks(toolSet(t, "few")...)).plan(shellExec("dir", `C:\w`)); plan.call != nil {
		t.Errorf("got %s", plan.call.arguments)
	}
}

// TestArgumentsFollowTheSchema shows one tool after the other what it is asked,
// "" for tools that cannot be asked.
func TestArgumentsFollowTheSchema(t *testing.T) {
	read := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_ReadArgs{ReadArgs: &cursorpb.ReadArgs{Path: "a", Offset: proto.Int32(3), Limit: proto.Uint32(2)}}}
	edit := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_PiEditArgs{PiEditArgs: &cursorpb.PiEditExecArgs{
		Path: "a", Edits: []*cursorpb.PiEditReplacement{{OldText: "x", NewText: "y"}}}}}
	find := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_PiFindArgs{PiFindArgs: &cursorpb.PiFindExecArgs{Pattern: "*.go"}}}
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		exec         *cursorpb.ExecServerMessage
		tool, schema string
		want         string
	}{
		{read, "read_file", `{"properties":{"filePath":{"type":"string"},"startLine":{"type":"number"},"endLine":{"type":"number"}},"required":["filePath","startLine","endLine"]}`, `{"endLine":4,"filePath":"a","startLine":3}`},
		{read, "read", `{"properties":{"path":{"type":"string"},"encoding":{}},"required":["path","encoding"]}`, ``},
		{read, "read", `{"properties":{"path":{"type":"number"}}}`, ``},
		{read, "read", `{"properties":{"url":{"type":"string"}}}`, ``},
		{read, "read", `{}`, ``},
		{read, "read", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"path":{"type":["string","null"]}}}}}`, `{"path":"a"}`},
		{edit, "edit", `{"properties":{"path":{},"edits":{"type":"array","items":{"properties":{"search":{}}}}}}`, ``},
		{edit, "edit", `{"properties":{"path":{},"edits":{"type":"array"}}}`, ``},
		{find, "glob", `{"properties":{"pattern":{},"path":{"type":"string"}},"required":["pattern","path"]}`, `{"path":".","pattern":"*.go"}`},
		{shellExec("ls", ""), "bash", `{"properties":{"command":{"type":"string"},"timeout":{"type":"integer","minimum":10000,"maximum":20000}}}`, `{"command":"ls","timeout":10000}`},
		{shellExec("ls", ""), "run_commands", `{"properties":{"commands":{"type":"array","items":{"type":"string"}}},"required":["commands"]}`, `{"commands":["ls"]}`},
		{shellExec("ls", ""), "bash", `{"properties":{"script":{"type":"string"}}}`, ``},
		{shellExec(long, ""), "bash", `{"properties":{"command":{},"description":{"type":"string"}},"required":["command","description"]}`,
			`{"command":"` + long + `","description":"` + long[:80] + `…"}`},
		{shellExec("ls", ""), "bash", `{"properties":{"command":{},"requires_approval":{"type":"boolean"}},"required":["command","requires_approval"]}`, `{"command":"ls","requires_approval":true}`},
		{shellExec("ls", ""), "bash", `{"properties":{"command":{},"description":{"type":"number"}},"required":["command","description"]}`, ``},
	} {
		plan := mapper(t, settings{}, asks(chat.Tool{Name: c.tool, Schema: json.RawMessage(c.schema)})).plan(c.exec)
		got := ""
		if plan.call != nil {
			got = string(plan.call.arguments)
		}
		if got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.schema, got, c.want)
		}
	}
}

func TestCountedMatches(t *testing.T) {
	exec := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_GrepArgs{GrepArgs: &cursorpb.GrepArgs{Pattern: "x", OutputMode: proto.String("count")}}}
	p := pendingExec{exec: exec}
	got := p.answer(gave("c", "a.go:3\nb.go:4"))[0].GetExecClientMessage().GetGrepResult().GetSuccess()
	counts := got.GetWorkspaceResults()["."].GetCount()
	if got.GetOutputMode() != "count" || counts.GetTotalFiles() != 2 || counts.GetTotalMatches() != 7 || counts.GetCounts()[1].GetFile() != "b.go" {
		t.Errorf("got %v", got)
	}
}

func TestCutOutputOfPi(t *testing.T) {
	p := planned(t, "pi bash")
	got := p.answer(gave("c", strings.Repeat("line\n", maxResultText)))[0].GetExecClientMessage().GetPiBashResult().GetSuccess()
	if !got.GetTruncation().GetTruncated() || got.GetTruncation().GetOutputBytes() != uint32(len(got.GetOutput())) {
		t.Errorf("%v", got.GetTruncation())
	}
}

func TestListingsInOtherForms(t *testing.T) {
	p := planned(t, "ls")
	root := p.answer(gave("c", `["a.go","d/"]`))[0].GetExecClientMessage().GetLsResult().GetSuccess().GetDirectoryTreeRoot()
	if len(root.GetChildrenFiles()) != 1 || root.GetChildrenDirs()[0].GetAbsPath() != "/w/d" {
		t.Errorf("got %v", root)
	}
	var deep strings.Builder
	for i := range 200 {
		deep.WriteString(strings.Repeat(" ", i) + "d/\n")
	}
	encoded, err := cursorpb.Codec{}.Marshal(p.answer(gave("c", deep.String()))[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := (proto.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(encoded, &cursorpb.AgentClientMessage{}); err != nil {
		t.Error(err)
	}
}
