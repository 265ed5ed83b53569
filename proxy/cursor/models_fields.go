package cursor

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields is a JSON object of an answer, read so that no change of Cursor's
// makes a list unreadable: names in camelCase or snake_case, numbers and flags
// also as texts, and a value of another kind like one that is missing. Cursor
// leaves out values that are 0, false or empty.
type fields map[string]json.RawMessage

// parseFields returns nil if data is not one JSON object.
func parseFields(data []byte) fields {
	var raw map[string]json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	f := make(fields, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		key := fieldKey(name)
		// Of two spellings the one without underscores counts, always.
		if f.has(key) && strings.Contains(name, "_") || bytes.Equal(raw[name], []byte("null")) {
			continue
		}
		f[key] = raw[name]
	}
	return f
}

// fieldKey is one spelling for all of a name.
func fieldKey(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (f fields) has(name string) bool {
	_, ok := f[fieldKey(name)]
	return ok
}

func (f fields) text(name string) string {
	var s string
	_ = json.Unmarshal(f[fieldKey(name)], &s)
	return s
}

// flag returns nil if there is no such flag, which is not always the same as
// false.
func (f fields) flag(name string) *bool {
	raw := f[fieldKey(name)]
	var b bool
	if json.Unmarshal(raw, &b) == nil && len(raw) > 0 {
		return &b
	}
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "1":
		return new(true)
	case "false", "0":
		return new(false)
	}
	return nil
}

func (f fields) isTrue(name string) bool {
	b := f.flag(name)
	return b != nil && *b
}

// number returns a count, 0 if there is none.
func (f fields) number(name string) int {
	n, err := strconv.ParseFloat(strings.Trim(string(f[fieldKey(name)]), `"`), 64)
	if err != nil || !(n >= 0 && n <= math.MaxInt32) {
		return 0
	}
	return int(n)
}

func (f fields) object(name string) fields { return parseFields(f[fieldKey(name)]) }

// objects returns the objects of a list; other elements are left out.
func (f fields) objects(name string) []fields {
	var list []json.RawMessage
	_ = json.Unmarshal(f[fieldKey(name)], &list)
	var objects []fields
	for _, raw := range list {
		if o := parseFields(raw); o != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// ids returns the model ids of a list.
func (f fields) ids(name string) []string {
	var list []json.RawMessage
	_ = json.Unmarshal(f[fieldKey(name)], &list)
	var ids []string
	for _, raw := range list {
		var s string
		if json.Unmarshal(raw, &s) == nil && validID(s) && !slices.Contains(ids, s) {
			ids = append(ids, s)
		}
	}
	return ids
}

// validID says whether s can be a model's or parameter's id. Ids travel in
// URLs, logs and menus.
func validID(s string) bool {
	return s != "" && len(s) <= 200 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
