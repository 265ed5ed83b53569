package openai

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"
)

// value is one JSON value of a request body that is known to be valid JSON. It
// knows where it stands, so that a fault can be reported with its full path.
// raw is nil for a member that is absent.
type value struct {
	raw   []byte
	in    *value // the object or array around it; nil for the body itself
	key   string // name in an object
	index int    // place in an array, -1 in an object
}

// document returns the value of a whole body.
func document(body []byte) value {
	return value{raw: bytes.TrimSpace(body), index: -1}
}

// absent tells whether there is no value; clients send null for "not set".
func (v value) absent() bool { return v.raw == nil || v.raw[0] == 'n' }

// path returns for example messages[2].content[0].text.
func (v value) path() string {
	return v.render(func(i int) string { return "[" + strconv.Itoa(i) + "]" })
}

// field returns the path without indexes, which names the field as such.
func (v value) field() string {
	return v.render(func(int) string { return "[]" })
}

func (v value) render(index func(int) string) string {
	if v.in == nil {
		return ""
	}
	parent := v.in.render(index)
	switch {
	case v.index >= 0:
		return parent + index(v.index)
	case parent == "":
		return v.key
	}
	return parent + "." + v.key
}

// kind names the type of the value for people.
func (v value) kind() string {
	if v.raw == nil {
		return "missing"
	}
	switch v.raw[0] {
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

// members yields the members of an object, in order. v must be an object.
func (v value) members() iter.Seq[value] {
	return func(yield func(value) bool) {
		for rest := next(v.raw[1:]); rest[0] != '}'; rest = next(rest) {
			n := skip(rest)
			key := text(rest[:n])
			rest = next(rest[n:])
			n = skip(rest)
			if !yield(value{raw: rest[:n], in: &v, key: key, index: -1}) {
				return
			}
			rest = rest[n:]
		}
	}
}

// elements yields the elements of an array, in order. v must be an array.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		rest := next(v.raw[1:])
		for i := 0; rest[0] != ']'; i++ {
			n := skip(rest)
			if !yield(value{raw: rest[:n], in: &v, index: i}) {
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

// text decodes a JSON string. What is not UTF-8 becomes U+FFFD.
func text(raw []byte) string {
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // cannot fail: raw is a valid JSON string
	return s
}
