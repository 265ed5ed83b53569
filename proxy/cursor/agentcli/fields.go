package agentcli

import "encoding/json"

// raw is a JSON value that shares memory with the line it was decoded from:
// lines can be megabytes long, and only a few bytes of them are of interest.
type raw []byte

// UnmarshalJSON keeps the slice itself. That is safe because a raw never
// outlives the line it belongs to.
func (r *raw) UnmarshalJSON(b []byte) error {
	*r = b
	return nil
}

// is reports what kind of value r is by its first byte.
func (r raw) is(first byte) bool { return len(r) > 0 && r[0] == first }

func (r raw) isNumber() bool { return len(r) > 0 && (r[0] == '-' || '0' <= r[0] && r[0] <= '9') }

// str returns a string's value, "" for all other values.
func (r raw) str() string {
	if !r.is('"') {
		return ""
	}
	var s string
	if json.Unmarshal(r, &s) != nil {
		return ""
	}
	return s
}

func (r raw) object() fields {
	if !r.is('{') {
		return nil
	}
	var f fields
	if json.Unmarshal(r, &f) != nil {
		return nil
	}
	return f
}

func (r raw) array() []raw {
	if !r.is('[') {
		return nil
	}
	var a []raw
	if json.Unmarshal(r, &a) != nil {
		return nil
	}
	return a
}

// fields is a JSON object of which everything is optional: the CLI's stream is
// no published contract, field names have changed from week to week. Of a
// repeated key the last value counts.
type fields map[string]raw

func (f fields) str(key string) string    { return f[key].str() }
func (f fields) object(key string) fields { return f[key].object() }

// delta tells a fragment from a repetition of the text so far. Fragments carry
// the time of sending and no model call; only the fields decide, the subtype
// has been wrong.
func (f fields) delta() bool {
	stamp := f["timestamp_ms"]
	stamped := stamp.isNumber() || isDigits(stamp.str())
	call := f["model_call_id"]
	return stamped && call.str() == "" && !call.isNumber()
}

// failed is false only for a result that says it succeeded or says nothing.
func (f fields) failed() bool {
	if string(f["is_error"]) == "true" {
		return true
	}
	subtype := f.str("subtype")
	return subtype != "" && subtype != "success"
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return s != ""
}

// errorText is the reason in an error event.
func errorText(f fields) string {
	for _, key := range []string{"message", "error", "detail"} {
		if text := messageOf(f[key]); text != "" {
			return text
		}
	}
	return ""
}

// resultReason is the reason in a result that failed.
func resultReason(f fields) string {
	if text := messageOf(f["error"]); text != "" {
		return text
	}
	return f.str("result")
}

// messageOf reads a string, or the message of an object.
func messageOf(r raw) string {
	if r.is('{') {
		return r.object().str("message")
	}
	return r.str()
}
