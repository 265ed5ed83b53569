package confedit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"sync"

	"github.com/tailscale/hujson"
)

// jsonLanguage is JSON as editors accept it: with comments and trailing commas.
// It adds neither where the file has none.
type jsonLanguage struct{}

func (jsonLanguage) decode(text []byte) (any, error) {
	root, _, err := parseJSON(text)
	if err != nil || root.Value == nil {
		return nil, err
	}
	root = root.Clone()
	root.Standardize()
	dec := json.NewDecoder(bytes.NewReader(root.Pack()))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, &SyntaxError{Format: JSON}
	}
	return tree, nil
}

var jsonPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+), column (\d+)`) })

// parseJSON returns the root, and the text that its offsets belong to: an
// additional line end lets a comment be the last thing in a file. A file with
// nothing but white space and comments has a root without a value.
func parseJSON(text []byte) (hujson.Value, []byte, error) {
	text = join(text, []byte("\n"))
	root, err := hujson.Parse(text)
	if err == nil {
		return root, text, nil
	}
	if _, emptyErr := hujson.Parse(join(text, []byte("{}"))); emptyErr == nil {
		return hujson.Value{}, text, nil
	}
	syntax := &SyntaxError{Format: JSON}
	if _, plain := hujson.Parse(text[:len(text)-1]); plain != nil {
		err = plain // the place in the file as it is
	}
	if m := jsonPlace().FindStringSubmatch(err.Error()); m != nil {
		syntax.Line, _ = strconv.Atoi(m[1])
		syntax.Column, _ = strconv.Atoi(m[2])
	}
	return root, text, syntax
}

// span is a child of a container: a member with its name, or an element.
type span struct{ start, value, end int }

// container is an object or array: [open, close] are its brackets.
type container struct {
	open, close int
	children    []span
}

func (c container) empty() bool { return len(c.children) == 0 }

func containerOf(v hujson.Value) (container, bool) {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	switch v := v.Value.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			c.children = append(c.children, span{m.Name.StartOffset, m.Value.StartOffset, m.Value.EndOffset})
		}
	case *hujson.Array:
		for _, e := range v.Elements {
			c.children = append(c.children, span{e.StartOffset, e.StartOffset, e.EndOffset})
		}
	default:
		return c, false
	}
	return c, true
}

// child returns the index of the step in the container and its value.
func child(v hujson.Value, step Step) (int, hujson.Value, bool) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		// The last of several members of one name counts, as in encoding/json.
		for i := len(v.Members) - 1; i >= 0; i-- {
			if step.Key == "" && stringOf(v.Members[i].Name) == step.Name {
				return i, v.Members[i].Value, true
			}
		}
	case *hujson.Array:
		for i, e := range v.Elements {
			if step.Key == "" {
				break
			}
			if _, is, ok := child(e, Step{Name: step.Key}); ok && is.Value.Kind() == '"' && stringOf(is) == step.Is {
				return i, e, true
			}
		}
	}
	return 0, hujson.Value{}, false
}

func stringOf(v hujson.Value) string {
	lit, _ := v.Value.(hujson.Literal)
	return lit.String()
}

func find(root hujson.Value, p Path) (hujson.Value, bool) {
	ok := true
	for _, step := range p {
		if _, root, ok = child(root, step); !ok {
			return root, false
		}
	}
	return root, true
}

func (jsonLanguage) replace(text []byte, p Path, value any) ([]byte, error) {
	root, padded, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	v, ok := find(root, p)
	if !ok {
		return nil, ErrUnsafe
	}
	style := styleOf(root, padded)
	rendered, err := style.render(value, lineIndent(text, v.StartOffset), style.oneLine)
	if err != nil {
		return nil, err
	}
	return join(text[:v.StartOffset], rendered, text[v.EndOffset:]), nil
}

func (jsonLanguage) source(text []byte, p Path) (from, to int, err error) {
	root, _, err := parseJSON(text)
	v, ok := find(root, p)
	if err == nil && !ok {
		err = ErrUnsafe
	}
	return v.StartOffset, v.EndOffset, err
}

func (jsonLanguage) insert(text []byte, parent Path, step Step, value any) ([]byte, error) {
	root, padded, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if root.Value == nil {
		return fresh(text, step, value)
	}
	v, ok := find(root, parent)
	c, isContainer := containerOf(v)
	if !ok || !isContainer {
		return nil, ErrUnsafe
	}
	style := styleOf(root, padded)
	inside := text[c.open+1 : c.close]
	nl := []byte(style.newline)

	if c.empty() && bytes.IndexByte(inside, '\n') < 0 { // {} or { }
		indent := lineIndent(text, c.open)
		if style.oneLine {
			rendered, err := style.member(step, value, "", true)
			return join(text[:c.open+1], rendered, text[c.close:]), err
		}
		if len(bytes.TrimSpace(inside)) > 0 {
			return nil, ErrUnsafe // a comment in a container on one line
		}
		rendered, err := style.member(step, value, indent+style.unit, false)
		return join(text[:c.open+1], nl, []byte(indent+style.unit), rendered, nl, []byte(indent), text[c.close:]), err
	}

	oneLine := !c.empty() && bytes.IndexByte(inside, '\n') < 0
	indent := style.childIndent(text, c)
	rendered, err := style.member(step, value, indent, oneLine)
	if err != nil {
		return nil, err
	}
	last := c.open + 1
	if !c.empty() {
		last = c.children[len(c.children)-1].end
	}
	// Behind the comments that follow the last child, before the white space.
	at := last + len(bytes.TrimRight(text[last:c.close], " \t\r\n"))
	trailing := findComma(text, last, c.close) >= 0
	between := join(nl, []byte(indent))
	if oneLine {
		between = []byte(" ")
	}
	var before, after []byte
	if !c.empty() && !trailing {
		before = []byte(",")
	}
	if trailing {
		after = []byte(",")
	}
	return join(text[:last], before, text[last:at], between, rendered, after, text[at:]), nil
}

// fresh writes the first value into a file that has none.
func fresh(text []byte, step Step, value any) ([]byte, error) {
	style := jsonStyle{unit: "  ", newline: newline(text)}
	var root any = Map{{step.Name, value}}
	if step.Key != "" {
		root = List{value}
	}
	rendered, err := style.render(root, "", false)
	if err != nil {
		return nil, err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = join(text, []byte(style.newline))
	}
	return join(text, rendered, []byte(style.newline)), nil
}

func (jsonLanguage) cut(text []byte, p Path) ([]byte, error) {
	root, _, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	parent, _ := find(root, p[:len(p)-1])
	i, _, ok := child(parent, p[len(p)-1])
	c, isContainer := containerOf(parent)
	if !ok || !isContainer {
		return nil, ErrUnsafe
	}
	this, previous, next := c.children[i], c.open+1, c.close
	if i > 0 {
		previous = c.children[i-1].end
	}
	last := i == len(c.children)-1
	if !last {
		next = c.children[i+1].start
	}
	from := previous + len(bytes.TrimRight(text[previous:this.start], " \t\r\n"))
	to := this.end
	comma := findComma(text, this.end, next)
	if comma >= 0 {
		to = comma + 1
	}
	// A line comment before keeps its line end if nothing else ends it.
	if rest := bytes.TrimLeft(text[to:], " \t"); len(rest) > 0 && rest[0] != '\n' && rest[0] != '\r' {
		if nl := bytes.IndexByte(text[from:this.start], '\n'); nl >= 0 {
			from += nl + 1
		}
	}
	if before := findComma(text, previous, this.start); last && comma < 0 && before >= 0 {
		return join(text[:before], text[before+1:from], text[to:]), nil
	}
	return join(text[:from], text[to:]), nil
}

// findComma returns the place of the comma between two children, or -1.
func findComma(text []byte, from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case text[i] == ',':
			return i
		case bytes.HasPrefix(text[i:to], []byte("//")):
			if nl := bytes.IndexByte(text[i:to], '\n'); nl >= 0 {
				i += nl
			} else {
				return -1
			}
		case bytes.HasPrefix(text[i:to], []byte("/*")):
			if end := bytes.Index(text[i+2:to], []byte("*/")); end >= 0 {
				i += end + 3
			} else {
				return -1
			}
		}
	}
	return -1
}
