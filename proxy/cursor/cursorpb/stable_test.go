package cursorpb

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// bigContext returns a request context with everything in it whose order Go
// does not fix: maps, and schemas made of maps. The maps are filled in an
// order that depends on turn.
func bigContext(t *testing.T, turn int) *RequestContext {
	t.Helper()
	const n = 20
	context := &RequestContext{
		Env:              &RequestContextEnv{OsVersion: "linux 6.1.0", Shell: "bash", TimeZone: "Europe/Berlin"},
		CloudRule:        proto.String("Be brief."),
		WebSearchEnabled: proto.Bool(false),
		WebFetchEnabled:  proto.Bool(false),
		FileContents:     map[string]string{},
		ProjectLayouts:   []*LsDirectoryTreeNode{{AbsPath: "/w", FullSubtreeExtensionCounts: map[string]int32{}}},
	}
	properties := map[string]any{}
	for i := range n {
		key := fmt.Sprint("key", (i*7+turn)%n)
		context.FileContents["/w/"+key] = key
		context.ProjectLayouts[0].FullSubtreeExtensionCounts[key] = 1
		properties[key] = map[string]any{"type": "string", "description": key}
	}
	schema, err := structpb.NewValue(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := Codec{}.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	context.Tools = []*McpToolDefinition{{Name: "echo", ToolName: "echo", ProviderIdentifier: "cursortray", InputSchema: encoded}}
	return context
}

// TestR9_EqualContextEqualBytes: the request context does not change on the
// wire while nothing in it changes.
func TestR9_EqualContextEqualBytes(t *testing.T) {
	var first []byte
	for turn := range 50 {
		got, err := Codec{}.Marshal(&AgentClientMessage{Message: &AgentClientMessage_ExecClientMessage{&ExecClientMessage{
			Message: &ExecClientMessage_RequestContextResult{&RequestContextResult{
				Result: &RequestContextResult_Success{&RequestContextSuccess{RequestContext: bigContext(t, turn)}},
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(first, got) {
			t.Fatalf("turn %d: the bytes differ from those of the first turn", turn)
		}
	}
}

// TestR19_WebToolsOffOnTheWire: both switches are sent, as off.
func TestR19_WebToolsOffOnTheWire(t *testing.T) {
	got, err := Codec{}.Marshal(&RequestContext{WebSearchEnabled: proto.Bool(false), WebFetchEnabled: proto.Bool(false)})
	if want := "\x88\x01\x00\xc0\x01\x00"; err != nil || string(got) != want {
		t.Errorf("encoded %x (%v), want %x", got, err, want)
	}
}

func TestCodecAppends(t *testing.T) {
	message := &TextDeltaUpdate{Text: "x"}
	got, err := Codec{}.MarshalAppend([]byte("head"), message)
	if want := "head\x0a\x01x"; err != nil || string(got) != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

func TestCodecRefusesOtherTypes(t *testing.T) {
	if _, err := (Codec{}).Marshal("text"); err == nil {
		t.Error("a string was encoded")
	}
	if err := (Codec{}).Unmarshal(nil, new(int)); err == nil {
		t.Error("an int was decoded")
	}
}
