package agentrpc

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

func textDelta(text string) *cursorpb.AgentServerMessage {
	return updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TextDelta{TextDelta: &cursorpb.TextDeltaUpdate{Text: text}}})
}

func updated(u *cursorpb.InteractionUpdate) *cursorpb.AgentServerMessage {
	return &cursorpb.AgentServerMessage{Message: &cursorpb.AgentServerMessage_InteractionUpdate{InteractionUpdate: u}}
}

// samples are messages that are pieces of text, nearly are, or are not at all.
func samples(t testing.TB) [][]byte {
	t.Helper()
	var list [][]byte
	for _, m := range []*cursorpb.AgentServerMessage{
		{},
		textDelta(""), textDelta("a"), textDelta("für alle 🎈"),
		textDelta(strings.Repeat("x", 123)), textDelta(strings.Repeat("x", 124)), textDelta(strings.Repeat("x", 130)),
		textDelta(strings.Repeat("x", 16000)), textDelta(strings.Repeat("x", 20000)),
		updated(&cursorpb.InteractionUpdate{}),
		updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_ThinkingDelta{ThinkingDelta: &cursorpb.ThinkingDeltaUpdate{Text: "hm"}}}),
		updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_ThinkingDelta{ThinkingDelta: &cursorpb.ThinkingDeltaUpdate{Text: "hm", ThinkingStyle: new(int32(1))}}}),
		updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TextDelta{TextDelta: &cursorpb.TextDeltaUpdate{Text: "notice", IsServerNotice: true}}}),
		updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_Heartbeat{Heartbeat: &cursorpb.HeartbeatUpdate{}}}),
		updated(&cursorpb.InteractionUpdate{Message: &cursorpb.InteractionUpdate_TurnEnded{TurnEnded: &cursorpb.TurnEndedUpdate{}}}),
		{Message: &cursorpb.AgentServerMessage_ConversationCheckpointUpdate{ConversationCheckpointUpdate: []byte{10, 2, 10, 0}}},
	} {
		data, err := cursorpb.Codec{}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data, append(data, 0x78, 1) /* an unknown field */)
	}
	return append(list,
		[]byte{10, 5, 10, 3, 10, 1, 0xff},      // no text
		[]byte{10, 0x85, 0, 10, 3, 10, 1, 'a'}, // a size longer than it need be
		[]byte{10, 5, 10, 3, 10, 2, 'a'}, []byte{10, 5, 10, 4, 10, 1, 'a'}, []byte{10}, []byte{10, 0x80})
}

// FuzzCodec compares the short way with the long one.
func FuzzCodec(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var short, long cursorpb.AgentServerMessage
		shortErr, longErr := codec{}.Unmarshal(data, &short), cursorpb.Codec{}.Unmarshal(data, &long)
		if (shortErr == nil) != (longErr == nil) {
			t.Fatalf("errors %v and %v", shortErr, longErr)
		}
		if shortErr == nil && !proto.Equal(&short, &long) {
			t.Fatalf("got %v, want %v", &short, &long)
		}
	})
}

// Most messages take the short way.
func TestDeltasTakeTheShortWay(t *testing.T) {
	for _, size := range []int{0, 1, 8, 120, 1024, 16000} {
		data, err := cursorpb.Codec{}.Marshal(textDelta(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		if _, field := delta(data); (field != 0) != (size > 0) {
			t.Errorf("%d bytes: field %d", size, field)
		}
	}
}
