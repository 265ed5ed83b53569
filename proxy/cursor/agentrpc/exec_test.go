package agentrpc

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorpb"
)

// everyKind has one empty request of each kind, in the order of their numbers,
// and one of a kind that nobody knows.
func everyKind() []*cursorpb.ExecServerMessage {
	var all []*cursorpb.ExecServerMessage
	fields := (&cursorpb.ExecServerMessage{}).ProtoReflect().Descriptor().Oneofs().ByName("message").Fields()
	for number := protoreflect.FieldNumber(1); number < 100; number++ {
		field := fields.ByNumber(number)
		if field == nil {
			continue
		}
		m := &cursorpb.ExecServerMessage{Id: uint32(number), ExecId: fmt.Sprint("e", number)}
		r := m.ProtoReflect()
		if field.Message() != nil {
			r.Set(field, r.NewField(field))
		} else {
			r.Set(field, protoreflect.ValueOfBytes(nil))
		}
		all = append(all, m)
	}
	unknown := &cursorpb.ExecServerMessage{Id: 99, ExecId: "e99"}
	unknown.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 99, protowire.BytesType), []byte("new")))
	return append(all, unknown)
}

// TestNegativeAnswers holds the answers to every kind of request to the table of
// safe negatives, for a client without a matching tool.
func TestNegativeAnswers(t *testing.T) {
	var b strings.Builder
	for _, exec := range everyKind() {
		plan := mapper(t, settings{}, asks(toolSet(t, "other")...)).plan(exec)
		if plan.call != nil || plan.fail != nil {
			t.Fatalf("%d: %+v", exec.Id, plan)
		}
		checkAnswers(t, exec, plan.answers)
		fmt.Fprintf(&b, "%d: %s\n", exec.Id, rendered(t, plan.answers[0]))
	}
	golden(t, "negative.txt", b.String())
}

func TestUnknownWorkIsThrown(t *testing.T) {
	all := everyKind()
	answers := mapper(t, settings{}, asks()).plan(all[len(all)-1]).answers
	throw := answers[0].GetExecClientControlMessage().GetThrow()
	if throw.GetId() != 99 || throw.GetErrorCode() != "unknown_exec_variant" || answers[1].GetExecClientControlMessage().GetStreamClose().GetId() != 99 {
		t.Errorf("answered with %v", answers)
	}
}

// TestWireVectors compares with messages that were written by other clients.
func TestWireVectors(t *testing.T) {
	read := &cursorpb.ExecServerMessage{Id: 4, ExecId: "e4", Message: &cursorpb.ExecServerMessage_ReadArgs{ReadArgs: &cursorpb.ReadArgs{Path: "/w/a.go", ToolCallId: "t1"}}}
	stream := &cursorpb.ExecServerMessage{Id: 5, ExecId: "e5", Message: &cursorpb.ExecServerMessage_ShellStreamArgs{
		ShellStreamArgs: &cursorpb.ShellArgs{Command: "ls", WorkingDirectory: "/w"}}}
	call := &cursorpb.ExecServerMessage{Id: 2, ExecId: "e2", Message: &cursorpb.ExecServerMessage_McpArgs{McpArgs: &cursorpb.McpArgs{}}}
	for _, c := range []struct {
		name string
		got  []*cursorpb.AgentClientMessage
		want []string
	}{
		{"read refused", pendingExec{id: 4, execID: "e4", exec: read}.refuse("no"), []string{"121708043a0f1a0d0a072f772f612e676f12026e6f7a026534", "2a040a020804"}},
		{"stream refused", pendingExec{id: 5, execID: "e5", exec: stream}.refuse("no"), []string{"12160805720e2a0c0a026c7312022f771a026e6f7a026535", "2a040a020805"}},
		{"result", pendingExec{id: 2, execID: "e2", exec: call}.answer(gave("c", "ok")), []string{"121208025a0a0a080a060a040a026f6b7a026532", "2a040a020802"}},
		{"thrown", pendingExec{id: 9}.throw("unsupported", unknownVariant), []string{"2a2712250809120b756e737570706f727465642214756e6b6e6f776e5f657865635f76617269616e74", "2a040a020809"}},
		{"alive", []*cursorpb.AgentClientMessage{pendingExec{id: 1}.heartbeat()}, []string{"2a041a020801"}},
	} {
		for i, m := range c.got {
			var want cursorpb.AgentClientMessage
			encoded, err := hex.DecodeString(c.want[i])
			if err != nil || proto.Unmarshal(encoded, &want) != nil || !proto.Equal(m, &want) {
				t.Errorf("%s: got %v, want %v", c.name, m, &want)
			}
		}
	}
}

