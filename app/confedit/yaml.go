package confedit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlLanguage edits block style: entries on lines of their own. The encoders
// of YAML libraries keep comments but lay the file out anew, so only the
// positions come from the parser. What stands in flow style ({a: 1}) is
// changed where one value is replaced by another, else left alone.
type yamlLanguage struct{}

func (yamlLanguage) decode(text []byte) (any, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, err
	}
	var tree any
	if err := root.Decode(&tree); err != nil {
		return nil, yamlError(err)
	}
	return tree, nil
}

func (yamlLanguage) replace(text []byte, p Path, value any) ([]byte, error) {
	y, e, err := locate(text, p)
	if err != nil {
		return nil, err
	}
	if rendered, ok := yamlScalar(value); ok {
		if from, to, ok := y.scalarPlace(e, p); ok && from == to {
			return y.splice(from, 0, " "+rendered), nil
		} else if ok {
			return y.splice(from, to-from, rendered), nil
		}
	}
	if e.key == nil || y.inFlow(p) {
		return nil, ErrUnsafe
	}
	if e.value.Tag == "!!null" && e.value.Value == "" { // "models:" and nothing
		body, err := yamlBody(value, e.indent)
		return y.insertLines(e.start+1, body), err
	}
	lines, err := yamlMember(Member{e.key.Value, value}, e.indent)
	if err != nil || !y.ownLine(e) {
		return nil, ErrUnsafe
	}
	return y.replaceLines(e.start, e.end, lines), nil
}

func (yamlLanguage) source(text []byte, p Path) (from, to int, err error) {
	y, e, err := locate(text, p)
	if err != nil {
		return 0, 0, err
	}
	from, to, ok := y.scalarPlace(e, p)
	if !ok || from == to {
		return 0, 0, ErrUnsafe
	}
	return from, to, nil
}

// scalarPlace is where a scalar on one line stands; for none at all, as in
// "key:", it is the empty place behind the colon.
func (y yamlText) scalarPlace(e entry, p Path) (from, to int, ok bool) {
	old := e.value
	if old.Kind != yaml.ScalarNode || old.Line != e.start+1 || e.end != e.start+1 {
		return 0, 0, false
	}
	if old.Tag == "!!null" && old.Value == "" {
		if e.key == nil {
			return 0, 0, false
		}
		at := y.afterKey(e.key)
		return at, at, true
	}
	from = y.offset(old)
	return from, from + scalarLength(y.text[from:y.lineEnd(e.start)], y.inFlow(p)), true
}

func (yamlLanguage) insert(text []byte, parent Path, step Step, value any) ([]byte, error) {
	if root, err := parseYAML(text); err != nil || root == nil {
		if err != nil || step.Key != "" || oddLines(text) {
			return nil, ErrUnsafe
		}
		y := newYAMLText(text, nil)
		lines, err := yamlMember(Member{step.Name, value}, 0)
		return y.insertLines(len(y.starts), lines), err
	}
	y, e, err := locate(text, parent)
	if err != nil {
		return nil, err
	}
	render := func(indent int) ([]string, error) {
		if step.Key != "" {
			return yamlItem(value, indent)
		}
		return yamlMember(Member{step.Name, value}, indent)
	}
	flow := e.value.Style&yaml.FlowStyle != 0
	switch {
	case flow && len(e.value.Content) == 0: // "models: []", or "{}" alone
		at := y.offset(e.value)
		end := bytes.IndexAny(text[at:y.lineEnd(e.value.Line-1)], "]}")
		if end < 0 || y.inFlow(parent) || e.key == nil && len(parent) > 0 {
			return nil, ErrUnsafe
		}
		indent := 0
		if e.key != nil {
			indent = e.indent + 2
		}
		lines, err := render(indent)
		if err != nil {
			return nil, err
		}
		gap := len(text[:at]) - len(bytes.TrimRight(text[:at], " "))
		cleared := newYAMLText(y.splice(at-gap, gap+end+1, ""), nil)
		line := e.value.Line
		if e.key == nil {
			line = len(cleared.starts)
		}
		return cleared.insertLines(line, lines), nil
	case flow || len(e.value.Content) == 0:
		return nil, ErrUnsafe
	}
	last := y.children(e)[len(y.children(e))-1]
	lines, err := render(last.indent)
	return y.insertLines(last.end, lines), err
}

