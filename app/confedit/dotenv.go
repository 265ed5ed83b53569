package confedit

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// dotenvLanguage is lines of NAME=value. Its files have no grammar that their
// readers agree on, so lines that are something else are passed over, like the
// readers do.
type dotenvLanguage struct{}

var dotenvLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*`)
})

// assignment is the value bytes [start, end) of a name on a line.
type assignment struct {
	name       string
	start, end int
}

func assignments(text []byte) []assignment {
	var list []assignment
	for i := 0; i < len(text); {
		next := lineEnd(text, i)
		m := dotenvLine().FindSubmatchIndex(text[i:next])
		if m == nil {
			i = next
			continue
		}
		a := assignment{name: string(text[i+m[2] : i+m[3]]), start: i + m[1]}
		if quote := byte(0); a.start < len(text) {
			quote = text[a.start]
			// A quoted value may go on over lines.
			if end := closing(text, a.start); (quote == '"' || quote == '\'' || quote == '`') && end > 0 {
				a.end = end
				list = append(list, a)
				i = lineEnd(text, end)
				continue
			}
		}
		a.end = a.start + scalarLength(text[a.start:next], false)
		if a.start < len(text) && bytes.IndexByte([]byte("\"'`"), text[a.start]) >= 0 {
			a.end = a.start + len(bytes.TrimRight(text[a.start:next], " \t\r\n"))
		}
		list = append(list, a)
		i = next
	}
	return list
}

// closing is the place behind the quote that ends the value at start, or 0.
func closing(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[start] == '"':
			i++
		case text[i] == text[start]:
			return i + 1
		}
	}
	return 0
}

func (dotenvLanguage) decode(text []byte) (any, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, &SyntaxError{Format: Dotenv}
	}
	values := map[string]any{}
	for _, a := range assignments(text) {
		values[a.name] = dotenvValue(string(text[a.start:a.end]))
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values, nil
}

func dotenvValue(raw string) string {
	if len(raw) < 2 || raw[0] != raw[len(raw)-1] || !strings.ContainsRune("\"'`", rune(raw[0])) {
		return raw
	}
	return raw[1 : len(raw)-1]
}

func (dotenvLanguage) replace(text []byte, p Path, value any) ([]byte, error) {
	rendered, err := dotenvText(value)
	if err != nil {
		return nil, err
	}
	from, to, err := dotenvLanguage{}.source(text, p)
	if err != nil {
		return nil, err
	}
	return join(text[:from], []byte(rendered), text[to:]), nil
}

func (dotenvLanguage) source(text []byte, p Path) (from, to int, err error) {
	all := assignments(text)
	for i := len(all) - 1; i >= 0; i-- { // the last one counts
		if a := all[i]; a.name == p[0].Name {
			return a.start, a.end, nil
		}
	}
	return 0, 0, ErrUnsafe
}

func (dotenvLanguage) insert(text []byte, parent Path, step Step, value any) ([]byte, error) {
	rendered, err := dotenvText(value)
	if err != nil || len(parent) > 0 {
		return nil, ErrUnsafe
	}
	nl := newline(text)
	line := step.Name + "=" + rendered + nl
	if len(text) > 0 && text[len(text)-1] != '\n' {
		line = nl + line
	}
	return join(text, []byte(line)), nil
}

func (dotenvLanguage) cut(text []byte, p Path) ([]byte, error) {
	for _, a := range assignments(text) {
		if a.name == p[0].Name {
			return join(text[:lineStart(text, a.start)], text[lineEnd(text, a.end):]), nil
		}
	}
	return nil, ErrUnsafe
}

// dotenvText quotes only when needed; what would need escapes is refused,
// since the readers differ on those.
func dotenvText(value any) (string, error) {
	if v, ok := value.(verbatim); ok {
		return v.text, nil
	}
	s, ok := value.(string)
	switch {
	case !ok || strings.ContainsAny(s, "'\r\n\x00"):
		return "", ErrUnsafe
	case s == "" || strings.ContainsAny(s, " \t#\"`\\$"):
		return "'" + s + "'", nil
	}
	return s, nil
}
