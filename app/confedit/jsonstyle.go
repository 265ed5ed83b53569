package confedit

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonStyle is how the file at hand is laid out.
type jsonStyle struct {
	unit    string // one level of indentation
	newline string
	oneLine bool // the whole document stands on one line
}

func styleOf(root hujson.Value, text []byte) jsonStyle {
	style := jsonStyle{unit: "  ", newline: newline(text)}
	c, ok := containerOf(root)
	if !ok || c.empty() {
		return style
	}
	style.oneLine = bytes.IndexByte(text[c.open:c.close], '\n') < 0
	// The first container with a child on a line of its own tells the unit.
	if unit, ok := firstUnit(root, text); ok {
		style.unit = unit
	}
	return style
}

func firstUnit(v hujson.Value, text []byte) (string, bool) {
	c, ok := containerOf(v)
	if !ok {
		return "", false
	}
	for _, child := range c.children {
		inner, own := ownLine(text, child.start)
		outer := lineIndent(text, c.open)
		if own && len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
			return inner[len(outer):], true
		}
	}
	return "", false
}

// childIndent is how far the children of a container are indented.
func (s jsonStyle) childIndent(text []byte, c container) string {
	for i := len(c.children) - 1; i >= 0; i-- {
		if indent, own := ownLine(text, c.children[i].start); own {
			return indent
		}
	}
	return lineIndent(text, c.open) + s.unit
}

// ownLine returns the white space before a place if nothing else is there.
func ownLine(text []byte, at int) (string, bool) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	before := text[start:at]
	return string(before), start > 0 && len(bytes.Trim(before, " \t")) == 0
}

// lineIndent is the white space at the start of the line of a place.
func lineIndent(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (s jsonStyle) member(step Step, value any, indent string, oneLine bool) ([]byte, error) {
	rendered, err := s.render(value, indent, oneLine)
	if err != nil || step.Key != "" {
		return rendered, err
	}
	return join([]byte(quoted(step.Name)+": "), rendered), nil
}

// render writes a value; indent is that of the line it begins on.
func (s jsonStyle) render(value any, indent string, oneLine bool) ([]byte, error) {
	if text, ok := scalar(value); ok {
		return []byte(text), nil
	}
	if value == nil {
		return []byte("null"), nil
	}
	inner := indent + s.unit
	var parts [][]byte
	open, end := "[", "]"
	if m, ok := value.(Map); ok {
		open, end = "{", "}"
		for _, member := range m {
			part, err := s.member(Step{Name: member.Name}, member.Value, inner, oneLine)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	} else {
		list, ok := elements(value)
		if !ok {
			return nil, ErrUnsafe
		}
		oneLine = oneLine || allScalars(list)
		for _, element := range list {
			part, err := s.render(element, inner, oneLine)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	switch {
	case len(parts) == 0:
		return []byte(open + end), nil
	case oneLine && open == "{":
		return join([]byte("{ "), bytes.Join(parts, []byte(", ")), []byte(" }")), nil
	case oneLine:
		return join([]byte("["), bytes.Join(parts, []byte(", ")), []byte("]")), nil
	}
	nl := s.newline + inner
	return join([]byte(open+nl), bytes.Join(parts, []byte(","+nl)), []byte(s.newline+indent+end)), nil
}

func allScalars(list []any) bool {
	for _, element := range list {
		if _, ok := scalar(element); !ok {
			return false
		}
	}
	return true
}