func callOf(name, tool string, args map[string]any) *cursorpb.ExecServerMessage {
	m := &cursorpb.McpArgs{Name: name, ToolName: tool, ToolCallId: "t", ProviderIdentifier: provider, Args: map[string][]byte{}}
	for key, value := range args {
		if raw, ok := value.([]byte); ok {
			m.Args[key] = raw
			continue
		}
		v, err := structpb.NewValue(value)
		if err != nil {
			panic(err)
		}
		m.Args[key], _ = proto.Marshal(v)
	}
	return &cursorpb.ExecServerMessage{Id: 2, ExecId: "e2", Message: &cursorpb.ExecServerMessage_McpArgs{McpArgs: m}}
}

func TestTC2_ArgumentsAreOneObject(t *testing.T) {
	free := chat.Tool{Name: "any"}
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"none", nil, `{}`},
		{"whole numbers", map[string]any{"n": 3.0, "big": 9007199254740992.0, "half": 0.5, "neg": -4.0, "huge": 1e300}, `{"big":9007199254740992,"half":0.5,"huge":1e+300,"n":3,"neg":-4}`},
		{"quotes and pipes", map[string]any{"command": `grep "a<b" | awk '{print $1}' && echo "ü"`}, `{"command":"grep \"a<b\" | awk '{print $1}' && echo \"ü\""}`},
		{"nested", map[string]any{"o": map[string]any{"l": []any{nil, true, "x", []any{}}, "e": map[string]any{}}}, `{"o":{"e":{},"l":[null,true,"x",[]]}}`},
		{"plain text", map[string]any{"text": []byte("hi")}, `{"text":"hi"}`},
		{"plain JSON", map[string]any{"list": []byte(`[1, 2]`)}, `{"list":[1,2]}`},
		{"no text at all", map[string]any{"x": []byte{0xff, 0xfe}}, `{"x":"` + "\uFFFD" + `"}`},
	} {
		plan := mapper(t, settings{}, asks(free)).plan(callOf("", "any", c.args))
		if plan.call == nil || string(plan.call.arguments) != c.want {
			t.Errorf("%s: got %+v, want %s", c.name, plan.call, c.want)
		}
	}
}

func TestTC7_OnlyDeclaredNamesAndKeys(t *testing.T) {
	req := asks(toolSet(t, "camel")...)
	for _, c := range []struct{ name, tool, want string }{
		{"mcp_cursortray_bash", "bash", "bash"},
		{"mcp_cursortray_bash", "", "bash"},
		{"bash", "", "bash"},
		{"", "mcp_cursortray_bash", "bash"},
		{"", "Bash", "bash"},
		{"", "shell", "bash"},
		{"other", "bash", "bash"}, // the bare name counts
		{"mcp_other_bash", "", ""},
		{"", "launch", ""},
		{"", "", ""},
	} {
		plan := mapper(t, settings{}, req).plan(callOf(c.name, c.tool, map[string]any{"cmd": "ls", "description": "d", "nonsense": 1.0}))
		switch {
		case c.want == "":
			missing := plan.answers[0].GetExecClientMessage().GetMcpResult().GetToolNotFound()
			if missing == nil || len(missing.AvailableTools) != len(req.Tools) {
				t.Errorf("%q %q: %v", c.name, c.tool, plan.answers)
			}
		case plan.call == nil || plan.call.name != c.want || string(plan.call.arguments) != `{"command":"ls","description":"d"}`:
			t.Errorf("%q %q: %+v", c.name, c.tool, plan.call)
		}
	}
}

