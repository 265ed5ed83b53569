package openai

import (
	"net/http"

	"cursortray/proxy/chat"
)

// responsesAnswer returns the row for err where this dialect's statuses differ.
// Codex, its main client, repeats a 402 or 403 for 15 s; it shows a 400 at once,
// and takes a 429 with the quota's code as the end of the plan. Clients that
// are known to repeat any 429 for minutes get the 402, as in the other dialect.
func responsesAnswer(err *chat.Error, client http.Header) answer {
	row := answerTo(err)
	switch {
	case err.Kind == chat.LoginRequired:
		row.status = http.StatusBadRequest
	case err.Kind == chat.QuotaSpent && !repeats429(client):
		row.status = http.StatusTooManyRequests
	case row.lasts():
		row.typ = "usage_limit_reached" // Codex would wait as long as the limit lasts
	}
	return row.patiently(client)
}

func writeResponsesError(w http.ResponseWriter, r *http.Request, err *chat.Error) {
	writeRow(w, responsesAnswer(err, r.Header), err)
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
