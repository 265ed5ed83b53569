package openai

import (
	"net/http"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
	"cursortray/proxy/wirejson"
)

// answer is how one kind of error looks on the wire.
type answer struct {
	status    int
	typ, code string
	// retry is sent as Retry-After when the error itself gives no time. Kinds
	// without it never send the header: clients would wait for nothing.
	retry time.Duration
}

// answers is the one table from kind to wire. The statuses were chosen by what
// real clients do with them: they retry 401, 429 and 5xx for minutes, so a
// problem that lasts must be none of these, and they show 402 and 403 at once.
var answers = [...]answer{
	chat.Internal:      {500, "server_error", "internal_error", 0},
	chat.Invalid:       {400, "invalid_request_error", "invalid_request", 0},
	chat.LoginRequired: {403, "permission_error", "cursor_login_required", 0},
	chat.NotInPlan:     {402, "insufficient_quota", "model_not_in_plan", 0},
	chat.QuotaSpent:    {402, "usage_limit_reached", "insufficient_quota", 0},
	chat.NotFound:      {404, "invalid_request_error", "model_not_found", 0},
	chat.TooLong:       {400, "invalid_request_error", "context_length_exceeded", 0},
	chat.TooLarge:      {413, "invalid_request_error", "request_too_large", 0},
	chat.RateLimited:   {429, "rate_limit_error", "rate_limit_exceeded", 5 * time.Second},
	chat.Overloaded:    {503, "server_error", "server_is_overloaded", 5 * time.Second},
	chat.Unavailable:   {503, "server_error", "backend_unavailable", 0},
	chat.BadGateway:    {502, "server_error", "bad_gateway", 0},
	chat.Timeout:       {504, "server_error", "upstream_timeout", 0},
	chat.ShuttingDown:  {503, "server_error", "shutting_down", time.Second},
	chat.Canceled:      {499, "invalid_request_error", "request_canceled", 0}, // for the log: the client has left
}

// statusOf holds the codes whose status is not that of their kind.
var statusOf = map[string]int{
	"cursor_workspace_untrusted": http.StatusInternalServerError,
	"cursor_cli_not_found":       http.StatusServiceUnavailable,
	"cursor_cli_incompatible":    http.StatusServiceUnavailable,
	"cursor_cli_busy":            http.StatusServiceUnavailable,
	"request_timeout":            http.StatusRequestTimeout,
}

// answerTo returns the row for err, refined by its code.
func answerTo(err *chat.Error) answer {
	row := answers[chat.Internal]
	if err.Kind >= 0 && int(err.Kind) < len(answers) {
		row = answers[err.Kind]
	}
	// What is wrong with a login is in the message; clients know one code.
	if err.Code != "" && err.Kind != chat.LoginRequired {
		row.code = err.Code
		if status, ok := statusOf[err.Code]; ok {
			row.status = status
		}
	}
	if row.retry > 0 && err.RetryAfter > 0 {
		row.retry = err.RetryAfter
	}
	return row
}

// WriteError answers a request with err: status, headers and error object.
// Nothing may have been written before.
func WriteError(w http.ResponseWriter, r *http.Request, err *chat.Error) {
	writeRow(w, answerTo(err).patiently(r.Header), err)
}

// lasts tells whether this is a limit that nobody waits for.
func (row answer) lasts() bool {
	return row.status == http.StatusTooManyRequests && row.retry > turn.LongestWait
}

// patiently returns the row for a client that may wait for a limit that lasts,
// and says nothing meanwhile.
func (row answer) patiently(client http.Header) answer {
	if row.lasts() && repeats429(client) {
		row.status, row.typ, row.retry = http.StatusPaymentRequired, "usage_limit_reached", 0
	}
	return row
}

func writeRow(w http.ResponseWriter, row answer, err *chat.Error) {
	turn.SetRetryAfter(w.Header(), row.retry)
	if row.status == http.StatusTooManyRequests && (row.retry == 0 || row.lasts()) {
		w.Header().Set(turn.ShouldRetryHeader, "false")
	}
	turn.WriteJSON(w, row.status, appendError(nil, row, err.Message, err.Param))
}

// Refuse answers a request that is turned away before any model is asked, with
// the error type that goes with the status.
func Refuse(w http.ResponseWriter, _ *http.Request, status int, code, message string) {
	row := answer{status: status, typ: "invalid_request_error", code: code}
	switch {
	case status == http.StatusUnauthorized:
		row.typ = "authentication_error"
	case status == http.StatusForbidden:
		row.typ = "permission_error"
	case status >= 500:
		row.typ = "server_error"
	}
	turn.WriteJSON(w, status, appendError(nil, row, message, ""))
}

// messageOr returns the message of an error, or words for the row if there is
// none: an upstream may say nothing.
func (row answer) messageOr(message string) string {
	if message == "" {
		message = http.StatusText(row.status)
	}
	if message == "" {
		message = row.code
	}
	return message
}

// appendError appends the error object. Its message, type and code are never
// empty, whatever came from upstream.
func appendError(dst []byte, row answer, message, param string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = wirejson.AppendString(dst, row.messageOr(message))
	dst = append(dst, `,"type":`...)
	dst = wirejson.AppendString(dst, row.typ)
	dst = append(dst, `,"param":`...)
	if param == "" {
		dst = append(dst, "null"...)
	} else {
		dst = wirejson.AppendString(dst, param)
	}
	dst = append(dst, `,"code":`...)
	dst = wirejson.AppendString(dst, row.code)
	return append(dst, "}}"...)
}
