//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// seen is what one model request of a client held.
type seen struct {
	path    string
	tools   int
	results int // tool results in the history
	status  int
	body    []byte
}

// String leaves the body out, which is long.
func (s seen) String() string {
	return fmt.Sprintf("%s with %d tools and %d results: status %d", s.path, s.tools, s.results, s.status)
}

// recorder stands between a client and the server and notes the requests, so
// that a test need not believe what the client prints.
type recorder struct {
	url     string
	forward *httputil.ReverseProxy
	mu      sync.Mutex
	all     []seen
	began   time.Time    // when the first request came
	sent    atomic.Int64 // bytes of answers
}

// streamed returns how many bytes of answers were passed on.
func (r *recorder) streamed() int64 { return r.sent.Load() }

func record(t *testing.T, target string) *recorder {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{forward: &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(to) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.begin()
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client is gone
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		status := &statusWriter{ResponseWriter: w, sent: &r.sent}
		// Codex closes the connection at the last event, which makes the
		// forwarding panic.
		defer func() { r.add(req.URL.Path, body, status.code) }()
		r.forward.ServeHTTP(status, req)
	}))
	t.Cleanup(front.Close)
	r.url = front.URL
	return r
}

func (r *recorder) add(path string, body []byte, status int) {
	var request struct {
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage // a text or blocks
		}
		Input json.RawMessage // of Responses: a text or items
	}
	var items []struct{ Type string }
	_ = json.Unmarshal(body, &request) // a body that is none counts as empty
	_ = json.Unmarshal(request.Input, &items)
	s := seen{path: path, tools: len(request.Tools), status: status, body: body}
	for _, m := range request.Messages {
		var blocks []struct{ Type string }
		_ = json.Unmarshal(m.Content, &blocks)
		for _, block := range blocks {
			if block.Type == "tool_result" {
				s.results++
			}
		}
		if m.Role == "tool" {
			s.results++
		}
	}
	for _, item := range items {
		if strings.HasSuffix(item.Type, "_call_output") {
			s.results++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = time.Now()
	}
}

// since returns how long ago the first request came.
func (r *recorder) since() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.began)
}

// requests returns what came so far.
func (r *recorder) requests() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.all...)
}

type statusWriter struct {
	http.ResponseWriter
	code int
	sent *atomic.Int64
}

func (w *statusWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets the reverse proxy flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
