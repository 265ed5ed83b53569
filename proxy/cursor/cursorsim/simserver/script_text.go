package simserver

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// telling are the fields of results that say what the model reads.
func telling(name protoreflect.Name) bool {
	switch name {
	case "error", "reason", "content", "output", "stdout", "interleaved_output", "file_content_after_write", "text":
		return true
	}
	return false
}

// anyText finds the first telling text in a result.
func anyText(m protoreflect.Message) string {
	found := ""
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Kind() == protoreflect.StringKind && !fd.IsList() && !fd.IsMap() && telling(fd.Name()):
			found = v.String()
		case fd.Message() != nil && !fd.IsMap() && fd.IsList():
			for i := 0; i < v.List().Len() && found == ""; i++ {
				found = anyText(v.List().Get(i).Message())
			}
		case fd.Message() != nil && !fd.IsMap():
			found = anyText(v.Message())
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				found = anyText(v.Message())
				return found == ""
			})
		}
		return found == ""
	})
	return found
}

// lengthDelimited encloses bytes in a field.
func lengthDelimited(number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
}
