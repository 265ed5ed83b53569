package agentrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"cursortray/proxy/cursor/cursorpb"
)

// refusal is an error as the service worded it. All fields may be empty.
type refusal struct {
	status  int           // of the HTTP answer; 0 for an error inside a stream
	code    string        // Connect's
	reason  string        // Cursor's own, such as ERROR_BAD_MODEL_NAME
	text    string        // for people
	instead string        // the model that Cursor would go over to
	wait    time.Duration // before another try may work
	retry   bool          // the service says that another try may work
}

// endStream is the JSON in the last envelope of a stream.
type endStream struct {
	Error *wireError `json:"error"`
}

// wireError is Connect's error. The message is mostly just "Error"; what it
// means is in the details, as seen in recorded streams of 2026.
type wireError struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Details []wireDetail `json:"details"`
}

type wireDetail struct {
	Type  string          `json:"type"`
	Value string          `json:"value"`
	Debug json.RawMessage `json:"debug"`
}

// debugDetail is the readable form of aiserver.v1.ErrorDetails.
type debugDetail struct {
	Error   string `json:"error"`
	Details struct {
		Title       string `json:"title"`
		Detail      string `json:"detail"`
		IsRetryable *bool  `json:"isRetryable"`
	} `json:"details"`
}

// parseEndStream reads the last envelope. It returns nil for an end without
// error, and for a payload that is no JSON at all an empty refusal.
func parseEndStream(payload []byte) *refusal {
	var end endStream
	if json.Unmarshal(payload, &end) != nil {
		var plain struct {
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(payload, &plain) == nil && plain.Error == nil {
			return nil
		}
		return &refusal{}
	}
	if end.Error == nil {
		return nil
	}
	r := readWireError(end.Error)
	r.instead = findMember(payload, "autoSwitchToModel")
	return r
}

func readWireError(e *wireError) *refusal {
	r := &refusal{code: e.Code, text: e.Message}
	for _, d := range e.Details {
		switch d.Type {
		case "google.rpc.RetryInfo":
			r.retry, r.wait = true, retryDelay(d.Value)
		case "aiserver.v1.ErrorDetails":
			r.readDebug(d.Debug)
		}
	}
	return r
}

func (r *refusal) readDebug(text json.RawMessage) {
	var d debugDetail
	if json.Unmarshal(text, &d) != nil {
		return
	}
	r.reason = d.Error
	var said []string
	for _, s := range []string{d.Details.Title, d.Details.Detail} {
		if s = strings.TrimSpace(s); s != "" {
			said = append(said, s)
		}
	}
	if len(said) > 0 {
		r.text = strings.Join(said, ": ")
	}
	if d.Details.IsRetryable != nil {
		r.retry = *d.Details.IsRetryable
	}
}

// retryDelay reads an encoded google.rpc.RetryInfo.
func retryDelay(value string) time.Duration {
	encoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil {
		return 0
	}
	var info cursorpb.RetryInfo
	if proto.Unmarshal(encoded, &info) != nil || info.GetRetryDelay().CheckValid() != nil {
		return 0
	}
	return max(info.GetRetryDelay().AsDuration(), 0)
}

// findMember returns the first text under key anywhere in a JSON document.
func findMember(document []byte, key string) string {
	if !bytes.Contains(document, []byte(key)) {
		return ""
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	for previous := ""; ; {
		token, err := decoder.Token()
		if err != nil {
			return ""
		}
		text, ok := token.(string)
		if ok && previous == key {
			return text
		}
		previous = text
	}
}

// parseStatus reads an answer that is no stream: Connect's JSON, or whatever
// something in between had to say.
func parseStatus(status int, header http.Header, body []byte) *refusal {
	r := &refusal{status: status}
	var said wireError
	if json.Unmarshal(body, &said) == nil {
		r = readWireError(&said)
		r.status = status
	}
	r.wait = max(r.wait, retryAfter(header))
	return r
}

// parseTrailer reads the second channel of errors, gRPC's; nil if it says
// nothing or that all is well.
func parseTrailer(trailer http.Header) *refusal {
	status := trailer.Get("Grpc-Status")
	if status == "" || status == "0" {
		return nil
	}
	text, err := url.PathUnescape(trailer.Get("Grpc-Message"))
	if err != nil {
		text = ""
	}
	return &refusal{code: grpcCodes[status], text: text}
}

// grpcCodes are gRPC's numbers in Connect's names.
var grpcCodes = map[string]string{
	"1": "canceled", "2": "unknown", "3": "invalid_argument", "4": "deadline_exceeded", "5": "not_found",
	"6": "already_exists", "7": "permission_denied", "8": "resource_exhausted", "9": "failed_precondition",
	"10": "aborted", "11": "out_of_range", "12": "unimplemented", "13": "internal", "14": "unavailable",
	"15": "data_loss", "16": "unauthenticated",
}

// retryAfter reads the header of that name, in both its forms.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := time.ParseDuration(text + "s"); err == nil {
		return max(seconds, 0)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
