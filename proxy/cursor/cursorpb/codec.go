package cursorpb

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// Codec encodes the messages of this package for connect (connect.WithCodec,
// on both sides of a call). It differs from connect's own in one thing: equal
// messages always become equal bytes, also where they hold maps. Cursor keeps
// the prompt in a cache that any changed byte of the request context empties.
type Codec struct{}

// Name is the name that connect's content types know.
func (Codec) Name() string { return "proto" }

// Marshal encodes a message.
func (c Codec) Marshal(message any) ([]byte, error) {
	return c.MarshalAppend(nil, message)
}

// MarshalAppend encodes a message behind what is in dst, which saves connect a
// copy.
func (Codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("encode %T: not a protobuf message", message)
	}
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
}

// Unmarshal decodes a message. The message does not share memory with data.
func (Codec) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("decode %T: not a protobuf message", message)
	}
	return proto.Unmarshal(data, m)
}
