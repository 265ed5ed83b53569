package anthropic

import (
	"net/http"
	"strings"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// requestIDHeader is where this dialect's SDKs look for the id of a request.
const requestIDHeader = "Request-Id"

// setRequestID repeats the id that the server gave the request.
func setRequestID(h http.Header) { h.Set(requestIDHeader, h.Get("X-Request-Id")) }

// answer is how one kind of error looks on the wire.
type answer struct {
	status int
	typ    string
	// retry is sent as Retry-After when the error itself gives no time. Kinds
	// without it never send the header: clients would wait for nothing.
	retry time.Duration
	// lasting tells SDKs not to try again by themselves, whatever the status:
	// only the user can help, and should see the message at once.
	lasting bool
}

// answers is the one table from kind to wire. The statuses were chosen by what
// Claude Code does with them: it retries 401, 429 and 5xx for minutes, so a
// problem that lasts must be none of these, and shows 402 and 403 at once.
var answers = [...]answer{
	chat.Internal:      {status: 500, typ: "api_error"},
	chat.Invalid:       {status: 400, typ: "invalid_request_error"},
	chat.LoginRequired: {status: 403, typ: "permission_error", lasting: true},
	chat.NotInPlan:     {status: 402, typ: "billing_error", lasting: true},
	chat.QuotaSpent:    {status: 402, typ: "billing_error", lasting: true},
	chat.NotFound:      {status: 404, typ: "not_found_error"},
	chat.TooLong:       {status: 400, typ: "invalid_request_error"},
	chat.TooLarge:      {status: 413, typ: "request_too_large"},
	chat.RateLimited:   {status: 429, typ: "rate_limit_error", retry: 5 * time.Second},
	chat.Overloaded:    {status: 529, typ: "overloaded_error", retry: 5 * time.Second},
	chat.Unavailable:   {status: 503, typ: "api_error", lasting: true},
	chat.BadGateway:    {status: 502, typ: "api_error"},
	chat.Timeout:       {status: 504, typ: "timeout_error"},
	chat.ShuttingDown:  {status: 503, typ: "overloaded_error", retry: time.Second},
	chat.Canceled:      {status: 499, typ: "api_error"}, // for the log: the client has left
}

// statusOf holds the codes whose status is not that of their kind. The codes
// themselves have no place in this dialect.
var statusOf = map[string]int{
	"cursor_workspace_untrusted": http.StatusInternalServerError,
	"cursor_cli_busy":            529,
	"request_timeout":            http.StatusRequestTimeout,
}

// answerTo returns the row for err, refined by its code.
func answerTo(err *chat.Error) answer {
	row := answers[chat.Internal]
	if err.Kind >= 0 && int(err.Kind) < len(answers) {
		row = answers[err.Kind]
	}
	if status, ok := statusOf[err.Code]; ok {
		row.status = status
	}
	// The user's own limits last, unlike what else has this status.
	if strings.HasPrefix(err.Code, "spend_limit") {
		row.lasting = true
	}
	if row.retry > 0 && err.RetryAfter > 0 {
		row.retry = err.RetryAfter
	}
	return row
}

// WriteError answers a request with err: status, headers and error object.
// Nothing may have been written before.
func WriteError(w http.ResponseWriter, r *http.Request, err *chat.Error) {
	row := answerTo(err)
	if row.status == http.StatusTooManyRequests && row.retry > turn.LongestWait && turn.Repeats429(r.Header) {
		row = answers[chat.QuotaSpent]
	}
	write(w, row, messageOf(err))
}

// Refuse answers a request that is turned away before any model is asked, with
// the error type that goes with the status.
func Refuse(w http.ResponseWriter, _ *http.Request, status int, message string) {
	row := answer{status: status, typ: "invalid_request_error"}
	switch {
	case status == http.StatusUnauthorized:
		row.typ, row.lasting = "authentication_error", true
	case status == http.StatusForbidden:
		row.typ, row.lasting = "permission_error", true
	case status == http.StatusNotFound:
		row.typ = "not_found_error"
	case status == http.StatusRequestEntityTooLarge:
		row.typ = "request_too_large"
	case status >= 500:
		row.typ = "api_error"
	}
	write(w, row, message)
}

func write(w http.ResponseWriter, row answer, message string) {
	h := w.Header()
	setRequestID(h)
	turn.SetRetryAfter(h, row.retry)
	if row.lasting || row.retry > turn.LongestWait {
		h.Set(turn.ShouldRetryHeader, "false")
	}
	turn.WriteJSON(w, row.status, appendError(nil, row, message, h.Get(requestIDHeader)))
}

// messageOf returns the message of err in the words that clients act upon.
func messageOf(err *chat.Error) string {
	if err.Kind == chat.TooLong && !strings.Contains(err.Message, tooLong) {
		return tooLong + err.Message
	}
	return err.Message
}

// appendError appends the error object. Its message and type are never empty,
// whatever came from upstream.
func appendError(dst []byte, row answer, message, requestID string) []byte {
	if message == "" {
		message = http.StatusText(row.status)
	}
	if message == "" {
		message = row.typ
	}
	dst = append(dst, `{"type":"error","error":{"type":`...)
	dst = wirejson.AppendString(dst, row.typ)
	dst = append(dst, `,"message":`...)
	dst = wirejson.AppendString(dst, message)
	dst = append(dst, `},"request_id":`...)
	if requestID == "" {
		dst = append(dst, "null"...)
	} else {
		dst = wirejson.AppendString(dst, requestID)
	}
	return append(dst, '}')
}
