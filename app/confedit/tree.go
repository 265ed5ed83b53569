package confedit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// number is a number in one spelling, whatever the format called it. It is no
// string type: %#v writes those like strings.
type number struct{ text string }

// MarshalJSON keeps a value that was read a number where it is stored.
func (n number) MarshalJSON() ([]byte, error) {
	if !json.Valid([]byte(n.text)) { // inf and nan of other formats
		return json.Marshal(n.text)
	}
	return []byte(n.text), nil
}

// Get returns the value at p of a decoded document.
func Get(tree any, p Path) (any, bool) {
	for _, step := range p {
		var ok bool
		if step.Key != "" {
			list, _ := tree.([]any)
			tree, ok = item(list, step)
		} else {
			m, _ := tree.(map[string]any)
			tree, ok = m[step.Name]
		}
		if !ok {
			return nil, false
		}
	}
	return tree, true
}

func item(list []any, step Step) (any, bool) {
	if i := itemIndex(list, step); i >= 0 {
		return list[i], true
	}
	return nil, false
}

func itemIndex(list []any, step Step) int {
	for i, element := range list {
		if m, ok := element.(map[string]any); ok && m[step.Key] == any(step.Is) {
			return i
		}
	}
	return -1
}

// Equal reports whether two values say the same: values of a decoded document
// or values to be written.
func Equal(a, b any) bool {
	return Spell(a) == Spell(b)
}

// Spell writes a value in full, the same for values that say the same. %#v
// sorts maps, and unlike DeepEqual it lets nan be nan.
func Spell(v any) string {
	v = normal(plain(v))
	if m, ok := v.(map[string]any); ok && len(m) == 0 {
		v = map[string]any{}
	}
	return fmt.Sprintf("%#v", v)
}

// plain turns what is to be written into what a decoder would return.
func plain(v any) any {
	switch v := v.(type) {
	case Map:
		m := map[string]any{}
		for _, member := range v {
			m[member.Name] = plain(member.Value)
		}
		return m
	case List:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = plain(element)
		}
		return list
	case Keyed:
		list := make([]any, len(v.Items))
		for i, element := range v.Items {
			list[i] = plain(element)
		}
		return list
	case []string:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = element
		}
		return list
	}
	return v
}

// writable is the way back: what was read from a file can be written again.
func writable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := Map{}
		for _, name := range sortedKeys(v) {
			m = append(m, Member{name, writable(v[name])})
		}
		return m
	case []any:
		list := make(List, len(v))
		for i, element := range v {
			list[i] = writable(element)
		}
		return list
	}
	return v
}

// normal gives numbers one type and empty containers one form.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[name] = normal(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = normal(element)
		}
		return list
	case int:
		return number{strconv.Itoa(v)}
	case int64:
		return number{strconv.FormatInt(v, 10)}
	case uint64:
		return number{strconv.FormatUint(v, 10)}
	case float64:
		return float(v)
	case json.Number:
		if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return number{string(v)}
		}
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return float(f)
		}
		return number{string(v)}
	}
	return v
}

// float drops the fraction that is none: to JSON, 3 and 3.0 are one number.
func float(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 && !(f == 0 && math.Signbit(f)) {
		return number{strconv.FormatInt(int64(f), 10)}
	}
	return number{strconv.FormatFloat(f, 'f', -1, 64)}
}

// with returns the tree with value at p; maps and lists on the way are made.
func with(tree any, p Path, value any) (any, error) {
	if len(p) == 0 {
		return value, nil
	}
	step := p[0]
	if step.Key == "" {
		old, ok := tree.(map[string]any)
		if tree != nil && !ok {
			return nil, ErrUnsafe
		}
		child, err := with(old[step.Name], p[1:], value)
		m := make(map[string]any, len(old)+1)
		for name, v := range old {
			m[name] = v
		}
		m[step.Name] = child
		return m, err
	}
	old, ok := tree.([]any)
	if tree != nil && !ok {
		return nil, ErrUnsafe
	}
	list := append([]any(nil), old...)
	i := itemIndex(old, step)
	if i < 0 {
		child, err := with(nil, p[1:], value)
		return append(list, child), err
	}
	var err error
	list[i], err = with(old[i], p[1:], value)
	return list, err
}

// without returns the tree without what is at p, which is there.
func without(tree any, p Path) any {
	step := p[0]
	if step.Key == "" {
		old := tree.(map[string]any)
		m := make(map[string]any, len(old))
		for name, v := range old {
			m[name] = v
		}
		if len(p) == 1 {
			delete(m, step.Name)
		} else {
			m[step.Name] = without(old[step.Name], p[1:])
		}
		return m
	}
	old := tree.([]any)
	i := itemIndex(old, step)
	list := append([]any{}, old[:i]...)
	if len(p) > 1 {
		list = append(list, without(old[i], p[1:]))
	}
	return append(list, old[i+1:]...)
}
