package wirejson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"
)

// Value is one JSON value of a request body that is known to be valid JSON. It
// knows where it stands, so that a fault can be reported with its full path.
// Raw is nil for a member that is absent.
type Value struct {
	Raw   []byte
	in    *Value // the object or array around it; nil for the body itself
	Key   string // name in an object
	Index int    // place in an array, -1 in an object
}

// Document returns the value of a whole body.
func Document(body []byte) Value {
	return Value{Raw: bytes.TrimSpace(body), Index: -1}
}

// Absent tells whether there is no Value; clients send null for "not set".
func (v Value) Absent() bool { return v.Raw == nil || v.Raw[0] == 'n' }

// Path returns for example messages[2].content[0].text.
func (v Value) Path() string {
	return v.render(func(i int) string { return "[" + strconv.Itoa(i) + "]" })
}

// Field returns the path without indexes, which names the field as such.
func (v Value) Field() string {
	return v.render(func(int) string { return "[]" })
}

func (v Value) render(index func(int) string) string {
	if v.in == nil {
		return ""
	}
	parent := v.in.render(index)
	switch {
	case v.Index >= 0:
		return parent + index(v.Index)
	case parent == "":
		return v.Key
	}
	return parent + "." + v.Key
}

// Kind names the type of the value for people.
func (v Value) Kind() string {
	if v.Raw == nil {
		return "missing"
	}
	switch v.Raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// Members yields the members of an object, in order. v must be an object.
func (v Value) Members() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for rest := next(v.Raw[1:]); rest[0] != '}'; rest = next(rest) {
			n := skip(rest)
			key := Value{Raw: rest[:n]}.Text()
			rest = next(rest[n:])
			n = skip(rest)
			if !yield(Value{Raw: rest[:n], in: &v, Key: key, Index: -1}) {
				return
			}
			rest = rest[n:]
		}
	}
}

// Elements yields the elements of an array, in order. v must be an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		rest := next(v.Raw[1:])
		for i := 0; rest[0] != ']'; i++ {
			n := skip(rest)
			if !yield(Value{Raw: rest[:n], in: &v, Index: i}) {
				return
			}
			rest = next(rest[n:])
		}
	}
}

// next returns what follows white space, commas and colons.
func next(b []byte) []byte {
	for {
		switch b[0] {
		case ' ', '\t', '\r', '\n', ',', ':':
			b = b[1:]
		default:
			return b
		}
	}
}

// skip returns the length of the value that b begins with.
func skip(b []byte) int {
	switch b[0] {
	case '"':
		return skipString(b)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch b[i] {
			case '"':
				i += skipString(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := bytes.IndexAny(b, ",]} \t\r\n"); n >= 0 {
		return n
	}
	return len(b)
}

// skipString finds the closing quote: the first with an even number of
// backslashes before it.
func skipString(b []byte) int {
	for i := 1; ; {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}

// Text decodes a JSON string. What is not UTF-8 becomes U+FFFD. v must be a
// string.
func (v Value) Text() string {
	inside := v.Raw[1 : len(v.Raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	var s string
	_ = json.Unmarshal(v.Raw, &s) // cannot fail: Raw is a valid JSON string
	return s
}
