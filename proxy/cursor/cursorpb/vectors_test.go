package cursorpb

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

// vector is a message and its envelope as an encoder of other authors writes
// it: one byte of flags, four of length, the message.
type vector[M proto.Message] struct {
	name    string
	message M
	hex     string
}

func (v vector[M]) envelope(t *testing.T) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const envelopeHead = 5

// clientVectors are messages that a client sends.
func clientVectors() []vector[*AgentClientMessage] {
	result := func(id uint32, execID string, m *ExecClientMessage) *AgentClientMessage {
		m.Id, m.ExecId = id, execID
		return &AgentClientMessage{Message: &AgentClientMessage_ExecClientMessage{m}}
	}
	control := func(m *ExecClientControlMessage) *AgentClientMessage {
		return &AgentClientMessage{Message: &AgentClientMessage_ExecClientControlMessage{m}}
	}
	kv := func(m *KvClientMessage) *AgentClientMessage {
		return &AgentClientMessage{Message: &AgentClientMessage_KvClientMessage{m}}
	}
	return []vector[*AgentClientMessage]{
		{"heartbeat", &AgentClientMessage{Message: &AgentClientMessage_ClientHeartbeat{&ClientHeartbeat{}}},
			"00000000023a00"},
		{"run request", runRequest(),
			"00000000230a210a00120e0a0c0a0a0a02486912026d3120012a0263314a090a0764656661756c74"},
		{"tool result", result(2, "e2", &ExecClientMessage{Message: &ExecClientMessage_McpResult{&McpResult{
			Result: &McpResult_Success{&McpSuccess{Content: []*McpToolResultContentItem{
				{Content: &McpToolResultContentItem_Text{&McpTextContent{Text: "ok"}}},
			}}},
		}}}),
			"0000000014121208025a0a0a080a060a040a026f6b7a026532"},
		{"stream close", control(&ExecClientControlMessage{Message: &ExecClientControlMessage_StreamClose{&ExecClientStreamClose{Id: 1}}}),
			"00000000062a040a020801"},
		{"exec heartbeat", control(&ExecClientControlMessage{Message: &ExecClientControlMessage_Heartbeat{&ExecClientHeartbeat{Id: 1}}}),
			"00000000062a041a020801"},
		{"throw", control(&ExecClientControlMessage{Message: &ExecClientControlMessage_Throw{
			&ExecClientThrow{Id: 9, Error: "unsupported", ErrorCode: proto.String("unknown_exec_variant")},
		}}),
			"00000000292a2712250809120b756e737570706f727465642214756e6b6e6f776e5f657865635f76617269616e74"},
		{"read rejected", result(4, "e4", &ExecClientMessage{Message: &ExecClientMessage_ReadResult{&ReadResult{
			Result: &ReadResult_Rejected{&ReadRejected{Path: "/w/a.go", Reason: "no"}},
		}}}),
			"0000000019121708043a0f1a0d0a072f772f612e676f12026e6f7a026534"},
		{"shell stream rejected", result(5, "e5", &ExecClientMessage{Message: &ExecClientMessage_ShellStream{&ShellStream{
			Event: &ShellStream_Rejected{&ShellRejected{Command: "ls", WorkingDirectory: "/w", Reason: "no"}},
		}}}),
			"000000001812160805720e2a0c0a026c7312022f771a026e6f7a026535"},
		{"blob", kv(&KvClientMessage{Id: 7, Message: &KvClientMessage_GetBlobResult{&GetBlobResult{BlobData: []byte("data")}}}),
			"000000000c1a0a080712060a0464617461"},
		{"blob not found", kv(&KvClientMessage{Id: 7, Message: &KvClientMessage_GetBlobResult{&GetBlobResult{}}}),
			"00000000061a0408071200"},
		{"blob kept", kv(&KvClientMessage{Id: 8, Message: &KvClientMessage_SetBlobResult{&SetBlobResult{}}}),
			"00000000061a0408081a00"},
		{"web search refused", &AgentClientMessage{Message: &AgentClientMessage_InteractionResponse{&InteractionResponse{
			Id: 3,
			Result: &InteractionResponse_WebSearchRequestResponse{&WebSearchRequestResponse{
				Result: &WebSearchRequestResponse_Rejected{&WebSearchRequestResponseRejected{Reason: "not available"}},
			}},
		}}},
			"0000000017321508031211120f0a0d6e6f7420617661696c61626c65"},
		{"cancel", &AgentClientMessage{Message: &AgentClientMessage_ConversationAction{&ConversationAction{
			Action: &ConversationAction_CancelAction{&CancelAction{}},
		}}},
			"000000000422021a00"},
	}
}

