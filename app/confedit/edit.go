package confedit

import (
	"bytes"
	"fmt"
)

// Larger files, and deeper ones, are nobody's settings; the limits keep the
// parsers, which call themselves, within their stack.
const (
	maxBytes = 4 << 20
	maxDepth = 5000
)

// language is what one format needs to know. Data has no byte-order mark. A
// path given to it leads to what it says; paths never end in a Map that exists.
type language interface {
	// decode returns the document as maps, slices and scalars; nil when empty.
	decode(data []byte) (any, error)
	// replace puts value in the place of the value at p.
	replace(data []byte, p Path, value any) ([]byte, error)
	// insert adds the child step to the map or list at parent, which is there
	// (an empty document counts as whatever is needed).
	insert(data []byte, parent Path, step Step, value any) ([]byte, error)
	// source is where the value at p stands.
	source(text []byte, p Path) (from, to int, err error)
	// cut removes the child at p.
	cut(data []byte, p Path) ([]byte, error)
}

func (f Format) language() language {
	switch f {
	case JSON:
		return jsonLanguage{}
	case TOML:
		return tomlLanguage{}
	case YAML:
		return yamlLanguage{}
	default:
		return dotenvLanguage{}
	}
}

// utf8BOM is what some editors on Windows put in front of a file.
var utf8BOM = []byte("\xef\xbb\xbf")

func splitBOM(data []byte) (bom, text []byte) {
	if bytes.HasPrefix(data, utf8BOM) {
		return data[:len(utf8BOM):len(utf8BOM)], data[len(utf8BOM):]
	}
	return nil, data
}

// Decode returns what the file says, as map[string]any, []any and scalars for
// Get and Equal. An empty file is nil.
func Decode(f Format, data []byte) (any, error) {
	_, text := splitBOM(data)
	return decode(f, text)
}

func decode(f Format, text []byte) (any, error) {
	if len(text) > maxBytes || tooDeep(text) {
		return nil, fmt.Errorf("the file is larger than anything that is edited here")
	}
	tree, err := f.language().decode(text)
	if err != nil {
		return nil, err
	}
	return normal(tree), nil
}

// tooDeep counts brackets without looking at strings: good enough for a limit
// that no settings file comes near.
func tooDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// Set returns data with the value at p. Members of maps that are there already
// are merged: what the file has besides stays. Nothing to change returns data
// itself.
func Set(f Format, data []byte, p Path, value any) ([]byte, error) {
	value = writable(value)
	bom, text := splitBOM(data)
	tree, err := decode(f, text)
	if err != nil {
		return nil, err
	}
	puts := diff(tree, p, value, nil)
	if len(puts) == 0 {
		return data, nil
	}
	lang := f.language()
	for _, put := range puts {
		parent, step, child, exists, err := place(tree, put)
		if err != nil {
			return nil, err
		}
		if exists {
			text, err = lang.replace(text, parent.Then(step), child)
		} else {
			text, err = lang.insert(text, parent, step, child)
		}
		if err != nil {
			return nil, err
		}
		if tree, err = with(tree, put.path, normal(plain(put.value))); err != nil {
			return nil, err
		}
	}
	return verified(f, bom, text, tree)
}

// Source returns the text of the value at p, for Restore; false if it cannot be
// told apart from what is around it.
func Source(f Format, data []byte, p Path) (string, bool) {
	_, text := splitBOM(data)
	tree, err := decode(f, text)
	if err != nil {
		return "", false
	}
	if _, ok := Get(tree, p); !ok || len(p) == 0 {
		return "", false
	}
	from, to, err := f.language().source(text, p)
	if err != nil {
		return "", false
	}
	return string(text[from:to]), true
}

// Restore sets the value at p, which is there, to one that was there before, in
// its own spelling: the text that Source returned.
func Restore(f Format, data []byte, p Path, value any, source string) ([]byte, error) {
	bom, text := splitBOM(data)
	tree, err := decode(f, text)
	if err != nil {
		return nil, err
	}
	if text, err = f.language().replace(text, p, verbatim{source}); err != nil {
		return nil, err
	}
	if tree, err = with(tree, p, normal(plain(value))); err != nil {
		return nil, err
	}
	return verified(f, bom, text, tree)
}

// Remove returns data without what is at p, and data itself if nothing is.
func Remove(f Format, data []byte, p Path) ([]byte, error) {
	bom, text := splitBOM(data)
	tree, err := decode(f, text)
	if err != nil {
		return nil, err
	}
	if _, ok := Get(tree, p); !ok || len(p) == 0 {
		return data, nil
	}
	text, err = f.language().cut(text, p)
	if err != nil {
		return nil, err
	}
	want := without(tree, p)
	if edited, err := verified(f, bom, text, want); err == nil {
		return edited, nil
	}
	// A table that was only implied by the one within it goes with it.
	for n := len(p) - 1; n > 0; n-- {
		if left, ok := Get(want, p[:n]); !ok || !Equal(left, Map{}) {
			break
		}
		want = without(want, p[:n])
	}
	return verified(f, bom, text, want)
}

// verified is the net under every splice.
func verified(f Format, bom, text []byte, want any) ([]byte, error) {
	got, err := decode(f, text)
	if got == nil { // a document that has lost its last entry
		got = map[string]any{}
	}
	if err != nil || !Equal(got, want) {
		return nil, ErrUnsafe
	}
	return join(bom, text), nil
}

// put is one change that is left of a Set after what is there already.
type put struct {
	path  Path
	value any
}

func diff(tree any, p Path, value any, puts []put) []put {
	have, ok := Get(tree, p)
	if ok && Equal(have, value) {
		return puts
	}
	switch v := value.(type) {
	case Map:
		if _, isMap := have.(map[string]any); isMap {
			for _, member := range v {
				puts = diff(tree, p.Then(Step{Name: member.Name}), member.Value, puts)
			}
			return puts
		}
	case Keyed:
		if _, isList := have.([]any); isList {
			for _, item := range v.Items {
				is, _ := item.Get(v.By).(string)
				puts = diff(tree, p.Then(Item(v.By, is)), item, puts)
			}
			return puts
		}
	}
	return append(puts, put{p, value})
}

// place finds what of the path is there: the deepest map or list, the child to
// add to it and the value with the rest of the path wrapped around it.
func place(tree any, p put) (parent Path, step Step, value any, exists bool, err error) {
	if len(p.path) == 0 {
		return nil, Step{}, nil, false, ErrUnsafe
	}
	n := 0
	for n < len(p.path)-1 {
		if have, ok := Get(tree, p.path[:n+1]); !ok || have == nil {
			break
		}
		n++
	}
	value = p.value
	for i := len(p.path) - 1; i > n; i-- {
		if p.path[i].Key == "" {
			value = Map{{p.path[i].Name, value}}
			continue
		}
		item, ok := value.(Map)
		if !ok || item.Get(p.path[i].Key) != p.path[i].Is {
			return nil, Step{}, nil, false, ErrUnsafe
		}
		value = List{item}
	}
	have, _ := Get(tree, p.path[:n])
	switch have.(type) {
	case nil:
	case map[string]any:
		if p.path[n].Key != "" {
			return nil, Step{}, nil, false, ErrUnsafe
		}
	case []any:
		if p.path[n].Key == "" {
			return nil, Step{}, nil, false, ErrUnsafe
		}
	default:
		return nil, Step{}, nil, false, ErrUnsafe
	}
	_, exists = Get(tree, p.path[:n+1])
	return p.path[:n:n], p.path[n], value, exists, nil
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// newline returns the line end that the text uses.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
