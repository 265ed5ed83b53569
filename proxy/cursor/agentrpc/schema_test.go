package agentrpc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"cursortray/proxy/chat"
)

func TestCleanSchema(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", ``, `{"properties":{},"type":"object"}`},
		{"null", `null`, `{"properties":{},"type":"object"}`},
		{"no object", `[1]`, `{"properties":{},"type":"object"}`},
		{"plain", `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`,
			`{"additionalProperties":false,"properties":{"a":{"minLength":1,"type":"string"}},"required":["a"],"type":"object"}`},
		{"$schema and the like", `{"$schema":"x","$id":"y","$comment":"z","properties":{"$schema":{"type":"string"}}}`,
			`{"properties":{"$schema":{"type":"string"}},"type":"object"}`},
		{"no type", `{"properties":{"a":{"properties":{"b":true}}}}`, `{"properties":{"a":{"properties":{"b":{}},"type":"object"}},"type":"object"}`},
		{"another type", `{"type":"string"}`, `{"properties":{},"type":"object"}`},
		{"required without a property", `{"required":["a",1,"a"]}`, `{"properties":{"a":{}},"required":["a"],"type":"object"}`},
		{"optional", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"}}}`,
			`{"properties":{"a":{"default":null,"title":"A","type":["string","null"]}},"type":"object"}`},
		{"choice of constants", `{"properties":{"a":{"oneOf":[{"const":"x","description":"X"},{"const":"y","description":"Y"},{"type":"null"}]}}}`,
			`{"properties":{"a":{"description":"X / Y","enum":["x","y",null]}},"type":"object"}`},
		{"choice of objects", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"]},{"properties":{"kind":{"const":"b"},"y":{"type":"number"}},"required":["kind"]}]}`,
			`{"properties":{"kind":{"enum":["a","b"]},"x":{"type":"string"},"y":{"type":"number"}},"required":["kind"],"type":"object"}`},
		{"all of", `{"properties":{"a":{"type":"string"}},"required":["a"],"allOf":[{"properties":{"b":{"type":"number"}},"required":["b"]},{"properties":{"a":{"minLength":2,"type":"integer"}}}]}`,
			`{"properties":{"a":{"minLength":2,"type":"string"},"b":{"type":"number"}},"required":["a","b"],"type":"object"}`},
		{"reference", `{"properties":{"a":{"$ref":"#/$defs/A~1x","description":"own"}},"$defs":{"A/x":{"type":"string","description":"other","maxLength":3}}}`,
			`{"properties":{"a":{"description":"own","maxLength":3,"type":"string"}},"type":"object"}`},
		{"reference in a reference", `{"$ref":"#/definitions/T","definitions":{"T":{"type":"object","properties":{"a":{"$ref":"#/definitions/S"}}},"S":{"type":"string"}}}`,
			`{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"reference into a list", `{"properties":{"a":{"$ref":"#/anyOf/1/properties/b"}},"anyOf":[{},{"properties":{"b":{"type":"boolean"}}}]}`,
			`{"properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}},"type":"object"}`},
		{"reference to itself", `{"properties":{"child":{"$ref":"#"},"name":{"type":"string"}},"type":"object"}`,
			`{"properties":{"child":{"properties":{"child":{"type":"object"},"name":{"type":"string"}},"type":"object"},"name":{"type":"string"}},"type":"object"}`},
		{"reference in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"properties":{},"type":"object"}`},
		{"reference elsewhere", `{"properties":{"a":{"$ref":"https://example.org/x.json"},"b":{"$ref":"#/nowhere"}}}`,
			`{"properties":{"a":{"additionalProperties":true},"b":{"additionalProperties":true}},"type":"object"}`},
		{"conditions", `{"if":{},"then":{"required":["a"]},"else":{},"not":{},"dependentRequired":{},"properties":{"if":{"type":"string"}}}`,
			`{"properties":{"if":{"type":"string"}},"type":"object"}`},
		{"lists", `{"properties":{"a":{"type":"array","items":{"oneOf":[{"type":"string"},{"type":"number"}]}},"b":{"items":[{"type":"string"},{"type":"number"}],"additionalItems":false},"c":{"prefixItems":[{"type":"boolean"}]}}}`,
			`{"properties":{"a":{"items":{"type":["string","number"]},"type":"array"},"b":{"items":{"type":["string","number"]}},"c":{"items":{"type":"boolean"}}},"type":"object"}`},
		{"more properties", `{"additionalProperties":{"anyOf":[{"type":"string"}]},"patternProperties":{"^x":{"$ref":"#/d"}},"d":{"type":"number"}}`,
			`{"additionalProperties":{"type":"string"},"d":{"type":"number"},"patternProperties":{"^x":{"type":"number"}},"properties":{},"type":"object"}`},
		{"values are no schemas", `{"properties":{"a":{"enum":[{"anyOf":[1]}],"default":{"$ref":"#/x"}}}}`,
			`{"properties":{"a":{"default":{"$ref":"#/x"},"enum":[{"anyOf":[1]}]}},"type":"object"}`},
		{"wrong kinds", `{"properties":[1],"required":"a","type":5,"anyOf":{},"allOf":["x",7]}`, `{"properties":{},"type":"object"}`},
	} {
		got, err := json.Marshal(cleanSchema(json.RawMessage(c.in)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestSchemaVector compares with bytes of an independent encoder.
func TestSchemaVector(t *testing.T) {
	const want = "2a5a0a2e0a0a70726f7065727469657312202a1e0a1c0a047465787412142a120a100a047479706512081a06737472696e670a160a087265717569726564120a32080a061a04746578740a100a047479706512081a066f626a656374"
	box, fail := newToolbox(asks(chat.Tool{Name: "echo", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}))
	if fail != nil {
		t.Fatal(fail)
	}
	if got := hex.EncodeToString(box.definitions[0].InputSchema); got != want {
		t.Errorf("got %s", got)
	}
}

func TestEndlessSchemasEnd(t *testing.T) {
	var wide strings.Builder
	wide.WriteString(`{"$ref":"#/$defs/n0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&wide, `"n%d":{"properties":{"a":{"$ref":"#/$defs/n%d"},"b":{"$ref":"#/$defs/n%d"},"c":{"anyOf":[{"$ref":"#/$defs/n%d"},{"$ref":"#"}]}}},`, i, i+1, i+1, i+1)
	}
	wide.WriteString(`"n40":{"type":"string"}}}`)
	deep := strings.Repeat(`{"properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000)
	nested := `{"properties":{"a":{"default":` + strings.Repeat(`[`, 3000) + strings.Repeat(`]`, 3000) + `}}}`
	alternatives := strings.Repeat(`{"anyOf":[`, 3000) + `{"type":"string"}` + strings.Repeat(`]}`, 3000)
	for _, schema := range []string{wide.String(), deep, nested, alternatives} {
		checkSchema(t, json.RawMessage(schema))
	}
}

// checkSchema holds a cleaned schema to what the service needs.
func checkSchema(t testing.TB, schema json.RawMessage) {
	t.Helper()
	box, fail := newToolbox(asks(chat.Tool{Name: "t", Schema: schema}))
	if fail != nil {
		t.Fatal(fail)
	}
	again, fail := newToolbox(asks(chat.Tool{Name: "t", Schema: schema}))
	if fail != nil || !bytes.Equal(box.definitions[0].InputSchema, again.definitions[0].InputSchema) {
		t.Error("other bytes for the same schema")
	}
	var value structpb.Value
	// Common decoders take a hundred levels; some of them are around a schema.
	if err := (proto.UnmarshalOptions{RecursionLimit: 95}).Unmarshal(box.definitions[0].InputSchema, &value); err != nil {
		t.Fatal(err)
	}
	top := value.GetStructValue().GetFields()
	if top["type"].GetStringValue() != "object" || top["properties"].GetStructValue() == nil {
		t.Errorf("top level %v", top)
	}
	noAlternatives(t, value.GetStructValue())
}

// noAlternatives looks where schemas stand, not at names of properties or at
// values.
func noAlternatives(t testing.TB, s *structpb.Struct) {
	for key, value := range s.GetFields() {
		switch key {
		case "properties", "patternProperties":
			for _, inner := range value.GetStructValue().GetFields() {
				noAlternatives(t, inner.GetStructValue())
			}
		case "items", "additionalProperties":
			noAlternatives(t, value.GetStructValue())
		case "anyOf", "oneOf", "allOf", "$ref", "$schema", "$defs", "definitions":
			t.Errorf("%s is still there", key)
		}
	}
}

func TestR9_SameToolsSameBytes(t *testing.T) {
	a := chat.Tool{Name: "a", Description: "A", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"number"}}}`)}
	same := chat.Tool{Name: "a", Description: "A", Schema: json.RawMessage(` {"properties":{"y":{"type":"number"},"x":{"type":"string"}}, "type":"object"}`)}
	b := chat.Tool{Name: "b"}
	first, second := asks(a, b), asks(b, same)
	first.System, second.System = "rule", "rule"
	second.Messages = append(second.Messages, answered("x"), said("y"))
	second.Choice.Mode = chat.ToolNone
	if one, two := contextBytes(t, first), contextBytes(t, second); !bytes.Equal(one, two) {
		t.Errorf("the bytes differ:\n%x\n%x", one, two)
	}
}

func contextBytes(t testing.TB, req *chat.Request) []byte {
	t.Helper()
	box, fail := newToolbox(req)
	if fail != nil {
		t.Fatal(fail)
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(requestContext(req, settings{}, box))
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestToolsThatCannotBeOffered(t *testing.T) {
	for _, names := range [][]string{{""}, {"a b"}, {"ü"}, {strings.Repeat("x", 65)}, {"a", "a"}} {
		var tools []chat.Tool
		for _, name := range names {
			tools = append(tools, chat.Tool{Name: name})
		}
		if _, err := newToolbox(asks(tools...)); err == nil || err.Kind != chat.Invalid || err.Param != "tools" {
			t.Errorf("%q: %v", names, err)
		}
	}
	box, err := newToolbox(asks(chat.Tool{Name: "mcp__a-b.c_D9", Description: "bad \xff text"}))
	if err != nil || !box.has("mcp__a-b.c_D9") || box.has("mcp") || !slices.Equal(box.all(), []string{"mcp__a-b.c_D9"}) || box.size() == 0 {
		t.Errorf("%v", err)
	}
}

func FuzzCleanSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}},"$defs":{"x":{"allOf":[{"$ref":"#"}]}}}`))
	f.Add([]byte(`{"oneOf":[{"items":[{"$ref":"#/oneOf/0"}]},{"enum":[1e999,-0,null]}],"required":["b"]}`))
	f.Add([]byte(`{"properties":{"\u0000":{"const":{}}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) { checkSchema(t, schema) })
}
