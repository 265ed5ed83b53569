package cursorpb

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// table lists the fields that independent clients and servers use, one a line:
// message, number, name, type, label, in how many of them it was found.
//
//go:embed testdata/agent-messages.tsv
var table string

// leftOut lists the messages of the table that are not defined here. Where a
// field holds one, the field is bytes.
var leftOut = map[string][]string{
	"calls as shown to the user; only requests for work count": {
		"ShellToolCall", "DeleteToolCall", "GlobToolCall", "GrepToolCall", "ReadToolCall", "UpdateTodosToolCall",
		"ReadTodosToolCall", "EditToolCall", "LsToolCall", "ReadLintsToolCall", "McpToolCall", "CreatePlanToolCall",
		"WebSearchToolCall", "TaskToolCall", "ListMcpResourcesToolCall", "ReadMcpResourceToolCall", "AskQuestionToolCall",
		"FetchToolCall", "SwitchModeToolCall", "GenerateImageToolCall", "WriteShellStdinToolCall", "WebFetchToolCall",
		"AwaitToolCall", "GetMcpToolsToolCall", "PiReadToolCall", "PiBashToolCall", "PiEditToolCall", "PiWriteToolCall",
		"PiGrepToolCall", "PiFindToolCall", "PiLsToolCall",
		"GlobToolResult", "GlobToolSuccess", "GlobToolError", "ReadToolArgs", "ReadToolResult", "ReadToolSuccess",
		"ReadRange", "ReadToolError", "UpdateTodosArgs", "UpdateTodosResult", "UpdateTodosSuccess", "UpdateTodosError",
		"ReadTodosArgs", "ReadTodosResult", "ReadTodosSuccess", "ReadTodosError", "EditArgs", "EditResult", "EditSuccess",
		"EditFileNotFound", "EditReadPermissionDenied", "EditWritePermissionDenied", "EditRejected", "EditError",
		"McpToolResult", "McpToolError", "TaskArgs", "TaskResult", "TaskSuccess", "TaskError", "SwitchModeResult",
		"SwitchModeSuccess", "SwitchModeError", "SwitchModeRejected", "GenerateImageArgs", "AwaitArgs", "GetMcpToolsArgs",
	},
	"output of calls as shown to the user": {
		"ShellOutputDeltaUpdate", "ToolCallDeltaUpdate", "ToolCallDelta", "ShellToolCallDelta", "ShellToolCallStdoutDelta",
		"ShellToolCallStderrDelta", "TaskToolCallDelta", "EditToolCallDelta",
	},
	"never sent by a proxy": {
		"PrewarmRequest", "AsyncAskQuestionCompletionAction", "BackgroundTaskCompletionAction", "ApiKeyCredentials",
	},
	"the way around HTTP/2, which is not spoken": {"BidiRequestId", "BidiAppendRequest"},
	"read as JSON, by package cursor": {
		"AvailableModelsRequest", "AvailableModelsResponse", "AvailableModel", "AvailableModelParameterDefinition",
		"ModelParameterType", "ModelParameterValues", "ModelParameterValueInfo", "AvailableModelVariant",
		"AvailableModelParameterValue",
	},
}

// verbatim lists the fields that hold messages defined here, but as bytes,
// since the same bytes must be sent again.
var verbatim = map[string]bool{
	"AgentRunRequest.conversation_state":                true,
	"AgentServerMessage.conversation_checkpoint_update": true,
}

// sentWhenZero lists fields with explicit presence where the table has none:
// readers cannot tell, and false or empty has to be sent.
var sentWhenZero = map[string]bool{
	"AgentRunRequest.conversation_state": true,
	"RequestContext.web_fetch_enabled":   true,
}

type row struct {
	message, name, kind, label string
	number                     protoreflect.FieldNumber
}

func rows(t *testing.T) []row {
	t.Helper()
	var all []row
	for line := range strings.Lines(table) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if columns[0] == "message" {
			continue
		}
		number, err := strconv.Atoi(columns[1])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, row{columns[0], columns[2], columns[3], columns[4], protoreflect.FieldNumber(number)})
	}
	return all
}

// definedMessages returns the messages of the protocol by the names of the
// table, which joins a nested message's name with an underscore.
func definedMessages() map[string]protoreflect.MessageDescriptor {
	found := map[string]protoreflect.MessageDescriptor{}
	var add func(protoreflect.MessageDescriptors)
	add = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			m := messages.Get(i)
			if !m.IsMapEntry() {
				found[tableName(m)] = m
				add(m.Messages())
			}
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("agent.v1", func(file protoreflect.FileDescriptor) bool {
		add(file.Messages())
		return true
	})
	return found
}

func tableName(d protoreflect.Descriptor) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(d.FullName()), "agent.v1."), ".", "_")
}

