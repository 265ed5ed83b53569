package proxy

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/turn"
)

// record is what the log says about one request. It holds nothing of what the
// request or the answer says. Only the request's own goroutine uses it.
type record struct {
	route   string // pattern, not path
	editor  string // whose key it had; "" is the main one
	known   bool   // it had a key
	asked   bool   // the back-end was asked
	model   string
	stream  bool
	outcome string // "ok", or what went wrong in one word
	message string // for errors whose message quotes nothing of the request
	param   string
	cause   error
}

type recordKey struct{}

// recordOf returns the record of a request that came through recorded.
func recordOf(r *http.Request) *record { return recordIn(r.Context()) }

func recordIn(ctx context.Context) *record {
	if rec, ok := ctx.Value(recordKey{}).(*record); ok {
		return rec
	}
	return &record{}
}

func (rec *record) failed(err *chat.Error) {
	rec.outcome = err.Code
	if rec.outcome == "" {
		rec.outcome = err.Kind.String()
	}
	rec.param = err.Param
	if err.Kind != chat.Invalid { // those may quote the request
		rec.message = err.Message
	}
	if err.Kind == chat.Internal { // its message refers to the log
		rec.cause = err.Err
	}
}

// noteOutcome takes over what a front-end reports.
func noteOutcome(ctx context.Context, o turn.Outcome) {
	rec := recordIn(ctx)
	rec.model, rec.stream = shorten(o.Model), o.Stream
	if o.Err != nil {
		rec.failed(o.Err)
	}
}

// shorten bounds foreign text in the log.
func shorten(s string) string {
	const limit = 100
	if len(s) > limit {
		return s[:limit] + "..."
	}
	return s
}

// recorded is the outermost layer: headers of every answer, the request log,
// and panics. An answer that a panic cut short must not look whole.
func (s *Server) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r.Header)
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		rec := &record{route: "unknown", outcome: "ok"}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
		out := &response{ResponseWriter: w}
		broken := s.survive(next, out, r)
		s.logRequest(r, rec, out.status, id, time.Since(start))
		s.tellTurnedAway(r, rec, start)
		if broken {
			panic(http.ErrAbortHandler) // cuts the connection
		}
	})
}

// survive calls next. A panic becomes status 500; true means that it is too
// late for that.
func (s *Server) survive(next http.Handler, out *response, r *http.Request) (broken bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		// What was panicked with may hold anything, a prompt for example.
		what := fmt.Sprintf("value of type %T", v)
		if fault, ok := v.(runtime.Error); ok {
			what = fault.Error()
		}
		s.log.Error("panic while serving a request", "panic", what, "stack", string(debug.Stack()))
		if broken = out.status != 0; broken {
			recordOf(r).outcome = "panic"
			return
		}
		fail(out, r, chat.AsError(fmt.Errorf("panic: %s", what)))
	}()
	next.ServeHTTP(out, r)
	return false
}

func (s *Server) logRequest(r *http.Request, rec *record, status int, id string, took time.Duration) {
	level := slog.LevelInfo
	if status < 400 && (rec.route == "/health" || rec.route == "/" || rec.route == "/api/hello" || rec.route == pagesRoute) {
		level = slog.LevelDebug // probes come every few seconds
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", shorten(r.Method)), slog.String("route", rec.route), slog.Int("status", status),
		slog.Duration("duration", took), slog.String("outcome", rec.outcome), slog.String("request", id),
	}
	if rec.model != "" {
		attrs = append(attrs, slog.String("model", rec.model), slog.Bool("stream", rec.stream))
	}
	if rec.editor != "" {
		attrs = append(attrs, slog.String("editor", rec.editor))
	}
	if rec.param != "" {
		attrs = append(attrs, slog.String("param", rec.param))
	}
	if rec.message != "" {
		attrs = append(attrs, slog.String("error", rec.message))
	}
	if rec.cause != nil {
		attrs = append(attrs, slog.Any("cause", rec.cause))
	}
	s.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// requestID returns the client's own id of the request if it is a decent one,
// else a new one.
func requestID(h http.Header) string {
	id := h.Get("X-Request-Id")
	if id == "" || len(id) > 128 {
		return "req_" + rand.Text()
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return "req_" + rand.Text()
		}
	}
	return id
}

// response remembers the status for the log.
type response struct {
	http.ResponseWriter
	status int // 0: nothing was sent
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
