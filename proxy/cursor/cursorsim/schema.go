package cursorsim

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// hint gives the value that the prompt has for a property, and how sure it is;
// 0 is "none".
type hint func(name string, p property) (value any, score int)

// Limits on what a schema can make fill do: schemas come from anybody, and
// references can make a small one describe an endless value.
const (
	maxDepth = 8
	maxNodes = 200
)

// fill returns an object that schema allows, as far as simple means go: what
// each hint knows at its best property, and the least for everything else that
// is required.
func fill(schema json.RawMessage, hints ...hint) json.RawMessage {
	raw, _ := fillAll(schema, hints...)
	return raw
}

// fillAll also tells how many of the hints, from the first on, found a place of
// their own.
func fillAll(schema json.RawMessage, hints ...hint) (raw json.RawMessage, placed int) {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		root = map[string]any{}
	}
	f := filler{root: root, hints: hints, placed: make([]bool, len(hints)), nodes: maxNodes}
	object, ok := f.object(f.property(root, true), 0).(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for placed < len(hints) && f.placed[placed] {
		placed++
	}
	raw, err := json.Marshal(object)
	if err != nil { // what came out of JSON goes back into it
		return json.RawMessage(`{}`), 0
	}
	return raw, placed
}

type filler struct {
	root   map[string]any
	hints  []hint
	placed []bool // by hint: whether a property holds what it gives
	nodes  int    // how many more values may be made
}

// property is one schema with its references and alternatives resolved.
type property struct {
	schema   map[string]any
	types    []string
	required bool
	element  map[string]any // of an array, resolved
}

func (p property) is(kind string) bool { return slices.Contains(p.types, kind) }

// open tells that the schema names no type at all.
func (p property) open() bool { return len(p.types) == 0 }

func (p property) items() property { return property{schema: p.element, types: typesOf(p.element)} }

// limited tells that only certain values are allowed.
func (p property) limited() bool {
	for _, key := range []string{"enum", "const", "pattern", "format"} {
		if _, ok := p.schema[key]; ok {
			return true
		}
	}
	return false
}

func (f *filler) property(schema map[string]any, required bool) property {
	schema = f.resolve(schema)
	p := property{schema: schema, types: typesOf(schema), required: required}
	if items, ok := schema["items"].(map[string]any); ok {
		p.element = f.resolve(items)
	}
	return p
}

// resolve follows local references and takes the first alternative that is
// not null.
func (f *filler) resolve(schema map[string]any) map[string]any {
	for range maxDepth {
		if ref, ok := schema["$ref"].(string); ok {
			schema = f.lookup(ref)
			continue
		}
		next := firstAlternative(schema)
		if next == nil {
			return schema
		}
		schema = next
	}
	return map[string]any{}
}

func firstAlternative(schema map[string]any) map[string]any {
	if _, ok := schema["properties"]; ok {
		return nil // the alternatives only refine what stands here
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[key].([]any)
		for _, entry := range list {
			if s, ok := entry.(map[string]any); ok && s["type"] != "null" {
				return s
			}
		}
	}
	return nil
}

func (f *filler) lookup(ref string) map[string]any {
	node := f.root
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return map[string]any{}
	}
	for _, name := range strings.Split(rest, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if node, ok = node[name].(map[string]any); !ok {
			return map[string]any{}
		}
	}
	return node
}

func typesOf(schema map[string]any) []string {
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, entry := range t {
			if s, ok := entry.(string); ok {
				list = append(list, s)
			}
		}
		return list
	}
	if _, ok := schema["properties"]; ok {
		return []string{"object"}
	}
	return nil
}

// object fills the required properties and those that the hints like best.
func (f *filler) object(p property, depth int) any {
	object := map[string]any{}
	properties, _ := p.schema["properties"].(map[string]any)
	required, _ := p.schema["required"].([]any)
	hinted := f.hinted(properties, required)
	for _, name := range sortedKeys(properties) {
		schema, _ := properties[name].(map[string]any)
		needed := slices.Contains(required, any(name))
		if i, ok := hinted[name]; ok {
			object[name], _ = f.hints[i](name, f.property(schema, needed))
			f.placed[i] = true
			continue
		}
		if !needed || f.nodes <= 0 || depth > maxDepth {
			continue
		}
		f.nodes--
		object[name] = f.value(name, f.property(schema, true), depth+1)
	}
	return object
}

// hinted returns the hints by the property that each is surest of. A property
// goes to the first hint that wants it.
func (f *filler) hinted(properties map[string]any, required []any) map[string]int {
	taken := map[string]int{}
	for i, h := range f.hints {
		best, top := "", 0
		for _, name := range sortedKeys(properties) {
			if _, gone := taken[name]; gone {
				continue
			}
			schema, _ := properties[name].(map[string]any)
			if _, score := h(name, f.property(schema, slices.Contains(required, any(name)))); score > top {
				best, top = name, score
			}
		}
		if top > 0 {
			taken[best] = i
		}
	}
	return taken
}

// value returns the least that a required property allows.
func (f *filler) value(name string, p property, depth int) any {
	if v, ok := fixedValue(p.schema); ok {
		return v
	}
	for _, h := range f.hints {
		if v, score := h(name, p); score > 0 {
			return v
		}
	}
	switch {
	case p.is("null"):
		return nil
	case p.is("object"):
		return f.object(p, depth)
	case p.is("array"):
		return f.array(name, p, depth)
	case p.is("integer"), p.is("number"):
		return leastNumber(p.schema)
	case p.is("boolean"):
		return false
	}
	return "simulated"
}

func fixedValue(schema map[string]any) (any, bool) {
	if v, ok := schema["const"]; ok {
		return v, true
	}
	if v, ok := schema["default"]; ok {
		return v, true
	}
	if list, ok := schema["enum"].([]any); ok && len(list) > 0 {
		return list[0], true
	}
	return nil, false
}

// array makes as many elements as the schema insists on, and one for objects,
// since a tool that takes a list of objects does nothing for an empty one.
func (f *filler) array(name string, p property, depth int) any {
	least, _ := p.schema["minItems"].(float64)
	if p.items().is("object") {
		least = max(least, 1)
	}
	list := []any{}
	for float64(len(list)) < least && f.nodes > 0 && depth <= maxDepth {
		f.nodes--
		list = append(list, f.value(name, f.property(p.element, true), depth+1))
	}
	return list
}

func leastNumber(schema map[string]any) any {
	least, ok := schema["minimum"].(float64)
	if !ok {
		if least, ok = schema["exclusiveMinimum"].(float64); ok {
			least = math.Floor(least) + 1
		}
	}
	return max(least, 0)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