// TestFieldsOfTable: every field of the table is defined with its number, name
// and type, and nothing else is.
func TestFieldsOfTable(t *testing.T) {
	defined := definedMessages()
	omitted := map[string]bool{}
	for _, names := range leftOut {
		for _, name := range names {
			omitted[name] = true
		}
	}
	inTable := map[string]map[protoreflect.FieldNumber]bool{}
	for _, r := range rows(t) {
		if inTable[r.message] == nil {
			inTable[r.message] = map[protoreflect.FieldNumber]bool{}
		}
		inTable[r.message][r.number] = true
		message := defined[r.message]
		switch {
		case message == nil && !omitted[r.message]:
			t.Errorf("%s is neither defined nor left out", r.message)
		case message != nil && omitted[r.message]:
			t.Errorf("%s is defined, and listed as left out", r.message)
		case message != nil:
			checkField(t, r, message, defined)
		}
	}
	for name := range omitted {
		if inTable[name] == nil {
			t.Errorf("%s is listed as left out, but not in the table", name)
		}
	}
	for name, message := range defined {
		for i := range message.Fields().Len() {
			if f := message.Fields().Get(i); !inTable[name][f.Number()] {
				t.Errorf("%s.%s = %d is not in the table", name, f.Name(), f.Number())
			}
		}
	}
}

func checkField(t *testing.T, r row, message protoreflect.MessageDescriptor, defined map[string]protoreflect.MessageDescriptor) {
	t.Helper()
	where := fmt.Sprintf("%s.%s = %d", r.message, r.name, r.number)
	field := message.Fields().ByNumber(r.number)
	if field == nil {
		t.Errorf("%s is not defined", where)
		return
	}
	if string(field.Name()) != r.name {
		t.Errorf("%s is named %s", where, field.Name())
	}
	if got, want := label(field), r.label; got != want && !(got == "" && want == "optional" && field.Message() != nil) {
		if got != "optional" || want != "" || !sentWhenZero[r.message+"."+r.name] {
			t.Errorf("%s is labelled %q, want %q", where, got, want)
		}
	}
	kind, value := r.kind, field
	if field.IsMap() {
		if field.MapKey().Kind() != protoreflect.StringKind {
			t.Errorf("%s: the key is a %s, want a string", where, field.MapKey().Kind())
		}
		kind, value = strings.TrimSuffix(strings.TrimPrefix(r.kind, "map<string,"), ">"), field.MapValue()
	}
	if got, want := typeName(value), wantType(kind, value, defined); got != want && !(verbatim[r.message+"."+r.name] && got == "bytes") {
		t.Errorf("%s is a %s, want %s", where, got, want)
	}
}

func label(field protoreflect.FieldDescriptor) string {
	switch oneof := field.ContainingOneof(); {
	case oneof != nil && !oneof.IsSynthetic():
		return "oneof " + string(oneof.Name())
	case field.IsMap():
		return "map"
	case field.IsList():
		return "repeated"
	case field.HasOptionalKeyword():
		return "optional"
	}
	return ""
}

func typeName(field protoreflect.FieldDescriptor) string {
	switch {
	case field.Message() != nil:
		return tableName(field.Message())
	case field.Enum() != nil:
		return tableName(field.Enum())
	}
	return field.Kind().String()
}

// wantType is the type a field must have: what the table says, where an enum
// may stand for a number, and bytes for everything that is left out.
func wantType(kind string, field protoreflect.FieldDescriptor, defined map[string]protoreflect.MessageDescriptor) string {
	switch kind {
	case "int32":
		if field.Enum() != nil {
			return typeName(field)
		}
		return kind
	case "string", "bytes", "bool", "uint32", "int64", "uint64", "double":
		return kind
	}
	if defined[kind] != nil || field.Enum() != nil {
		return kind
	}
	return "bytes"
}

// TestExecPairs: the answer to a piece of work has the number of the request,
// but for the kinds that came late.
func TestExecPairs(t *testing.T) {
	late := map[protoreflect.FieldNumber]protoreflect.FieldNumber{45: 46, 46: 47, 47: 48, 48: 49, 49: 50, 50: 51, 51: 52, 52: 55}
	noAnswer := map[protoreflect.FieldNumber]bool{56: true} // thrown
	requests := (*ExecServerMessage)(nil).ProtoReflect().Descriptor().Oneofs().ByName("message").Fields()
	answers := (*ExecClientMessage)(nil).ProtoReflect().Descriptor().Oneofs().ByName("message")
	if got, want := requests.Len(), answers.Fields().Len()+len(noAnswer); got != want {
		t.Errorf("%d kinds of requests, but %d kinds of answers and exceptions", got, want)
	}
	for i := range requests.Len() {
		number := requests.Get(i).Number()
		if noAnswer[number] {
			continue
		}
		if other, ok := late[number]; ok {
			number = other
		}
		answer := answers.Parent().(protoreflect.MessageDescriptor).Fields().ByNumber(number)
		if answer == nil || answer.ContainingOneof() != answers {
			t.Errorf("%s has no answer %d", requests.Get(i).Name(), number)
		}
	}
}