func (yamlLanguage) cut(text []byte, p Path) ([]byte, error) {
	y, e, err := locate(text, p)
	if err != nil {
		return nil, err
	}
	if y.inFlow(p) || !y.ownLine(e) {
		return nil, ErrUnsafe
	}
	siblings := 0
	_, parent, err := locate(text, p[:len(p)-1])
	if err == nil {
		siblings = len(y.children(parent)) - 1
	}
	if siblings > 0 || len(p) == 1 && e.key != nil {
		return y.replaceLines(e.start, e.end, nil), nil
	}
	if parent.key == nil || parent.start == e.start {
		return nil, ErrUnsafe
	}
	// The last entry goes: "models:" alone would be null and no list.
	empty := " {}"
	if e.key == nil {
		empty = " []"
	}
	shorter := newYAMLText(y.replaceLines(e.start, e.end, nil), nil)
	return shorter.splice(y.afterKey(parent.key), 0, empty), nil
}

// scalarLength is how much of a line the scalar at its start takes.
func scalarLength(line []byte, flow bool) int {
	if len(line) > 0 && (line[0] == '"' || line[0] == '\'') {
		for i := 1; i < len(line); i++ {
			switch {
			case line[0] == '"' && line[i] == '\\':
				i++
			case line[i] == line[0] && line[0] == '\'' && i+1 < len(line) && line[i+1] == '\'':
				i++
			case line[i] == line[0]:
				return i + 1
			}
		}
		return len(line)
	}
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		line = line[:i]
	}
	if i := bytes.Index(line, []byte("\t#")); i >= 0 {
		line = line[:i]
	}
	if i := bytes.IndexAny(line, ",]}"); flow && i >= 0 {
		line = line[:i]
	}
	return len(bytes.TrimRight(line, " \t\r\n"))
}

func yamlScalar(v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		return scalar(v)
	}
	if plainYAML(s) {
		return s, true
	}
	return tomlString(s), true
}

// plainYAML reports whether a string needs no quotes: only harmless letters,
// and YAML reads it as that string, not as a number, a date or a word for yes.
func plainYAML(s string) bool {
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789 _-./:()@+", c)) {
			return false
		}
	}
	if strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.TrimSpace(s) != s {
		return false
	}
	switch strings.ToLower(s) { // what YAML 1.1 reads as a truth value
	case "y", "n", "yes", "no", "on", "off":
		return false
	}
	var back any
	return yaml.Unmarshal([]byte(s), &back) == nil && back == any(s)
}

// yamlMember, yamlItem and yamlBody write an entry of a map, an element of a
// list, and what stands under a key, in lines without their ends.
func yamlMember(m Member, indent int) ([]string, error) {
	key, _ := yamlScalar(m.Name)
	pad := strings.Repeat(" ", indent)
	if text, ok := yamlScalar(m.Value); ok {
		return []string{pad + key + ": " + text}, nil
	}
	if list, ok := elements(m.Value); ok && allScalars(list) {
		parts := make([]string, len(list))
		for i, element := range list {
			parts[i], _ = yamlScalar(element)
		}
		return []string{pad + key + ": [" + strings.Join(parts, ", ") + "]"}, nil
	}
	if inner, ok := m.Value.(Map); ok && len(inner) == 0 {
		return []string{pad + key + ": {}"}, nil
	}
	body, err := yamlBody(m.Value, indent)
	return append([]string{pad + key + ":"}, body...), err
}

func yamlBody(value any, indent int) ([]string, error) {
	var lines []string
	if m, ok := value.(Map); ok {
		for _, member := range m {
			more, err := yamlMember(member, indent+2)
			if err != nil {
				return nil, err
			}
			lines = append(lines, more...)
		}
		return lines, nil
	}
	list, ok := elements(value)
	if !ok {
		return nil, ErrUnsafe
	}
	for _, element := range list {
		more, err := yamlItem(element, indent+2)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

func yamlItem(value any, indent int) ([]string, error) {
	pad := strings.Repeat(" ", indent)
	if text, ok := yamlScalar(value); ok {
		return []string{pad + "- " + text}, nil
	}
	m, ok := value.(Map)
	if !ok || len(m) == 0 {
		return nil, ErrUnsafe
	}
	lines, err := yamlBody(m, indent)
	if err != nil {
		return nil, err
	}
	lines[0] = pad + "- " + strings.TrimLeft(lines[0], " ")
	return lines, nil
}
