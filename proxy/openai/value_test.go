package openai

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// generic rebuilds what encoding/json makes of a document, through value only.
func generic(v value) any {
	switch v.kind() {
	case "an object":
		out := map[string]any{}
		for member := range v.members() {
			out[member.key] = generic(member)
		}
		return out
	case "an array":
		out := []any{}
		for element := range v.elements() {
			out = append(out, generic(element))
		}
		return out
	case "a string":
		return text(v.raw)
	}
	var out any
	if err := json.Unmarshal(v.raw, &out); err != nil {
		panic(err)
	}
	return out
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , "x" , {"b":null} ] , "a":true}`, `"\\\"\u00e9\ud800"`, `-1.5e3`, `null`,
		"[\"\xff\",\"a\\\\\"]", `{"":{"":[[[]]]}}`, `["]","}","\"]"]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want any
		if json.Unmarshal(body, &want) != nil {
			return
		}
		before := bytes.Clone(body)
		if got := generic(document(body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q read as %#v, want %#v", body, got, want)
		}
		if !bytes.Equal(body, before) {
			t.Errorf("reading changed %q", before)
		}
	})
}

func TestValuePath(t *testing.T) {
	v := document([]byte(`{"messages":[{},{"content":[{"text":1}]}]}`))
	for _, step := range []any{"messages", 1, "content", 0, "text"} {
		var found value
		if name, ok := step.(string); ok {
			for member := range v.members() {
				if member.key == name {
					found = member
				}
			}
		} else {
			for element := range v.elements() {
				if element.index == step.(int) {
					found = element
				}
			}
		}
		v = found
	}
	if got := v.path(); got != "messages[1].content[0].text" {
		t.Errorf("path = %s", got)
	}
	if got := v.field(); got != "messages[].content[].text" {
		t.Errorf("field = %s", got)
	}
}
