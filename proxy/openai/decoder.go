package openai

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

// Codes of requests that are refused, as OpenAI spells them.
const (
	codeInvalidJSON  = "invalid_json"
	codeInvalidType  = "invalid_type"
	codeInvalidValue = "invalid_value"
	codeMissing      = "missing_required_parameter"
	codeUnsupported  = "unsupported_parameter"
)

// decoder reads members of a request body. It keeps the first fault, and goes
// on with zero values after it, so that its users need not check each step.
type decoder struct {
	fault   *chat.Error
	unknown func(field string) // told about members that no shape knows
}

// fail records that v is wrong.
func (d *decoder) fail(v value, code, format string, args ...any) {
	if d.fault != nil {
		return
	}
	path := v.path()
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = path + " " + message
	}
	d.fault = &chat.Error{Kind: chat.Invalid, Message: message, Code: code, Param: path}
}

// mistyped records that v is not what it must be.
func (d *decoder) mistyped(v value, want string) {
	d.fail(v, codeInvalidType, "must be %s, not %s", want, v.kind())
}

// body checks a whole request body and returns its members.
func (d *decoder) body(raw []byte, s *shape) object {
	if !json.Valid(raw) {
		message := "the request body is not JSON"
		var syntax *json.SyntaxError
		var whole json.RawMessage
		if errors.As(json.Unmarshal(raw, &whole), &syntax) {
			message += fmt.Sprintf(" (at byte %d)", syntax.Offset)
		}
		d.fault = &chat.Error{Kind: chat.Invalid, Code: codeInvalidJSON, Message: message}
		return object{}
	}
	v := document(raw)
	if v.raw[0] != '{' {
		d.fault = &chat.Error{Kind: chat.Invalid, Code: codeInvalidType, Message: "the request body must be a JSON object, not " + v.kind()}
		return object{}
	}
	return d.object(v, s)
}

// object is a decoded object of the request.
type object struct {
	self    value
	members []value
}

// get returns a member; of several with one name the last, as usual in JSON.
func (o object) get(name string) value {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == name {
			return o.members[i]
		}
	}
	return value{in: &o.self, key: name, index: -1}
}

// object returns the known members of v, none if v is absent.
func (d *decoder) object(v value, s *shape) object {
	o := object{self: v}
	if v.absent() {
		return o
	}
	if v.raw[0] != '{' {
		d.mistyped(v, "an object")
		return o
	}
	for member := range v.members() {
		if s.knows(member.key) {
			o.members = append(o.members, member)
		} else if d.unknown != nil {
			d.unknown(member.field())
		}
	}
	return o
}

// array yields the elements of v, none if v is absent.
func (d *decoder) array(v value) iter.Seq[value] {
	if !v.absent() && v.raw[0] == '[' {
		return v.elements()
	}
	if !v.absent() {
		d.mistyped(v, "an array")
	}
	return func(func(value) bool) {}
}

// text returns a string, "" if v is absent.
func (d *decoder) text(v value) string {
	if v.absent() {
		return ""
	}
	if v.raw[0] != '"' {
		d.mistyped(v, "a string")
		return ""
	}
	return text(v.raw)
}

// required returns a string that must be there and not empty.
func (d *decoder) required(v value) string {
	if v.raw == nil {
		d.fail(v, codeMissing, "is missing")
		return ""
	}
	if v.raw[0] != '"' {
		d.mistyped(v, "a string")
		return ""
	}
	s := text(v.raw)
	if s == "" {
		d.fail(v, codeInvalidValue, "must not be empty")
	}
	return s
}

// boolean returns a boolean, or fallback if v is absent.
func (d *decoder) boolean(v value, fallback bool) bool {
	if v.absent() {
		return fallback
	}
	if c := v.raw[0]; c != 't' && c != 'f' {
		d.mistyped(v, "a boolean")
		return fallback
	}
	return v.raw[0] == 't'
}

// integer returns a whole number, 0 if v is absent. 100.0 and 1e2 are whole.
func (d *decoder) integer(v value) int {
	if v.absent() {
		return 0
	}
	if v.kind() != "a number" {
		d.mistyped(v, "a whole number")
		return 0
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	const limit = 1 << 53 // beyond it float64 is not exact
	if err != nil || f < -limit || f > limit || f != math.Trunc(f) {
		d.fail(v, codeInvalidType, "must be a whole number")
		return 0
	}
	return int(f)
}

// schema returns a JSON Schema, nil if v is absent. The copy lets go of the
// request body.
func (d *decoder) schema(v value) json.RawMessage {
	if v.absent() {
		return nil
	}
	if v.raw[0] != '{' {
		d.mistyped(v, "an object")
		return nil
	}
	return bytes.Clone(v.raw)
}
