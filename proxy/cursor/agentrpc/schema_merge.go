package agentrpc

import (
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// both joins two schemas that hold at the same time. Where they contradict each
// other the first wins; it is changed and returned.
func both(a, b map[string]any) map[string]any {
	for _, key := range slices.Sorted(maps.Keys(b)) {
		old, twice := a[key]
		if !twice {
			a[key] = b[key]
			continue
		}
		switch key {
		case "properties", "patternProperties":
			x, _ := old.(map[string]any)
			y, _ := b[key].(map[string]any)
			a[key] = joinMembers(x, y, both)
		case "items":
			x, _ := old.(map[string]any)
			y, _ := b[key].(map[string]any)
			a[key] = both(x, y)
		case "required":
			names := stringsOf(old)
			for _, name := range stringsOf(b[key]) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			a[key] = anyList(names)
		}
	}
	return a
}

// oneOf joins two schemas of which one holds.
func oneOf(a, b map[string]any) map[string]any {
	out := map[string]any{}
	if kinds := append(typesOf(a["type"]), typesOf(b["type"])...); a["type"] != nil && b["type"] != nil {
		out["type"] = typeValue(unique(kinds))
	}
	if values, ok := joinEnums(a, b); ok {
		out["enum"] = values
	}
	x, _ := a["properties"].(map[string]any)
	y, _ := b["properties"].(map[string]any)
	if x != nil || y != nil {
		out["properties"] = joinMembers(x, y, oneOf)
	}
	if names := commonNames(a["required"], b["required"]); len(names) > 0 {
		out["required"] = anyList(names)
	}
	if x, y := a["items"], b["items"]; x != nil || y != nil {
		out["items"] = joinItems(x, y)
	}
	for key, value := range a {
		switch key {
		case "type", "enum", "const", "properties", "required", "items":
		case "description":
			out[key] = joinTexts(value, b[key])
		default:
			if reflect.DeepEqual(value, b[key]) {
				out[key] = value
			}
		}
	}
	if out["description"] == nil && b["description"] != nil {
		out["description"] = b["description"]
	}
	return out
}

func joinMembers(a, b map[string]any, join func(a, b map[string]any) map[string]any) map[string]any {
	out := maps.Clone(b)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range a {
		x, _ := value.(map[string]any)
		if y, twice := b[name].(map[string]any); twice && x != nil {
			out[name] = join(maps.Clone(x), y)
			continue
		}
		out[name] = value
	}
	return out
}

func joinItems(a, b any) any {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return oneOf(x, y)
}

// joinEnums lists the values of both, if both have a list. An alternative that
// is nothing but null adds that value.
func joinEnums(a, b map[string]any) ([]any, bool) {
	x, y := enumOf(a), enumOf(b)
	if x == nil || y == nil {
		return nil, false
	}
	out := slices.Clone(x)
	for _, value := range y {
		if !slices.ContainsFunc(out, func(v any) bool { return reflect.DeepEqual(v, value) }) {
			out = append(out, value)
		}
	}
	return out, true
}

func enumOf(s map[string]any) []any {
	if list := listOf(s["enum"]); len(list) > 0 {
		return list
	}
	if value, ok := s["const"]; ok {
		return []any{value}
	}
	if s["type"] == "null" {
		return []any{nil}
	}
	return nil
}

func commonNames(a, b any) []string {
	other := stringsOf(b)
	return slices.DeleteFunc(stringsOf(a), func(name string) bool { return !slices.Contains(other, name) })
}

func joinTexts(a, b any) any {
	x, _ := a.(string)
	y, _ := b.(string)
	switch {
	case y == "" || x == y:
		return a
	case x == "":
		return b
	}
	return x + " / " + y
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// stringsOf returns the different strings of a list.
func stringsOf(v any) []string {
	var out []string
	for _, entry := range listOf(v) {
		if s, ok := entry.(string); ok {
			out = append(out, s)
		}
	}
	return unique(out)
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// typesOf reads the keyword "type", which is a name or a list of names.
func typesOf(v any) []string {
	if s, ok := v.(string); ok && s != "" {
		return []string{s}
	}
	return stringsOf(v)
}

func typeValue(kinds []string) any {
	if len(kinds) == 1 {
		return kinds[0]
	}
	return anyList(kinds)
}

func unescapePointer(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

func smallNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil
}

// jsonDepth counts the levels of a value, at most a few more than anybody asks
// about.
func jsonDepth(v any) int { return boundedDepth(v, maxSchemaDepth+1) }

func boundedDepth(v any, left int) int {
	deepest := 0
	if left <= 0 {
		return 1
	}
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, boundedDepth(inner, left-1))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, boundedDepth(inner, left-1))
		}
	default:
		return 0
	}
	return deepest + 1
}

// protoValue turns decoded JSON into the service's form of it. Numbers are
// doubles there; what is beyond them becomes the nearest.
func protoValue(v any) *structpb.Value {
	switch v := v.(type) {
	case map[string]any:
		fields := make(map[string]*structpb.Value, len(v))
		for key, inner := range v {
			fields[valid(key)] = protoValue(inner)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	case []any:
		list := make([]*structpb.Value, len(v))
		for i, inner := range v {
			list[i] = protoValue(inner)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: list})
	case string:
		return structpb.NewStringValue(valid(v))
	case bool:
		return structpb.NewBoolValue(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil && math.IsInf(f, 0) {
			f = math.Copysign(math.MaxFloat64, f)
		}
		return structpb.NewNumberValue(f)
	}
	return structpb.NewNullValue()
}

// valid makes a text fit for a protobuf string: one wrong byte makes the whole
// message undecodable.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
