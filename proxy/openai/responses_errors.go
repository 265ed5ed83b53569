package openai

import (
	"net/http"

	"cursortray/proxy/chat"
)

// responsesAnswer returns the row for err where this dialect's statuses differ.
// Codex, its main client, repeats a 402 or 403 for 15 s; it shows a 400 at once,
// and takes a 429 with the quota's code as the end of the plan.
func responsesAnswer(err *chat.Error) answer {
	row := answerTo(err)
	switch err.Kind {
	case chat.LoginRequired:
		row.status = http.StatusBadRequest
	case chat.QuotaSpent:
		row.status = http.StatusTooManyRequests
	}
	return row
}

func writeResponsesError(w http.ResponseWriter, _ *http.Request, err *chat.Error) {
	writeRow(w, responsesAnswer(err), err)
}

// failureCode returns the code of an error in mid-stream. Clients know these
// five; the first makes Codex try again, and so does the last.
func failureCode(kind chat.Kind) string {
	switch kind {
	case chat.QuotaSpent, chat.NotInPlan:
		return "insufficient_quota"
	case chat.TooLong:
		return "context_length_exceeded"
	case chat.Overloaded:
		return "server_is_overloaded"
	case chat.RateLimited:
		return "rate_limit_exceeded"
	}
	return "server_error"
}
