package agentrpc

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// toolSet reads the tools of a made-up client. The sets have the shapes of
// those that were seen; the code must not know whose they are.
func toolSet(t testing.TB, name string) []chat.Tool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tools", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name   string
		Schema json.RawMessage
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	var tools []chat.Tool
	for _, entry := range list {
		tools = append(tools, chat.Tool{Name: entry.Name, Schema: entry.Schema})
	}
	return tools
}

// asks is a request of a client with tools.
func asks(tools ...chat.Tool) *chat.Request {
	return &chat.Request{Model: "m", Tools: tools, Messages: []chat.Message{said("do it")}}
}

func said(parts ...any) chat.Message { return message(chat.User, parts) }

func answered(parts ...any) chat.Message { return message(chat.Assistant, parts) }

func message(role chat.Role, parts []any) chat.Message {
	m := chat.Message{Role: role}
	for _, p := range parts {
		if text, ok := p.(string); ok {
			p = chat.Text{Text: text}
		}
		m.Parts = append(m.Parts, p.(chat.Part))
	}
	return m
}

func gave(id string, parts ...any) chat.ToolResult {
	return chat.ToolResult{CallID: id, Content: message(chat.User, parts).Parts}
}

func called(id, name, arguments string) chat.ToolUse {
	return chat.ToolUse{ID: id, Name: name, Arguments: arguments}
}

func mapper(t testing.TB, s settings, req *chat.Request) *execMapper {
	t.Helper()
	box, err := newToolbox(req)
	if err != nil {
		t.Fatal(err)
	}
	return newExecMapper(s, req, box)
}