// TestTC8_EditNeverBecomesAnOverwrite asks for edits without old text where a
// tool to write is at hand.
func TestTC8_EditNeverBecomesAnOverwrite(t *testing.T) {
	edit := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_PiEditArgs{PiEditArgs: &cursorpb.PiEditExecArgs{
		Path: "a", Edits: []*cursorpb.PiEditReplacement{{NewText: "all"}}}}}
	write := chat.Tool{Name: "write", Schema: json.RawMessage(`{"properties":{"path":{},"content":{}}}`)}
	for _, tools := range [][]chat.Tool{{write}, append(toolSet(t, "camel"), chat.Tool{Name: "apply_patch", Schema: json.RawMessage(`{"properties":{"input":{}}}`)})} {
		if plan := mapper(t, settings{}, asks(tools...)).plan(edit); plan.call != nil {
			t.Errorf("an edit became %s %s", plan.call.name, plan.call.arguments)
		}
	}
	edit.GetPiEditArgs().Edits[0].OldText = "one"
	if plan := mapper(t, settings{}, asks(write)).plan(edit); plan.call != nil {
		t.Errorf("an edit became %s", plan.call.name)
	}
	plan := mapper(t, settings{}, asks(toolSet(t, "camel")...)).plan(callOf("", "edit", map[string]any{"filePath": "a", "newString": "x"}))
	if plan.call == nil || plan.call.name != "edit" || string(plan.call.arguments) != `{"filePath":"a","newString":"x"}` {
		t.Errorf("missing text was filled in: %+v", plan.call)
	}
}

func TestR6_FileBytesWinOverText(t *testing.T) {
	for _, c := range []struct {
		args *cursorpb.WriteArgs
		want string
		ok   bool
	}{
		{&cursorpb.WriteArgs{FileText: "text"}, "text", true},
		{&cursorpb.WriteArgs{FileBytes: []byte("bytes")}, "bytes", true},
		{&cursorpb.WriteArgs{FileText: "text", FileBytes: []byte("bytes"), EncodingHint: proto.String("utf-8")}, "bytes", true},
		{&cursorpb.WriteArgs{FileBytes: []byte("h\x00\xfc\x00"), EncodingHint: proto.String("UTF16LE")}, "hü", true},
		{&cursorpb.WriteArgs{FileBytes: []byte("\xfe\xff\x00h"), EncodingHint: proto.String("utf-16be")}, "h", true},
		{&cursorpb.WriteArgs{FileBytes: []byte("h\xfc"), EncodingHint: proto.String("latin1")}, "hü", true},
		{&cursorpb.WriteArgs{FileBytes: []byte("h\xfc")}, "", false},
		{&cursorpb.WriteArgs{FileBytes: []byte("odd"), EncodingHint: proto.String("utf16le")}, "", false},
	} {
		got, ok := writtenText(c.args)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%v: got %q, %v", c.args, got, ok)
		}
	}
}

// TestR7_ToolsDecideNotTheModel asks the same with two sets of tools.
func TestR7_ToolsDecideNotTheModel(t *testing.T) {
	exec := natives()[0].exec
	first := mapper(t, settings{}, asks(toolSet(t, "camel")...)).plan(exec)
	second := mapper(t, settings{}, asks(toolSet(t, "long")...)).plan(exec)
	if first.call.name != "read" || second.call.name != "read_file" {
		t.Errorf("got %s and %s", first.call.name, second.call.name)
	}
}

// TestR8_NoFilesOfTheUser: what answers requests for work has no way to the
// disk.
func TestR8_NoFilesOfTheUser(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		pure := strings.HasPrefix(name, "exec") || strings.HasPrefix(name, "answer") || strings.HasPrefix(name, "request") || strings.HasPrefix(name, "history")
		if !pure || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			switch spec.Path.Value {
			case `"os"`, `"os/exec"`, `"io/fs"`, `"net"`, `"net/http"`, `"syscall"`:
				t.Errorf("%s imports %s", name, spec.Path.Value)
			}
		}
	}
}

// TestSearchByNameIsNoGrep: the same name stands for two kinds of search.
func TestSearchByNameIsNoGrep(t *testing.T) {
	exec := &cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_GrepArgs{GrepArgs: &cursorpb.GrepArgs{Pattern: "x"}}}
	names := chat.Tool{Name: "search_files", Schema: json.RawMessage(`{"properties":{"path":{"type":"string"},"pattern":{"type":"string"}},"required":["pattern"]}`)}
	if plan := mapper(t, settings{}, asks(names)).plan(exec); plan.call != nil {
		t.Errorf("got %s %s", plan.call.name, plan.call.arguments)
	}
	lines := chat.Tool{Name: "search_files", Schema: json.RawMessage(`{"properties":{"path":{"type":"string"},"regex":{"type":"string"}},"required":["path","regex"]}`)}
	if plan := mapper(t, settings{}, asks(lines)).plan(exec); plan.call == nil || string(plan.call.arguments) != `{"path":".","regex":"x"}` {
		t.Errorf("got %+v", plan.call)
	}
}

