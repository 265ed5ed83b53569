package simserver

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"cursortray/proxy/cursor/cursorpb"
)

// decodeField sets a message field of m to an empty message by its number.
func decodeField(m proto.Message, number protowire.Number) error {
	return proto.UnmarshalOptions{Merge: true}.Unmarshal(lengthDelimited(number, nil), m)
}

// Native asks for work of the service's own kinds, by the name of the request's
// field ("read_args", "shell_stream_args", "pi_bash_args") and its content, or
// nil for an empty one.
func Native(field string, args proto.Message, checks ...func(ExecAnswer) error) Step {
	return func(r *Run) error {
		m, err := NativeRequest(field, args)
		if err != nil {
			return err
		}
		return Work(m, checks...)(r)
	}
}

// NativeRequest makes the request of Native.
func NativeRequest(field string, args proto.Message) (*cursorpb.ExecServerMessage, error) {
	m := &cursorpb.ExecServerMessage{}
	fd := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(field))
	switch {
	case fd == nil || fd.ContainingOneof() == nil || fd.ContainingOneof().IsSynthetic():
		return nil, fmt.Errorf("native work: no request is named %s", field)
	case fd.Message() == nil:
		m.ProtoReflect().Set(fd, protoreflect.ValueOfBytes(nil))
	case args == nil:
		m.ProtoReflect().Mutable(fd)
	case args.ProtoReflect().Descriptor() != fd.Message():
		return nil, fmt.Errorf("native work: %s takes a %s", field, fd.Message().Name())
	default:
		m.ProtoReflect().Set(fd, protoreflect.ValueOfMessage(clone(args).ProtoReflect()))
	}
	return m, nil
}

// UnknownWork asks for work of a kind that no table lists.
func UnknownWork(number int32, checks ...func(ExecAnswer) error) Step {
	return func(r *Run) error {
		m := &cursorpb.ExecServerMessage{}
		cursorpb.AddEmptyField(m, number)
		return Work(m, checks...)(r)
	}
}

// NativeKinds lists the names of all requests for work.
func NativeKinds() []string {
	var names []string
	fields := (&cursorpb.ExecServerMessage{}).ProtoReflect().Descriptor().Oneofs().ByName("message").Fields()
	for i := range fields.Len() {
		names = append(names, string(fields.Get(i).Name()))
	}
	return names
}