// rendered is a message as stable JSON in one line.
func rendered(t testing.TB, m proto.Message) string {
	t.Helper()
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// native is a request for work under a name.
type native struct {
	name string
	exec *cursorpb.ExecServerMessage
}

// natives are requests of all kinds that some client's tool can do.
func natives() []native {
	shell := func(args *cursorpb.ShellArgs) *cursorpb.ExecServerMessage {
		return &cursorpb.ExecServerMessage{Id: 5, ExecId: "e5", Message: &cursorpb.ExecServerMessage_ShellArgs{ShellArgs: args}}
	}
	grep := func(args *cursorpb.GrepArgs) *cursorpb.ExecServerMessage {
		return &cursorpb.ExecServerMessage{Id: 6, ExecId: "e6", Message: &cursorpb.ExecServerMessage_GrepArgs{GrepArgs: args}}
	}
	write := func(args *cursorpb.WriteArgs) *cursorpb.ExecServerMessage {
		return &cursorpb.ExecServerMessage{Id: 3, ExecId: "e3", Message: &cursorpb.ExecServerMessage_WriteArgs{WriteArgs: args}}
	}
	edit := func(edits ...*cursorpb.PiEditReplacement) *cursorpb.ExecServerMessage {
		return &cursorpb.ExecServerMessage{Id: 9, Message: &cursorpb.ExecServerMessage_PiEditArgs{
			PiEditArgs: &cursorpb.PiEditExecArgs{Path: "/w/a.go", Edits: edits}}}
	}
	return []native{
		{"read", &cursorpb.ExecServerMessage{Id: 4, ExecId: "e4", Message: &cursorpb.ExecServerMessage_ReadArgs{
			ReadArgs: &cursorpb.ReadArgs{Path: "/w/a.go", ToolCallId: "t1"}}}},
		{"read a part", &cursorpb.ExecServerMessage{Id: 4, ExecId: "e4", Message: &cursorpb.ExecServerMessage_ReadArgs{
			ReadArgs: &cursorpb.ReadArgs{Path: "/w/a.go", Offset: proto.Int32(10), Limit: proto.Uint32(5)}}}},
		{"read the beginning", &cursorpb.ExecServerMessage{Id: 4, Message: &cursorpb.ExecServerMessage_ReadArgs{
			ReadArgs: &cursorpb.ReadArgs{Path: "/w/a.go", Limit: proto.Uint32(5)}}}},
		{"write", write(&cursorpb.WriteArgs{Path: "/w/a.go", FileText: "a < b\nc\n", ReturnFileContentAfterWrite: true})},
		{"write nothing", write(&cursorpb.WriteArgs{Path: "/w/a.go"})},
		{"write bytes", write(&cursorpb.WriteArgs{Path: "/w/a.go", FileText: "old", FileBytes: []byte("new ü")})},
		{"write UTF-16", write(&cursorpb.WriteArgs{Path: "/w/a.go", FileBytes: []byte("\xff\xfeh\x00i\x00"), EncodingHint: proto.String("utf-16le")})},
		{"write binary", write(&cursorpb.WriteArgs{Path: "/w/a.png", FileBytes: []byte{0x89, 'P', 'N', 'G', 0xff}})},
		{"delete", &cursorpb.ExecServerMessage{Id: 7, Message: &cursorpb.ExecServerMessage_DeleteArgs{DeleteArgs: &cursorpb.DeleteArgs{Path: "/w/a.go"}}}},
		{"shell", shell(&cursorpb.ShellArgs{Command: "go test", Timeout: 30000, Description: proto.String("Run the tests")})},
		{"shell elsewhere", shell(&cursorpb.ShellArgs{Command: "ls", WorkingDirectory: "/it's"})},
		{"shell at home", shell(&cursorpb.ShellArgs{Command: "ls", WorkingDirectory: "/home/me/w"})},
		{"shell in the background", shell(&cursorpb.ShellArgs{Command: "serve", IsBackground: true})},
		{"shell that may go on", shell(&cursorpb.ShellArgs{Command: "build", Timeout: 1000, HardTimeout: proto.Int32(900000),
			TimeoutBehavior: cursorpb.TimeoutBehavior_TIMEOUT_BEHAVIOR_BACKGROUND})},
		{"shell stream", &cursorpb.ExecServerMessage{Id: 5, ExecId: "e5", Message: &cursorpb.ExecServerMessage_ShellStreamArgs{
			ShellStreamArgs: &cursorpb.ShellArgs{Command: "ls && pwd", WorkingDirectory: "/w"}}}},
		{"mini shell", &cursorpb.ExecServerMessage{Id: 5, Message: &cursorpb.ExecServerMessage_MiniSweAgentBashArgs{
			MiniSweAgentBashArgs: &cursorpb.ShellArgs{Command: "ls"}}}},
		{"grep", grep(&cursorpb.GrepArgs{Pattern: "func .*", Path: proto.String("/w"), Glob: proto.String("*.go")})},
		{"grep with all", grep(&cursorpb.GrepArgs{Pattern: "x", OutputMode: proto.String("content"), Context: proto.Int32(2), ContextBefore: proto.Int32(3),
			ContextAfter: proto.Int32(4), CaseInsensitive: proto.Bool(true), Type: proto.String("go"), HeadLimit: proto.Int32(50), Multiline: proto.Bool(true)})},
		{"glob", grep(&cursorpb.GrepArgs{Glob: proto.String("**/*.go"), Path: proto.String("/w")})},
		{"ls", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_LsArgs{LsArgs: &cursorpb.LsArgs{Path: "/w", Ignore: []string{"node_modules"}}}}},
		{"fetch", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_FetchArgs{FetchArgs: &cursorpb.FetchArgs{Url: "https://example.org/"}}}},
		{"pi read", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiReadArgs{PiReadArgs: &cursorpb.PiReadExecArgs{Path: "a.go", Offset: proto.Int32(3)}}}},
		{"pi bash", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiBashArgs{PiBashArgs: &cursorpb.PiBashExecArgs{Command: "ls", Timeout: proto.Float64(1.5)}}}},
		{"pi write", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiWriteArgs{PiWriteArgs: &cursorpb.PiWriteExecArgs{Path: "a.go", Content: "x"}}}},
		{"pi edit", edit(&cursorpb.PiEditReplacement{OldText: "a\n", NewText: "b\nc\n"})},
		{"pi edit twice", edit(&cursorpb.PiEditReplacement{OldText: "a", NewText: "b"}, &cursorpb.PiEditReplacement{OldText: "c"})},
		{"pi edit of nothing", edit(&cursorpb.PiEditReplacement{NewText: "b"})},
		{"pi grep", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiGrepArgs{
			PiGrepArgs: &cursorpb.PiGrepExecArgs{Pattern: "a.b", Literal: proto.Bool(true), IgnoreCase: proto.Bool(true), Limit: proto.Int32(9)}}}},
		{"pi find", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiFindArgs{PiFindArgs: &cursorpb.PiFindExecArgs{Pattern: "*.go", Path: proto.String("/w")}}}},
		{"pi ls", &cursorpb.ExecServerMessage{Id: 8, Message: &cursorpb.ExecServerMessage_PiLsArgs{PiLsArgs: &cursorpb.PiLsExecArgs{Limit: proto.Int32(20)}}}},
	}
}