func TestNoCallsForThisReply(t *testing.T) {
	req := asks(toolSet(t, "camel")...)
	req.Choice.Mode = chat.ToolNone
	for _, exec := range []*cursorpb.ExecServerMessage{natives()[0].exec, callOf("", "bash", nil), callOf("", "launch", nil)} {
		plan := mapper(t, settings{}, req).plan(exec)
		if plan.call != nil || !strings.Contains(rendered(t, plan.answers[0]), "tools are disabled for this reply") {
			t.Errorf("got %+v", plan)
		}
	}
	context := mapper(t, settings{}, req).plan(&cursorpb.ExecServerMessage{Message: &cursorpb.ExecServerMessage_RequestContextArgs{}})
	tools := context.answers[0].GetExecClientMessage().GetRequestContextResult().GetSuccess().GetRequestContext().GetTools()
	if len(tools) != len(req.Tools) {
		t.Errorf("the list of tools changed: %d", len(tools))
	}
}

func TestNativeToolsCanBeRejected(t *testing.T) {
	plan := mapper(t, settings{rejectNative: true}, asks(toolSet(t, "camel")...)).plan(natives()[0].exec)
	reason := plan.answers[0].GetExecClientMessage().GetReadResult().GetRejected().GetReason()
	if plan.call != nil || !strings.Contains(reason, "`read`") {
		t.Errorf("got %+v, %q", plan.call, reason)
	}
}

func TestApprovalAloneIsNoCall(t *testing.T) {
	exec := callOf("", "bash", nil)
	exec.GetMcpArgs().SmartModeApprovalOnly = true
	plan := mapper(t, settings{}, asks(toolSet(t, "camel")...)).plan(exec)
	if plan.call != nil || plan.answers[0].GetExecClientMessage().GetMcpResult().GetApproved() == nil {
		t.Errorf("got %+v", plan)
	}
}

func TestInsistingModelIsStopped(t *testing.T) {
	m := mapper(t, settings{}, asks(toolSet(t, "other")...))
	reason := func(id uint32) string {
		plan := m.plan(&cursorpb.ExecServerMessage{Id: id, ExecId: fmt.Sprint(id), Message: &cursorpb.ExecServerMessage_ReadArgs{
			ReadArgs: &cursorpb.ReadArgs{Path: "/w/a.go", ToolCallId: fmt.Sprint("t", id)}}})
		if plan.fail != nil {
			return plan.fail.Code
		}
		return plan.answers[0].GetExecClientMessage().GetReadResult().GetRejected().GetReason()
	}
	for i := uint32(1); i <= 10; i++ {
		got := reason(i)
		want := map[bool]string{true: "`get_weather`", false: "answer in text"}[i < 3]
		if i == 10 {
			want = "tool_loop"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%d: %q lacks %q", i, got, want)
		}
	}
}

func TestInsistingOnAnUnknownTool(t *testing.T) {
	m := mapper(t, settings{}, asks(toolSet(t, "other")...))
	for range 9 {
		if plan := m.plan(callOf("", "launch", nil)); plan.fail != nil {
			t.Fatal(plan.fail)
		}
	}
	if m.plan(callOf("", "launch", nil)).fail == nil {
		t.Error("the run goes on for ever")
	}
}

func TestSameCallOverAndOverIsRefused(t *testing.T) {
	req := asks(toolSet(t, "camel")...)
	for i := range 2 {
		id := fmt.Sprint("c", i)
		req.Messages = append(req.Messages, answered(called(id, "edit", `{"oldString":"a","filePath":"f","newString":"b"}`)), said(gave(id, "Error: oldString not found")))
	}
	plan := mapper(t, settings{}, req).plan(callOf("", "edit", map[string]any{"filePath": "f", "oldString": "a", "newString": "b"}))
	reason := plan.answers[0].GetExecClientMessage().GetMcpResult().GetRejected().GetReason()
	if plan.call != nil || !strings.Contains(reason, `"edit" was called 2 times`) {
		t.Errorf("got %+v, %q", plan.call, reason)
	}
}
