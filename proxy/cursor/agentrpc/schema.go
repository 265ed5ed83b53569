package agentrpc

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Limits on a tool's schema. A small one can describe an endless one through
// references, and the service decodes only so many levels: each level of JSON
// is three of protobuf, of which common decoders take a hundred.
const (
	maxSchemaDepth = 28
	maxSchemaNodes = 20000
	// References that stand for references; nobody chains more than a few.
	maxOpenReferences = 40
)

// cleanSchema returns a tool's schema in the form that the service takes: an
// object schema without references, alternatives or keywords about the schema
// itself. One schema that it does not like makes the service refuse the whole
// request, with no reason given. What cannot be said in this form is left out,
// which only allows more. Any input gives a schema.
func cleanSchema(schema json.RawMessage) map[string]any {
	root := decodeSchema(schema)
	c := schemaCleaner{root: root, nodes: maxSchemaNodes}
	top := c.schema(root, 0)
	top["type"] = "object"
	properties, ok := top["properties"].(map[string]any)
	if !ok {
		properties = map[string]any{}
		top["properties"] = properties
	}
	for _, name := range stringsOf(top["required"]) {
		if properties[name] == nil {
			properties[name] = map[string]any{}
		}
	}
	return top
}

// decodeSchema returns an empty object for what is none.
func decodeSchema(schema json.RawMessage) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if dec.Decode(&root) != nil || root == nil {
		return map[string]any{}
	}
	return root
}

type schemaCleaner struct {
	root  map[string]any
	open  []string // references that are being resolved
	nodes int      // how many more schemas may be written
}

// schema cleans one schema; depth counts the levels of JSON around it.
func (c *schemaCleaner) schema(node any, depth int) map[string]any {
	s, ok := node.(map[string]any)
	c.nodes--
	if !ok || depth >= maxSchemaDepth || c.nodes < 0 {
		return map[string]any{} // true, false and nonsense allow everything
	}
	out := c.keywords(s, depth)
	if ref, ok := s["$ref"].(string); ok {
		out = both(out, c.reference(ref, depth))
	}
	for _, part := range listOf(s["allOf"]) {
		out = both(out, c.schema(part, depth))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := listOf(s[key]); len(list) > 0 {
			out = both(out, c.either(list, depth))
		}
	}
	if out["properties"] != nil && out["type"] == nil {
		out["type"] = "object"
	}
	return out
}

// keywords copies what stands in the schema itself.
func (c *schemaCleaner) keywords(s map[string]any, depth int) map[string]any {
	out := make(map[string]any, len(s))
	for _, key := range slices.Sorted(maps.Keys(s)) { // the order decides what is left out
		value := s[key]
		switch key {
		case "properties", "patternProperties":
			out[key] = c.members(value, depth+1)
		case "items", "additionalItems", "prefixItems", "contains":
			c.items(out, key, value, depth)
		case "additionalProperties":
			if allowed, ok := value.(bool); ok {
				out[key] = allowed
			} else {
				out[key] = c.schema(value, depth+1)
			}
		case "required":
			if names := stringsOf(value); len(names) > 0 {
				out[key] = anyList(names)
			}
		case "type":
			if kinds := typesOf(value); len(kinds) > 0 {
				out[key] = typeValue(kinds)
			}
		default:
			if keepsMeaning(key) && jsonDepth(value) <= maxSchemaDepth-depth {
				out[key] = value
			}
		}
	}
	return out
}

// keepsMeaning tells which other keywords may stay. What begins with "$" is
// about the schema itself; the rest of the list are alternatives by other names.
func keepsMeaning(key string) bool {
	switch key {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "definitions", "dependencies", "dependentSchemas",
		"dependentRequired", "discriminator", "unevaluatedProperties", "unevaluatedItems", "propertyNames":
		return false
	}
	return !strings.HasPrefix(key, "$")
}

func (c *schemaCleaner) members(value any, depth int) map[string]any {
	given, _ := value.(map[string]any)
	out := make(map[string]any, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		out[name] = c.schema(given[name], depth+1)
	}
	return out
}

// items reads what an array holds. A list of schemas, one per place, becomes
// one schema for all places.
func (c *schemaCleaner) items(out map[string]any, key string, value any, depth int) {
	list, tuple := value.([]any)
	switch {
	case tuple && len(list) > 0:
		out["items"] = c.either(list, depth+1)
	case key == "items" && !tuple:
		out["items"] = c.schema(value, depth+1)
	}
}

// either joins alternatives to one schema that allows each of them.
func (c *schemaCleaner) either(list []any, depth int) map[string]any {
	var joined map[string]any
	for _, part := range list {
		next := c.schema(part, depth)
		if joined == nil {
			joined = next
			continue
		}
		joined = oneOf(joined, next)
	}
	return joined
}

// reference resolves a reference into the same document. One that leads back
// into itself ends at its second turn, where only the kind of value is said.
func (c *schemaCleaner) reference(ref string, depth int) map[string]any {
	target, ok := c.lookup(ref)
	if !ok || len(c.open) >= maxOpenReferences {
		return map[string]any{"additionalProperties": true} // whatever stands there
	}
	if slices.Contains(c.open, ref) {
		out := map[string]any{}
		if s, ok := target.(map[string]any); ok {
			if kinds := typesOf(s["type"]); len(kinds) > 0 {
				out["type"] = typeValue(kinds)
			}
		}
		return out
	}
	c.open = append(c.open, ref)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	return c.schema(target, depth)
}

// lookup follows a JSON pointer in a fragment: "#" or "#/a/b".
func (c *schemaCleaner) lookup(ref string) (any, bool) {
	if ref == "#" {
		return c.root, true
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	var node any = c.root
	for _, name := range strings.Split(path, "/") {
		name = unescapePointer(name)
		switch n := node.(type) {
		case map[string]any:
			if node, ok = n[name]; !ok {
				return nil, false
			}
		case []any:
			i, ok := smallNumber(name)
			if !ok || i >= len(n) {
				return nil, false
			}
			node = n[i]
		default:
			return nil, false
		}
	}
	return node, true
}
