package agentrpc

import (
	"bytes"
	"encoding/json"
)

// encodeJSON is json.Marshal without the escapes for HTML, which models copy
// into files. Values are of our own making and encode; if one does not, null
// stands for it.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decodeObject returns a JSON object as it stands in text, nil if there is none.
func decodeObject(text string) json.RawMessage {
	trimmed := bytes.TrimSpace([]byte(text))
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(trimmed) {
		return nil
	}
	return trimmed
}
