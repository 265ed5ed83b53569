//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// seen is what one model request of a client held.
type seen struct {
	path    string
	tools   int
	results int // tool results in the history
	status  int
	body    bodyText
}

// bodyText is the body of a request. It is long, so lists of requests show its
// length.
type bodyText string

func (b bodyText) String() string { return strconv.Itoa(len(b)) + " bytes" }

// recorder stands between a client and the server and notes the requests, so
// that a test need not believe what the client prints.
type recorder struct {
	url string
	mu  sync.Mutex
	all []seen
}

func record(t *testing.T, target string) *recorder {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(to) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client is gone
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		status := &statusWriter{ResponseWriter: w}
		// Codex closes the connection at the last event, which makes the
		// forwarding panic.
		defer func() { r.add(req.URL.Path, body, status.code) }()
		forward.ServeHTTP(status, req)
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
	s := seen{path: path, tools: len(request.Tools), status: status, body: bodyText(body)}
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

// requests returns what came so far.
func (r *recorder) requests() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.all...)
}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets the reverse proxy flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
