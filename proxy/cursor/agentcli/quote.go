package agentcli

import (
	"bytes"
	"encoding/json"
)

// encodeJSON is json.Marshal without the escapes for HTML, which would only
// make prompts longer and harder to read. Values are ours and always encode.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("agentcli: encoding own value: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func quoteJSON(s string) []byte { return encodeJSON(s) }
