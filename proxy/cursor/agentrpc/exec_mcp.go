package agentrpc

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/cursor/cursorpb"
)

// resolve finds the offered tool that a call means, by its bare name first,
// then by the name that the model saw.
func (b *toolbox) resolve(args *cursorpb.McpArgs) (name string, arguments json.RawMessage, ok bool) {
	arguments = mcpArguments(args)
	bare := strings.TrimPrefix(args.GetName(), modelsPrefix)
	for _, name := range []string{args.GetToolName(), args.GetName(), bare} {
		if b.has(name) {
			return name, b.names.Find(name).Arguments(arguments), true
		}
	}
	for _, name := range []string{strings.TrimPrefix(args.GetToolName(), modelsPrefix), bare} {
		if name, arguments, ok := b.names.Resolve(name, arguments); ok {
			return name, arguments, true
		}
	}
	return "", nil, false
}

// mcpArguments returns the arguments of a call as a JSON object.
func mcpArguments(args *cursorpb.McpArgs) json.RawMessage {
	object := make(map[string]json.RawMessage, len(args.GetArgs()))
	for key, encoded := range args.GetArgs() {
		object[key] = argumentValue(encoded)
	}
	return encodeJSON(object)
}

// argumentValue decodes one argument: an encoded Value, or what some servers
// put in its place, JSON or plain text.
func argumentValue(encoded []byte) json.RawMessage {
	var value structpb.Value
	if proto.Unmarshal(encoded, &value) == nil && value.Kind != nil && len(value.ProtoReflect().GetUnknown()) == 0 {
		if text, ok := appendValue(nil, &value); ok {
			return text
		}
	}
	if json.Valid(encoded) && utf8.Valid(encoded) {
		return bytes.Clone(encoded)
	}
	return encodeJSON(valid(string(encoded)))
}

// appendValue writes a Value. A double that is whole is written as the integer
// that it was before it travelled. It reports false for what JSON cannot hold.
func appendValue(dst []byte, value *structpb.Value) ([]byte, bool) {
	ok := true
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StructValue:
		fields := kind.StructValue.GetFields()
		dst = append(dst, '{')
		for i, key := range slices.Sorted(maps.Keys(fields)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, encodeJSON(key)...), ':')
			if dst, ok = appendValue(dst, fields[key]); !ok {
				return nil, false
			}
		}
		return append(dst, '}'), true
	case *structpb.Value_ListValue:
		dst = append(dst, '[')
		for i, inner := range kind.ListValue.GetValues() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, ok = appendValue(dst, inner); !ok {
				return nil, false
			}
		}
		return append(dst, ']'), true
	case *structpb.Value_StringValue:
		return append(dst, encodeJSON(kind.StringValue)...), true
	case *structpb.Value_NumberValue:
		return appendNumber(dst, kind.NumberValue)
	case *structpb.Value_BoolValue:
		return strconv.AppendBool(dst, kind.BoolValue), true
	}
	return append(dst, "null"...), true
}

// maxExactInteger is the largest number up to which a double holds every
// integer.
const maxExactInteger = 1 << 53

func appendNumber(dst []byte, f float64) ([]byte, bool) {
	if f == math.Trunc(f) && math.Abs(f) <= maxExactInteger {
		return strconv.AppendInt(dst, int64(f), 10), true
	}
	text, err := json.Marshal(f) // fails for what is no number
	return append(dst, text...), err == nil
}
