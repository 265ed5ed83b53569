package confedit

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseYAML returns the root of the only document, or nil when there is none.
func parseYAML(text []byte) (root *yaml.Node, err error) {
	// The parser panics over some damaged files.
	defer func() {
		if recover() != nil {
			root, err = nil, &SyntaxError{Format: YAML}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if len(bytes.TrimSpace(withoutComments(text))) == 0 {
			return nil, nil
		}
		return nil, yamlError(err)
	}
	if dec.Decode(&second) == nil || len(doc.Content) != 1 {
		return nil, ErrUnsafe // several documents
	}
	root = doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" && root.Value == "" {
		return nil, nil
	}
	return root, nil
}

func withoutComments(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
			out = append(out, line...)
		}
	}
	return out
}

var yamlPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+)`) })

func yamlError(err error) error {
	syntax := &SyntaxError{Format: YAML}
	if m := yamlPlace().FindStringSubmatch(err.Error()); m != nil {
		syntax.Line, _ = strconv.Atoi(m[1])
	}
	return syntax
}

// yamlText is a file with its lines. Lines are counted from 0.
type yamlText struct {
	text   []byte
	starts []int
	root   *yaml.Node
}

// entry is a member of a map (with its key), an element of a list, or the
// root: the lines [start, end) and the column of its key or dash.
type entry struct {
	key, value *yaml.Node
	start, end int
	indent     int
}

func newYAMLText(text []byte, root *yaml.Node) yamlText {
	y := yamlText{text: text, root: root}
	for i := 0; i < len(text); {
		y.starts = append(y.starts, i)
		i = lineEnd(text, i)
	}
	return y
}

// locate finds the entry that a path of an existing value leads to.
func locate(text []byte, p Path) (yamlText, entry, error) {
	root, err := parseYAML(text)
	if err != nil {
		return yamlText{}, entry{}, err
	}
	if root == nil || oddLines(text) {
		return yamlText{}, entry{}, ErrUnsafe
	}
	y := newYAMLText(text, root)
	e := entry{value: root, end: len(y.starts)}
	for _, step := range p {
		next := entry{}
		found := false
		for _, c := range y.children(e) {
			if step.Key == "" && c.key != nil && c.key.Value == step.Name || step.Key != "" && c.key == nil && holds(c.value, step) {
				next, found = c, true
				break
			}
		}
		if !found {
			return y, e, ErrUnsafe // by an alias or a merge key
		}
		e = next
	}
	return y, e, nil
}

// oddLines reports line ends that the parser counts and yamlText does not.
func oddLines(text []byte) bool {
	return bytes.ContainsAny(text, "\u0085\u2028\u2029") || bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
}

func holds(v *yaml.Node, step Step) bool {
	for i := 0; v.Kind == yaml.MappingNode && i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value == step.Key && v.Content[i+1].Value == step.Is {
			return true
		}
	}
	return false
}

// children lists the entries of a block map or list with the lines they take.
func (y yamlText) children(e entry) []entry {
	var list []entry
	switch e.value.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(e.value.Content); i += 2 {
			key := e.value.Content[i]
			list = append(list, entry{key: key, value: e.value.Content[i+1], start: key.Line - 1, indent: key.Column - 1})
		}
	case yaml.SequenceNode:
		for _, element := range e.value.Content {
			list = append(list, entry{value: element, start: element.Line - 1, indent: e.value.Column - 1})
		}
	}
	for i := range list {
		bound := e.end
		if i+1 < len(list) {
			bound = list[i+1].start
		}
		list[i].end = y.trim(list[i], bound)
	}
	return list
}

// trim takes the empty lines and comments at the end of an entry away: they
// belong to what follows. In a text block they are text, unless indented less.
func (y yamlText) trim(e entry, bound int) int {
	leaf := e.value
	for len(leaf.Content) > 0 {
		leaf = leaf.Content[len(leaf.Content)-1]
	}
	block := leaf.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	for bound > e.start+1 {
		line := bytes.TrimRight(y.text[y.starts[bound-1]:y.lineEnd(bound-1)], " \t\r\n")
		bare := bytes.TrimLeft(line, " \t")
		comment := bytes.HasPrefix(bare, []byte("#")) && (!block || len(line)-len(bare) <= e.indent)
		if len(bare) > 0 && !comment && string(line) != "..." {
			break
		}
		bound--
	}
	return bound
}

func (y yamlText) lineEnd(line int) int {
	if line+1 < len(y.starts) {
		return y.starts[line+1]
	}
	return len(y.text)
}

// offset is where a node begins. The parser counts characters, not bytes.
func (y yamlText) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(y.starts) {
		return len(y.text)
	}
	at := y.starts[n.Line-1]
	for i := 1; i < n.Column && at < len(y.text); i++ {
		_, size := utf8.DecodeRune(y.text[at:])
		at += size
	}
	return at
}

// afterKey is the place behind the colon of a key.
func (y yamlText) afterKey(key *yaml.Node) int {
	at := y.offset(key)
	end := at + len(key.Value)
	if key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		end = at + scalarLength(y.text[at:], false)
	}
	if end > len(y.text) {
		return len(y.text)
	}
	if colon := bytes.IndexByte(y.text[end:], ':'); colon >= 0 {
		return end + colon + 1
	}
	return len(y.text)
}

// ownLine reports whether nothing but its dash stands before an entry.
func (y yamlText) ownLine(e entry) bool {
	if e.start >= len(y.starts) {
		return false
	}
	line := y.text[y.starts[e.start]:y.lineEnd(e.start)]
	if e.indent > len(line) || len(bytes.Trim(line[:e.indent], " ")) > 0 {
		return false
	}
	return e.key != nil || e.indent < len(line) && line[e.indent] == '-'
}

// inFlow reports whether the value at p stands inside of { } or [ ].
func (y yamlText) inFlow(p Path) bool {
	for n := range len(p) {
		if _, e, err := locate(y.text, p[:n]); err != nil || e.value.Style&yaml.FlowStyle != 0 {
			return true
		}
	}
	return false
}

func (y yamlText) splice(at, length int, with string) []byte {
	return join(y.text[:at], []byte(with), y.text[at+length:])
}

func (y yamlText) insertLines(line int, lines []string) []byte {
	return y.replaceLines(line, line, lines)
}

func (y yamlText) replaceLines(start, end int, lines []string) []byte {
	nl := newline(y.text)
	from, to := len(y.text), len(y.text)
	if start < len(y.starts) {
		from = y.starts[start]
	}
	if end < len(y.starts) {
		to = y.starts[end]
	}
	with := strings.Join(lines, nl)
	if len(lines) > 0 {
		with += nl
		if from > 0 && y.text[from-1] != '\n' {
			with = nl + with
		}
	}
	return join(y.text[:from], []byte(with), y.text[to:])
}
