package cursorpb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// byNumber returns an encoded message with its fields in the order of their
// numbers, inside of submessages too. Readers accept any order; Go writes the
// variant of a oneof last, the vectors follow the numbers.
func byNumber(t *testing.T, wire []byte, kind protoreflect.MessageDescriptor) []byte {
	t.Helper()
	type field struct {
		number protowire.Number
		bytes  []byte
	}
	var fields []field
	for len(wire) > 0 {
		number, wireType, n := protowire.ConsumeField(wire)
		if n < 0 {
			t.Fatalf("%s: %v", kind.FullName(), protowire.ParseError(n))
		}
		whole := wire[:n]
		known := kind.Fields().ByNumber(number)
		if known != nil && known.Message() != nil && wireType == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(whole)
			inner, _ := protowire.ConsumeBytes(whole[tag:])
			whole = protowire.AppendBytes(slices.Clone(whole[:tag]), byNumber(t, inner, known.Message()))
		}
		fields = append(fields, field{number, whole})
		wire = wire[n:]
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.number, b.number) })
	var out []byte
	for _, f := range fields {
		out = append(out, f.bytes...)
	}
	return out
}

// envelopesByNumber does the same to every message in a stream of envelopes,
// except the last one of a service, which is JSON.
func envelopesByNumber(t *testing.T, stream []byte, kind protoreflect.MessageDescriptor) []byte {
	t.Helper()
	const endStream = 2
	var out bytes.Buffer
	for len(stream) > 0 {
		if len(stream) < envelopeHead {
			t.Fatalf("the stream ends within an envelope's head: %x", stream)
		}
		end := envelopeHead + int(binary.BigEndian.Uint32(stream[1:]))
		if len(stream) < end {
			t.Fatalf("the stream ends within an envelope: %x", stream)
		}
		out.Write(stream[:envelopeHead])
		if stream[0]&endStream != 0 {
			out.Write(stream[envelopeHead:end])
		} else {
			out.Write(byNumber(t, stream[envelopeHead:end], kind))
		}
		stream = stream[end:]
	}
	return out.Bytes()
}
