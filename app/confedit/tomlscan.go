package confedit

import (
	"bytes"
	"errors"

	"github.com/pelletier/go-toml/v2"
)

func decodeTOML(text []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(text, &values)
	var where *toml.DecodeError
	if errors.As(err, &where) {
		line, column := where.Position()
		return nil, &SyntaxError{Format: TOML, Line: line, Column: column}
	}
	if err != nil {
		return nil, &SyntaxError{Format: TOML}
	}
	return values, nil
}

// statement is a table header or an assignment of a valid TOML file.
type statement struct {
	header     bool
	path       Path // in full; nil inside lists of tables, which are not edited
	start      int  // of the header's bracket or the assignment's key
	value, end int  // of the value; a header ends behind its bracket
}

// statements lists what a valid TOML file says, in order.
func statements(text []byte) []statement {
	var list []statement
	var table Path
	var lists []Path
	inList := false
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			i = skipComment(text, i)
		case '[':
			s := statement{header: true, start: i}
			brackets := 1
			if bytes.HasPrefix(text[i:], []byte("[[")) {
				brackets = 2
			}
			stop := skipUntil(text, i+brackets, "]")
			s.end = min(stop+brackets, len(text))
			table = keyPath(text[min(i+brackets, stop):stop])
			if brackets == 2 {
				lists = append(lists, table)
			}
			inList = underAny(lists, table)
			if !inList {
				s.path = table
			}
			list = append(list, s)
			i = lineEnd(text, s.end)
		default:
			s := statement{start: i}
			equals := skipUntil(text, i, "=")
			s.value = min(equals+1, len(text))
			for s.value < len(text) && (text[s.value] == ' ' || text[s.value] == '\t') {
				s.value++
			}
			stop := skipUntil(text, s.value, "\n#")
			s.end = s.value + len(bytes.TrimRight(text[s.value:stop], " \t\r"))
			if !inList {
				s.path = table.Then(keyPath(text[i:equals])...)
			}
			list = append(list, s)
			i = lineEnd(text, stop)
		}
	}
	return list
}

// underAny reports whether a table belongs to the element of a list of tables.
func underAny(lists []Path, table Path) bool {
	for _, list := range lists {
		if table.Within(list) {
			return true
		}
	}
	return false
}

// keyPath returns the names of a dotted key. The TOML parser says what quotes
// and escapes mean.
func keyPath(key []byte) Path {
	key = bytes.TrimSpace(key)
	if bare(key) {
		return Names(string(key))
	}
	values, err := decodeTOML(join(key, []byte(" = 0")))
	if err != nil {
		return nil
	}
	var p Path
	for {
		if len(values) != 1 {
			return nil
		}
		for name, value := range values {
			p = append(p, Step{Name: name})
			deeper, ok := value.(map[string]any)
			if !ok {
				return p
			}
			values = deeper
		}
	}
}

func bare(key []byte) bool {
	for _, c := range key {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return len(key) > 0
}

func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

func skipComment(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// skipUntil returns the place of the first of the stop bytes outside strings
// and brackets.
func skipUntil(text []byte, i int, stops string) int {
	depth := 0
	for i < len(text) {
		c := text[i]
		switch {
		case depth == 0 && bytes.IndexByte([]byte(stops), c) >= 0:
			return i
		case c == '"' || c == '\'':
			i = skipString(text, i)
			continue
		case c == '#':
			i = skipComment(text, i)
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		i++
	}
	return len(text)
}

// skipString returns the place behind the string that begins at i.
func skipString(text []byte, i int) int {
	quote := text[i]
	mark := text[i : i+1]
	if triple := bytes.Repeat(mark, 3); bytes.HasPrefix(text[i:], triple) {
		mark = triple
	}
	i += len(mark)
	for i < len(text) {
		switch {
		case quote == '"' && text[i] == '\\':
			i += 2
		case bytes.HasPrefix(text[i:], mark):
			i += len(mark)
			// A long string may end in up to two quotes of its own.
			for n := 0; len(mark) == 3 && n < 2 && i < len(text) && text[i] == quote; n++ {
				i++
			}
			return min(i, len(text))
		default:
			i++
		}
	}
	return len(text)
}
