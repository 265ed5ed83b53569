// Package clienttool is what back-ends share about the tools of a client: which
// tool and which arguments a model means when it spells them in its own way,
// and when a model makes the same call over and over. Clients are never told
// apart by brand; only the names and schemas of a request count. The package
// holds no state, does no I/O and starts no goroutine.
package clienttool

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Fold reduces a name to its letters and digits without case.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// Canonical makes arguments comparable: the order of keys and space do not
// matter. What is no JSON stands for itself.
func Canonical(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return args
	}
	if _, err := dec.Token(); err == nil {
		return args // more than one value is no JSON either
	}
	return string(encode(v))
}

// encode is json.Marshal without the escapes for HTML. Values come out of JSON
// and go back into it.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// object decodes a JSON object, nil for all else.
func object(value json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// text decodes a JSON string, "" for all else.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}
