package confedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
)

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// quoted is a JSON string, which TOML and YAML read alike.
func quoted(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // cannot be: any string can be encoded
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// scalar spells a value that is the same in JSON, TOML and YAML.
func scalar(v any) (string, bool) {
	switch v := normal(v).(type) {
	case string:
		return quoted(v), true
	case bool:
		return fmt.Sprint(v), true
	case number:
		return v.text, true
	case verbatim:
		return v.text, true
	}
	return "", false
}

// verbatim is a value as it stood in the file.
type verbatim struct{ text string }

// elements returns the elements of a list to write.
func elements(v any) ([]any, bool) {
	switch v := v.(type) {
	case List:
		return v, true
	case Keyed:
		list := make([]any, len(v.Items))
		for i, item := range v.Items {
			list[i] = item
		}
		return list, true
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list, true
	}
	return nil, false
}
