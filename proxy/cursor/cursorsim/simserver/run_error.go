package simserver

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"cursortray/proxy/cursor/cursorpb"
)

// RunError is an error in the last envelope of a run, as the service writes it.
// A script that returns one ends its run with it.
type RunError struct {
	Code    string // Connect's name, such as "unavailable"
	Message string // usually just "Error"

	Reason     string         // of debug.error, such as ERROR_RATE_LIMITED_CHANGEABLE; "" for none
	Title      string         // for people
	Detail     string         // for people
	Retryable  *bool          // nil to leave it out
	Expected   bool           // isExpected
	Info       map[string]any // additionalInfo
	SwitchTo   string         // autoSwitchToModel
	RetryAfter time.Duration  // in a google.rpc.RetryInfo; 0 for none
	Metadata   map[string][]string
}

// Error is for the error interface.
func (e *RunError) Error() string {
	text := e.Code + ": " + e.Message
	if e.Reason != "" {
		text += " (" + e.Reason + ")"
	}
	return text
}

type errorDetail struct {
	Type  string `json:"type"`
	Value string `json:"value"`
	Debug any    `json:"debug,omitempty"`
}

// endStream is the payload of the last envelope.
func (e *RunError) endStream() []byte {
	wire := map[string]any{"code": e.Code, "message": e.Message}
	if details := e.details(); details != nil {
		wire["details"] = details
	}
	end := map[string]any{"error": wire}
	if e.Metadata != nil {
		end["metadata"] = e.Metadata
	}
	payload, err := json.Marshal(end)
	if err != nil { // only Info can be at fault
		return []byte(`{"error":{"code":"internal","message":"Error"}}`)
	}
	return payload
}

func (e *RunError) details() []errorDetail {
	var list []errorDetail
	if e.Reason != "" || e.Title != "" || e.Detail != "" {
		list = append(list, errorDetail{Type: "aiserver.v1.ErrorDetails", Debug: e.debug()})
	}
	if e.RetryAfter > 0 {
		// Encoding these two cannot fail.
		value, _ := proto.Marshal(&cursorpb.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
		list = append(list, errorDetail{Type: "google.rpc.RetryInfo", Value: base64.RawStdEncoding.EncodeToString(value)})
	}
	return list
}

func (e *RunError) debug() map[string]any {
	details := map[string]any{"title": e.Title, "detail": e.Detail}
	if e.Retryable != nil {
		details["isRetryable"] = *e.Retryable
	}
	info := map[string]any{}
	for name, value := range e.Info {
		info[name] = value
	}
	if e.SwitchTo != "" {
		info["autoSwitchToModel"] = e.SwitchTo
	}
	if len(info) > 0 {
		details["additionalInfo"] = info
	}
	return map[string]any{"error": e.Reason, "details": details, "isExpected": e.Expected}
}

// Failures are errors that were seen at the real service, by a name for tables
// of tests.
func Failures() map[string]*RunError {
	yes, no := true, false
	return map[string]*RunError{
		"not logged in":       {Code: "unauthenticated", Message: "Error", Reason: "ERROR_NOT_LOGGED_IN", Title: "Authentication error", Detail: "If you are logged in, try logging out and back in.", Retryable: &no},
		"permission denied":   {Code: "permission_denied", Message: "Error"},
		"usage limit":         {Code: "resource_exhausted", Message: "Error", Reason: "ERROR_RATE_LIMITED_CHANGEABLE", Title: "You've hit your usage limit", Detail: "Switch to another model or set a spend limit.", Retryable: &no, Expected: true, SwitchTo: "default"},
		"plan lacks model":    {Code: "resource_exhausted", Message: "Error", Reason: "ERROR_RATE_LIMITED_CHANGEABLE", Title: "Named models unavailable", Detail: "Free plans can only use Auto. Switch to Auto or upgrade plans to continue.", Retryable: &no, Expected: true},
		"too many computers":  {Code: "resource_exhausted", Message: "Error", Reason: "ERROR_RATE_LIMITED", Title: "Too many computers", Detail: "Too many computers used within the last 24 hours. Please try again later.", Retryable: &no},
		"high load":           {Code: "resource_exhausted", Message: "Error", Reason: "ERROR_RESOURCE_EXHAUSTED", Title: "High Load", Detail: "We're experiencing high demand right now. Please try again in a moment.", Retryable: &yes, Expected: true},
		"bare exhausted":      {Code: "resource_exhausted", Message: "Error"},
		"unavailable":         {Code: "unavailable", Message: "Error"},
		"unavailable, wait":   {Code: "unavailable", Message: "Error", RetryAfter: 2 * time.Second},
		"internal":            {Code: "internal", Message: "Error"},
		"aborted":             {Code: "aborted", Message: "Error"},
		"deadline exceeded":   {Code: "deadline_exceeded", Message: "Error"},
		"invalid argument":    {Code: "invalid_argument", Message: "Error"},
		"parse binary":        {Code: "invalid_argument", Message: "parse binary: illegal tag: field no 0 wire type 0"},
		"failed precondition": {Code: "failed_precondition", Message: "Error"},
		"not found":           {Code: "not_found", Message: "Error"},
		"bad model":           {Code: "not_found", Message: "Error", Reason: "ERROR_BAD_MODEL_NAME", Title: "AI Model Not Found", Detail: "Model name is not valid", Retryable: &no},
		"outdated client":     {Code: "failed_precondition", Message: "Error", Reason: "ERROR_OUTDATED_CLIENT", Title: "Please update", Detail: "Your version of Cursor is too old.", Retryable: &no},
		"blob not found":      {Code: "internal", Message: "Blob not found"},
		"image not found":     {Code: "internal", Message: "Image not found"},
		"wrong region":        {Code: "permission_denied", Message: "Error", Reason: "ERROR_CUSTOM_MESSAGE", Title: "Region not available", Detail: "This region is not available for your team", Retryable: &no},
	}
}

// Failure is one of Failures; a name that does not exist gives a plain error.
func Failure(name string) error {
	if e := Failures()[name]; e != nil {
		return e
	}
	return &RunError{Code: "internal", Message: "the simulation knows no failure named " + name}
}
