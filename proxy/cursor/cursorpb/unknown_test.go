package cursorpb

import (
	"bytes"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// TestUnknownFieldsKept: what Cursor adds later survives decoding and encoding,
// at every depth.
func TestUnknownFieldsKept(t *testing.T) {
	for _, test := range []struct {
		name, wire string
		into       proto.Message
	}{
		{"a new kind of server message", "\x9a\x06\x03abc", new(AgentServerMessage)},                   // 99: "abc"
		{"a new field of an update", "\x0a\x08\x0a\x06\x0a\x01x\x98\x06\x05", new(AgentServerMessage)}, // 1.1.99: 5
		{"a new field of the state", "\x42\x02\xaa\xbb\x9d\x06\x01\x02\x03\x04", new(ConversationStateStructure)},
		{"a known number with another type", "\x0d\x01\x02\x03\x04", new(TextDeltaUpdate)}, // 1 as fixed32
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := (Codec{}).Unmarshal([]byte(test.wire), test.into); err != nil {
				t.Fatal(err)
			}
			got, err := Codec{}.Marshal(test.into)
			if err != nil || string(got) != test.wire {
				t.Errorf("encoded %x (%v), want %x", got, err, test.wire)
			}
		})
	}
}

// TestUnknownExec: a kind of work that Cursor added later can be told and
// answered.
func TestUnknownExec(t *testing.T) {
	var m ExecServerMessage
	wire := "\x08\x09\x7a\x02e9\x9a\x06\x00" // id 9, exec_id "e9", 99: empty
	if err := proto.Unmarshal([]byte(wire), &m); err != nil {
		t.Fatal(err)
	}
	if m.GetId() != 9 || m.GetExecId() != "e9" || m.GetMessage() != nil {
		t.Errorf("decoded %v, want id 9, exec_id e9 and no variant", &m)
	}
	if got := UnknownField(&m); got != 99 {
		t.Errorf("unknown field %d, want 99", got)
	}
	if got := UnknownField(&ExecServerMessage{Id: 1}); got != 0 {
		t.Errorf("unknown field %d in a message without any", got)
	}
}

// TestUnknownQuery: so can a question.
func TestUnknownQuery(t *testing.T) {
	response := &InteractionResponse{Id: 3}
	AddEmptyField(response, 99)
	got, err := Codec{}.Marshal(response)
	if want := []byte("\x08\x03\x9a\x06\x00"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("encoded %x (%v), want %x", got, err, want)
	}
}

// TestPlainTextArgument: an argument that is not an encoded Value does not make
// the call undecodable.
func TestPlainTextArgument(t *testing.T) {
	var args McpArgs
	if err := proto.Unmarshal([]byte("\x12\x0b\x0a\x01k\x12\x06plain!"), &args); err != nil {
		t.Fatal(err)
	}
	if got := string(args.GetArgs()["k"]); got != "plain!" {
		t.Errorf("argument %q, want plain!", got)
	}
}

// TestBlobPresence: an empty blob, a blob that is not there and an answer that
// is empty are three things.
func TestBlobPresence(t *testing.T) {
	for wire, want := range map[string]bool{"": false, "\x0a\x00": true} {
		var result GetBlobResult
		if err := proto.Unmarshal([]byte(wire), &result); err != nil {
			t.Fatal(err)
		}
		if got := result.BlobData != nil; got != want {
			t.Errorf("%x: there is data: %t, want %t", wire, got, want)
		}
	}
}

// TestRetryInfo: our copy reads what google.rpc.RetryInfo writes.
func TestRetryInfo(t *testing.T) {
	var info RetryInfo
	if err := proto.Unmarshal([]byte("\x0a\x08\x08\x02\x10\x80\xca\xb5\xee\x01"), &info); err != nil {
		t.Fatal(err)
	}
	if got, want := info.GetRetryDelay().AsDuration(), 2500*time.Millisecond; got != want {
		t.Errorf("retry after %v, want %v", got, want)
	}
}