// TestNativeWork shows what becomes of each native request for each set of
// tools: a call, or the answer that refuses it.
func TestNativeWork(t *testing.T) {
	for _, set := range []string{"camel", "capital", "few", "patch", "long", "lines", "other", "none"} {
		var b strings.Builder
		req := asks(toolSet(t, set)...)
		req.Workspace = "/home/me/w"
		for _, n := range natives() {
			plan := mapper(t, settings{}, req).plan(n.exec)
			switch {
			case plan.fail != nil:
				t.Errorf("%s: %v", n.name, plan.fail)
			case plan.call != nil:
				fmt.Fprintf(&b, "%s: %s %s\n", n.name, plan.call.name, plan.call.arguments)
				checkCall(t, req, plan.call)
			default:
				fmt.Fprintf(&b, "%s: %s\n", n.name, rendered(t, plan.answers[0]))
				checkAnswers(t, n.exec, plan.answers)
			}
		}
		golden(t, filepath.Join("native", set+".txt"), b.String())
	}
}

// checkCall holds a call to what every client relies on.
func checkCall(t testing.TB, req *chat.Request, call *plannedCall) {
	t.Helper()
	for _, tool := range req.Tools {
		if tool.Name != call.name {
			continue
		}
		var schema struct{ Properties map[string]json.RawMessage }
		var given map[string]json.RawMessage
		if json.Unmarshal(tool.Schema, &schema) != nil || json.Unmarshal(call.arguments, &given) != nil || given == nil {
			t.Errorf("%s: arguments %s", call.name, call.arguments)
		}
		for key := range given {
			if len(schema.Properties) > 0 && schema.Properties[key] == nil {
				t.Errorf("%s: argument %q is not in the schema", call.name, key)
			}
		}
		return
	}
	t.Errorf("the call of %s is of no offered tool", call.name)
}

// resultNumber is the field in which a request is answered.
func resultNumber(request int32) int32 {
	switch {
	case 45 <= request && request <= 51:
		return request + 1
	case request == 52:
		return 55
	}
	return request
}

func fieldNumber(m proto.Message) int32 {
	r := m.ProtoReflect()
	field := r.WhichOneof(r.Descriptor().Oneofs().ByName("message"))
	if field == nil {
		return 0
	}
	return int32(field.Number())
}

// checkAnswers holds a whole answer to the protocol: the right field, the ids,
// one result or throw or a stream of events, then one stream close.
func checkAnswers(t testing.TB, exec *cursorpb.ExecServerMessage, answers []*cursorpb.AgentClientMessage) {
	t.Helper()
	if len(answers) < 2 {
		t.Fatalf("%d messages", len(answers))
	}
	last := answers[len(answers)-1].GetExecClientControlMessage().GetStreamClose()
	if last == nil || last.GetId() != exec.GetId() {
		t.Errorf("ends with %v", answers[len(answers)-1])
	}
	for _, m := range answers[:len(answers)-1] {
		if _, err := (cursorpb.Codec{}).Marshal(m); err != nil {
			t.Errorf("cannot be sent: %v", err)
		}
		if throw := m.GetExecClientControlMessage().GetThrow(); throw != nil {
			if throw.GetId() != exec.GetId() || len(answers) != 2 {
				t.Errorf("throws %v", throw)
			}
			continue
		}
		result := m.GetExecClientMessage()
		if result.GetId() != exec.GetId() || result.GetExecId() != exec.GetExecId() {
			t.Errorf("ids %d %q", result.GetId(), result.GetExecId())
		}
		if got, want := fieldNumber(result), resultNumber(fieldNumber(exec)); got != want {
			t.Errorf("answered in field %d, want %d", got, want)
		}
		if len(answers) != 2 && result.GetShellStream() == nil {
			t.Errorf("%d messages", len(answers))
		}
	}
}
