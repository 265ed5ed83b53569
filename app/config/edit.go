package config

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

// utf8BOM is what some editors on Windows put in front of a file.
var utf8BOM = []byte("\xef\xbb\xbf")

func decode(data []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(data, utf8BOM), &values)
	return values, err
}

// setKey returns data with the top-level key set to value and every other byte
// as it was. The result is parsed again: if it says anything else than the old
// file plus the new value, the edit is refused.
func setKey(data []byte, key string, value any) ([]byte, error) {
	before, err := decode(data)
	if err != nil {
		return nil, err
	}
	line, err := toml.Marshal(map[string]any{key: value})
	if err != nil {
		return nil, err
	}
	line = bytes.TrimSpace(line)
	edited := splice(data, key, line)

	after, err := decode(edited)
	if err != nil {
		return nil, fmt.Errorf("the file has something else under the name %s: %w", key, err)
	}
	wanted, err := decode(line)
	if err != nil {
		return nil, err
	}
	before[key] = wanted[key]
	// %#v and not DeepEqual: a file may hold nan, which equals nothing.
	if fmt.Sprintf("%#v", before) != fmt.Sprintf("%#v", after) {
		return nil, errors.New("the file is written in a way that cannot be edited safely")
	}
	return edited, nil
}

// splice puts the assignment "key = value" in place of the value that key has,
// or on a line of its own behind the last top-level assignment.
func splice(data []byte, key string, line []byte) []byte {
	entries, end := topLevel(data)
	at := end
	for _, e := range entries {
		if e.named(data, key) {
			_, value, _ := bytes.Cut(line, []byte(" = "))
			return join(data[:e.value], value, data[e.end:])
		}
		at = lineEnd(data, e.end)
	}
	newline := []byte("\n")
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		newline = []byte("\r\n")
	}
	if at > 0 && data[at-1] != '\n' && !bytes.Equal(data[:at], utf8BOM) {
		line = join(newline, line)
	}
	return join(data[:at], line, newline, data[at:])
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// entry is one assignment: key bytes [start, equals), value bytes [value, end).
type entry struct{ start, equals, value, end int }

func (e entry) named(data []byte, key string) bool {
	name := bytes.TrimSpace(data[e.start:e.equals])
	if string(name) == key {
		return true
	}
	if len(name) == 0 || name[0] != '"' && name[0] != '\'' {
		return false
	}
	// A quoted key: let the TOML parser say what it means.
	values, err := decode(join(name, []byte(" = 0")))
	return err == nil && len(values) == 1 && values[key] == int64(0)
}

// topLevel finds the assignments before the first table of a valid TOML file,
// and the place behind them where another one can be inserted: before the
// table and the comment that belongs to it, or at the end of the file.
func topLevel(data []byte) (entries []entry, end int) {
	i := 0
	if bytes.HasPrefix(data, utf8BOM) {
		i = len(utf8BOM)
	}
	comment := -1 // start of the block of comment lines right above i
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r':
			i++
		case '\n':
			i++
			if j := i; j < len(data) && (data[j] == '\n' || data[j] == '\r') {
				comment = -1 // an empty line ends the block
			}
		case '#':
			if comment < 0 {
				comment = lineStart(data, i)
			}
			i = skipComment(data, i)
		case '[':
			if comment >= 0 {
				return entries, comment
			}
			return entries, lineStart(data, i)
		default:
			e := entry{start: i}
			e.equals = skipUntil(data, i, "=")
			e.value = min(e.equals+1, len(data))
			for e.value < len(data) && (data[e.value] == ' ' || data[e.value] == '\t') {
				e.value++
			}
			stop := skipUntil(data, e.value, "\n#")
			e.end = e.value + len(bytes.TrimRight(data[e.value:stop], " \t\r"))
			entries = append(entries, e)
			i, comment = lineEnd(data, stop), -1
		}
	}
	return entries, len(data)
}

// lineStart leaves out a byte-order mark: nothing may come before it.
func lineStart(data []byte, i int) int {
	start := bytes.LastIndexByte(data[:i], '\n') + 1
	if start == 0 && bytes.HasPrefix(data, utf8BOM) {
		return len(utf8BOM)
	}
	return start
}

func lineEnd(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(data)
}

func skipComment(data []byte, i int) int {
	if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(data)
}

// skipUntil returns the place of the first of the stop bytes outside strings
// and brackets.
func skipUntil(data []byte, i int, stops string) int {
	depth := 0
	for i < len(data) {
		c := data[i]
		switch {
		case depth == 0 && bytes.IndexByte([]byte(stops), c) >= 0:
			return i
		case c == '"' || c == '\'':
			i = skipString(data, i)
			continue
		case c == '#':
			i = skipComment(data, i)
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		i++
	}
	return len(data)
}

// skipString returns the place behind the string that begins at i.
func skipString(data []byte, i int) int {
	quote := data[i]
	mark := data[i : i+1]
	if triple := bytes.Repeat(mark, 3); bytes.HasPrefix(data[i:], triple) {
		mark = triple
	}
	i += len(mark)
	for i < len(data) {
		switch {
		case quote == '"' && data[i] == '\\':
			i += 2
		case bytes.HasPrefix(data[i:], mark):
			i += len(mark)
			// A long string may end in up to two quotes of its own.
			for n := 0; len(mark) == 3 && n < 2 && i < len(data) && data[i] == quote; n++ {
				i++
			}
			return i
		default:
			i++
		}
	}
	return len(data)
}