func runRequest() *AgentClientMessage {
	return &AgentClientMessage{Message: &AgentClientMessage_RunRequest{&AgentRunRequest{
		ConversationState: []byte{},
		Action: &ConversationAction{Action: &ConversationAction_UserMessageAction{&UserMessageAction{
			UserMessage: &UserMessage{Text: "Hi", MessageId: "m1", Mode: AgentMode_AGENT_MODE_AGENT},
		}}},
		ConversationId: proto.String("c1"),
		RequestedModel: &RequestedModel{ModelId: "default"},
	}}}
}

// serverVectors are messages that the service sends.
func serverVectors() []vector[*AgentServerMessage] {
	request := func(m *ExecServerMessage) *AgentServerMessage {
		return &AgentServerMessage{Message: &AgentServerMessage_ExecServerMessage{m}}
	}
	update := func(m *InteractionUpdate) *AgentServerMessage {
		return &AgentServerMessage{Message: &AgentServerMessage_InteractionUpdate{m}}
	}
	kv := func(m *KvServerMessage) *AgentServerMessage {
		return &AgentServerMessage{Message: &AgentServerMessage_KvServerMessage{m}}
	}
	return []vector[*AgentServerMessage]{
		{"request context wanted", request(&ExecServerMessage{Id: 1, ExecId: "e1", Message: &ExecServerMessage_RequestContextArgs{&RequestContextArgs{}}}),
			"000000000a1208080152007a026531"},
		{"tool call", request(&ExecServerMessage{Id: 2, ExecId: "e2", Message: &ExecServerMessage_McpArgs{&McpArgs{
			Name:               "mcp_cursortray_echo",
			Args:               map[string][]byte{"text": {0x1a, 2, 'h', 'i'}}, // a Value that is the string "hi"
			ToolCallId:         "call_1",
			ProviderIdentifier: "cursortray",
			ToolName:           "echo",
		}}}),
			"0000000047124508025a3d0a136d63705f637572736f72747261795f6563686f120c0a047465787412041a0268691a0663616c6c5f31220a637572736f72747261792a046563686f7a026532"},
		{"read", request(&ExecServerMessage{Id: 4, ExecId: "e4", Message: &ExecServerMessage_ReadArgs{&ReadArgs{Path: "/w/a.go", ToolCallId: "t1"}}}),
			"0000000017121508043a0d0a072f772f612e676f120274317a026534"},
		{"get blob", kv(&KvServerMessage{Id: 7, Message: &KvServerMessage_GetBlobArgs{&GetBlobArgs{BlobId: []byte{0xaa, 0xbb}}}}),
			"000000000a2208080712040a02aabb"},
		{"set blob", kv(&KvServerMessage{Id: 8, Message: &KvServerMessage_SetBlobArgs{&SetBlobArgs{BlobId: []byte{0xaa, 0xbb}, BlobData: []byte("data")}}}),
			"0000000010220e08081a0a0a02aabb120464617461"},
		{"text", update(&InteractionUpdate{Message: &InteractionUpdate_TextDelta{&TextDeltaUpdate{Text: "Hello"}}}),
			"000000000b0a090a070a0548656c6c6f"},
		{"thinking", update(&InteractionUpdate{Message: &InteractionUpdate_ThinkingDelta{&ThinkingDeltaUpdate{Text: "hm"}}}),
			"00000000080a0622040a02686d"},
		{"tokens", update(&InteractionUpdate{Message: &InteractionUpdate_TokenDelta{&TokenDeltaUpdate{Tokens: 5}}}),
			"00000000060a0442020805"},
		{"heartbeat", update(&InteractionUpdate{Message: &InteractionUpdate_Heartbeat{&HeartbeatUpdate{}}}),
			"00000000040a026a00"},
		{"turn ended", update(&InteractionUpdate{Message: &InteractionUpdate_TurnEnded{&TurnEndedUpdate{
			InputTokens:      proto.Int64(100),
			OutputTokens:     proto.Int64(20),
			CacheReadTokens:  proto.Int64(60),
			CacheWriteTokens: proto.Int64(0),
			ReasoningTokens:  proto.Int64(7),
		}}}),
			"000000000e0a0c720a08641014183c20002807"},
		{"checkpoint", &AgentServerMessage{Message: &AgentServerMessage_ConversationCheckpointUpdate{checkpoint}},
			"000000000f1a0d4202aabb2a0708d20910c09a0c"},
		{"web search wanted", &AgentServerMessage{Message: &AgentServerMessage_InteractionQuery{&InteractionQuery{
			Id:    3,
			Query: &InteractionQuery_WebSearchRequestQuery{&WebSearchRequestQuery{}},
		}}},
			"00000000063a0408031200"},
		{"abort", &AgentServerMessage{Message: &AgentServerMessage_ExecServerControlMessage{&ExecServerControlMessage{
			Message: &ExecServerControlMessage_Abort{&ExecServerAbort{Id: 2}},
		}}},
			"00000000062a040a020802"},
	}
}

