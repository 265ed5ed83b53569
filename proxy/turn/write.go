package turn

import (
	"net/http"
	"strconv"
	"time"
)

// WriteJSON sends a whole body. A failed write means that the client has left.
func WriteJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// SetRetryAfter tells the client how many seconds to wait, rounded up. Without
// a time it sends nothing: clients would wait for nothing.
func SetRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		seconds := (wait + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
}
