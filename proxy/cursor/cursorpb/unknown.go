package cursorpb

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// UnknownField returns the number of the first field of m that this package
// does not know, or 0. In a message whose oneof is unset it is the number of a
// kind that Cursor added later: such a request, too, wants an answer.
func UnknownField(m proto.Message) int32 {
	number, _, n := protowire.ConsumeField(m.ProtoReflect().GetUnknown())
	if n < 0 {
		return 0
	}
	return int32(number)
}

// AddEmptyField adds an empty message to m in a field that this package does
// not know: all that can be said to a question of a kind Cursor added later.
func AddEmptyField(m proto.Message, number int32) {
	r := m.ProtoReflect()
	unknown := protowire.AppendTag(slices.Clip(r.GetUnknown()), protowire.Number(number), protowire.BytesType)
	r.SetUnknown(protowire.AppendBytes(unknown, nil))
}
