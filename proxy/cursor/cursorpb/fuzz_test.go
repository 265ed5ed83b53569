package cursorpb

import (
	"testing"

	"google.golang.org/protobuf/proto"
)

// Decoding bytes of strangers never panics, and what was decoded means the
// same after another round.

func FuzzAgentServerMessage(f *testing.F) {
	for _, v := range serverVectors() {
		seed, err := proto.Marshal(v.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Add([]byte("\x12\x07\x08\x09\x7a\x02e9\x9a\x06\x00"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		var m AgentServerMessage
		roundTrip(t, wire, &m, new(AgentServerMessage))
		UnknownField(&m)
		UnknownField(m.GetExecServerMessage())
		UnknownField(m.GetInteractionQuery())
		roundTrip(t, m.GetConversationCheckpointUpdate(), new(ConversationStateStructure), new(ConversationStateStructure))
	})
}

func FuzzAgentClientMessage(f *testing.F) {
	for _, v := range clientVectors() {
		seed, err := proto.Marshal(v.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		roundTrip(t, wire, new(AgentClientMessage), new(AgentClientMessage))
	})
}

func roundTrip(t *testing.T, wire []byte, first, second proto.Message) {
	t.Helper()
	if err := (Codec{}).Unmarshal(wire, first); err != nil {
		return // not a message
	}
	again, err := Codec{}.Marshal(first)
	if err != nil {
		t.Fatalf("encode what was decoded: %v", err)
	}
	if err := (Codec{}).Unmarshal(again, second); err != nil {
		t.Fatalf("decode what was encoded: %v", err)
	}
	third, err := Codec{}.Marshal(second)
	if err != nil || string(third) != string(again) {
		t.Fatalf("the second round gives %x (%v), the first %x", third, err, again)
	}
}