// checkpoint has its fields in an order that Go would not write: one turn, then
// 1234 of 200000 tokens.
var checkpoint = []byte("\x42\x02\xaa\xbb\x2a\x07\x08\xd2\x09\x10\xc0\x9a\x0c")

func TestVectors(t *testing.T) {
	for _, v := range clientVectors() {
		t.Run("client "+v.name, func(t *testing.T) { testVector(t, v.message, v.envelope(t), new(AgentClientMessage)) })
	}
	for _, v := range serverVectors() {
		t.Run("server "+v.name, func(t *testing.T) { testVector(t, v.message, v.envelope(t), new(AgentServerMessage)) })
	}
}

func testVector[M proto.Message](t *testing.T, message M, envelope []byte, decoded M) {
	wire := envelope[envelopeHead:]
	encoded, err := Codec{}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	encoded = byNumber(t, encoded, message.ProtoReflect().Descriptor())
	if diff := cmp.Diff(hex.EncodeToString(wire), hex.EncodeToString(encoded)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	if err := (Codec{}).Unmarshal(wire, decoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(message, decoded, protocmp.Transform()); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

// TestCheckpoint: token details can be read from a checkpoint, and the very
// bytes that came can be sent back.
func TestCheckpoint(t *testing.T) {
	var state ConversationStateStructure
	if err := proto.Unmarshal(checkpoint, &state); err != nil {
		t.Fatal(err)
	}
	details := state.GetTokenDetails()
	if details.GetUsedTokens() != 1234 || details.GetMaxTokens() != 200_000 {
		t.Errorf("token details are %v, want 1234 of 200000", details)
	}
	if again, _ := proto.Marshal(&state); string(again) == string(checkpoint) {
		t.Error("the checkpoint of this test has to be one that encoding again would change")
	}
	request, err := Codec{}.Marshal(&AgentRunRequest{ConversationState: checkpoint})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\x0a\x0d" + string(checkpoint); string(request) != want {
		t.Errorf("the next request holds %x, want %x", request, want)
	}
}

// TestSchemaValue: a JSON schema becomes the Value that Cursor expects.
func TestSchemaValue(t *testing.T) {
	const want = "2a5a0a2e0a0a70726f7065727469657312202a1e0a1c0a047465787412142a120a100a047479706512081a06737472696e670a160a087265717569726564120a32080a061a04746578740a100a047479706512081a066f626a656374"
	var schema structpb.Value
	if err := schema.UnmarshalJSON([]byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)); err != nil {
		t.Fatal(err)
	}
	got, err := Codec{}.Marshal(&schema)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, hex.EncodeToString(got)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

// TestValues: the JSON values of a tool call's arguments on the wire.
func TestValues(t *testing.T) {
	for _, test := range []struct{ json, hex string }{
		{`null`, "0800"},
		{`3`, "110000000000000840"},
		{`"hi"`, "1a026869"},
		{`true`, "2001"},
		{`false`, "2000"},
		{`{}`, "2a00"},
		{`[]`, "3200"},
	} {
		var value structpb.Value
		if err := value.UnmarshalJSON([]byte(test.json)); err != nil {
			t.Fatal(err)
		}
		got, err := Codec{}.Marshal(&value)
		if err != nil || hex.EncodeToString(got) != test.hex {
			t.Errorf("%s is %x (%v), want %s", test.json, got, err, test.hex)
		}
	}
}
