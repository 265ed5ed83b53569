package wirejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"cursortray/proxy/chat"
)

// Codes of requests that are refused, as OpenAI spells them. Dialects without
// codes leave them out.
const (
	CodeInvalidJSON  = "invalid_json"
	CodeInvalidType  = "invalid_type"
	CodeInvalidValue = "invalid_value"
	CodeMissing      = "missing_required_parameter"
	CodeUnsupported  = "unsupported_parameter"
)

// Decoder reads members of a request body. It keeps the first fault, and goes
// on with zero values after it, so that its users need not check each step.
type Decoder struct {
	Fault   *chat.Error
	Unknown func(field string) // told about members that no Shape knows
}

// Fail records that v is wrong.
func (d *Decoder) Fail(v Value, code, format string, args ...any) {
	if d.Fault != nil {
		return
	}
	path := v.Path()
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = path + " " + message
	}
	d.Fault = &chat.Error{Kind: chat.Invalid, Message: message, Code: code, Param: path}
}

// Mistyped records that v is not what it must be.
func (d *Decoder) Mistyped(v Value, want string) {
	d.Fail(v, CodeInvalidType, "must be %s, not %s", want, v.Kind())
}

// Body checks a whole request body and returns its members.
func (d *Decoder) Body(raw []byte, s *Shape) Object {
	if !json.Valid(raw) {
		message := "the request body is not JSON"
		var syntax *json.SyntaxError
		var whole json.RawMessage
		if errors.As(json.Unmarshal(raw, &whole), &syntax) {
			message += fmt.Sprintf(" (at byte %d)", syntax.Offset)
		}
		d.Fault = &chat.Error{Kind: chat.Invalid, Code: CodeInvalidJSON, Message: message}
		return Object{}
	}
	v := Document(raw)
	if v.Raw[0] != '{' {
		d.Fault = &chat.Error{Kind: chat.Invalid, Code: CodeInvalidType, Message: "the request body must be a JSON object, not " + v.Kind()}
		return Object{}
	}
	return d.Object(v, s)
}

// Object is a decoded object of the request.
type Object struct {
	self    Value
	members []Value
}

// Get returns a member; of several with one name the last, as usual in JSON.
func (o Object) Get(name string) Value {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].Key == name {
			return o.members[i]
		}
	}
	return Value{in: &o.self, Key: name, Index: -1}
}

// Object returns the known members of v, none if v is absent.
func (d *Decoder) Object(v Value, s *Shape) Object {
	o := Object{self: v}
	if v.Absent() {
		return o
	}
	if v.Raw[0] != '{' {
		d.Mistyped(v, "an object")
		return o
	}
	for member := range v.Members() {
		if s.knows(member.Key) {
			o.members = append(o.members, member)
		} else if d.Unknown != nil {
			d.Unknown(member.Field())
		}
	}
	return o
}

// Array yields the elements of v, none if v is absent.
func (d *Decoder) Array(v Value) iter.Seq[Value] {
	if !v.Absent() && v.Raw[0] == '[' {
		return v.Elements()
	}
	if !v.Absent() {
		d.Mistyped(v, "an array")
	}
	return func(func(Value) bool) {}
}

// Text returns a string, "" if v is absent.
func (d *Decoder) Text(v Value) string {
	if v.Absent() {
		return ""
	}
	if v.Raw[0] != '"' {
		d.Mistyped(v, "a string")
		return ""
	}
	return v.Text()
}

// Required returns a string that must be there and not empty.
func (d *Decoder) Required(v Value) string {
	if v.Raw == nil {
		d.Fail(v, CodeMissing, "is missing")
		return ""
	}
	if v.Raw[0] != '"' {
		d.Mistyped(v, "a string")
		return ""
	}
	s := v.Text()
	if s == "" {
		d.Fail(v, CodeInvalidValue, "must not be empty")
	}
	return s
}

// Nothing tells why a history gives a model nothing to answer: it has no
// entries, or there is nothing in them.
func (d *Decoder) Nothing(v Value) {
	if v.Raw[0] == '[' {
		for range v.Elements() {
			d.Fail(v, CodeInvalidValue, "has nothing for a model to answer: no text, picture, tool call or result in any of its entries")
			return
		}
	}
	d.Fail(v, CodeInvalidValue, "must not be empty")
}

// Boolean returns a boolean, or fallback if v is absent.
func (d *Decoder) Boolean(v Value, fallback bool) bool {
	if v.Absent() {
		return fallback
	}
	if c := v.Raw[0]; c != 't' && c != 'f' {
		d.Mistyped(v, "a boolean")
		return fallback
	}
	return v.Raw[0] == 't'
}

// Integer returns a whole number, 0 if v is absent. 100.0 and 1e2 are whole.
func (d *Decoder) Integer(v Value) int {
	if v.Absent() {
		return 0
	}
	if v.Kind() != "a number" {
		d.Mistyped(v, "a whole number")
		return 0
	}
	f, err := strconv.ParseFloat(string(v.Raw), 64)
	const limit = 1 << 53 // beyond it float64 is not exact
	if err != nil || f < -limit || f > limit || f != math.Trunc(f) {
		d.Fail(v, CodeInvalidType, "must be a whole number")
		return 0
	}
	return int(f)
}

// Schema returns a JSON Schema, nil if v is absent. The copy lets go of the
// request body.
func (d *Decoder) Schema(v Value) json.RawMessage {
	if v.Absent() {
		return nil
	}
	if v.Raw[0] != '{' {
		d.Mistyped(v, "an object")
		return nil
	}
	return bytes.Clone(v.Raw)
}

// Present returns v, and refuses it if it is absent.
func (d *Decoder) Present(v Value) Value {
	if v.Absent() {
		d.Fail(v, CodeMissing, "is missing")
	}
	return v
}
