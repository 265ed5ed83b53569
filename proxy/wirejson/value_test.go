package wirejson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// generic rebuilds what encoding/json makes of a document, through Value only.
func generic(v Value) any {
	switch v.Kind() {
	case "an object":
		out := map[string]any{}
		for member := range v.Members() {
			out[member.Key] = generic(member)
		}
		return out
	case "an array":
		out := []any{}
		for element := range v.Elements() {
			out = append(out, generic(element))
		}
		return out
	case "a string":
		return v.Text()
	}
	var out any
	if err := json.Unmarshal(v.Raw, &out); err != nil {
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
		if got := generic(Document(body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q read as %#v, want %#v", body, got, want)
		}
		if !bytes.Equal(body, before) {
			t.Errorf("reading changed %q", before)
		}
	})
}

func TestValuePath(t *testing.T) {
	v := Document([]byte(`{"messages":[{},{"content":[{"text":1}]}]}`))
	for _, step := range []any{"messages", 1, "content", 0, "text"} {
		var found Value
		if name, ok := step.(string); ok {
			for member := range v.Members() {
				if member.Key == name {
					found = member
				}
			}
		} else {
			for element := range v.Elements() {
				if element.Index == step.(int) {
					found = element
				}
			}
		}
		v = found
	}
	if got := v.Path(); got != "messages[1].content[0].text" {
		t.Errorf("path = %s", got)
	}
	if got := v.Field(); got != "messages[].content[].text" {
		t.Errorf("field = %s", got)
	}
}
