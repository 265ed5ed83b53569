package proxy

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

// anthropicType returns the type of an error of Anthropic's dialect, and
// complains about anything that is not a whole one.
func anthropicType(t *testing.T, response *http.Response, body string) string {
	t.Helper()
	var out struct {
		Type  string
		Error struct{ Type, Message string }
		ID    string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(body), &out); err != nil || out.Type != "error" || out.Error.Message == "" || out.Error.Type == "" {
		t.Fatalf("status %d, not a whole error object: %q (%v)", response.StatusCode, body, err)
	}
	h := response.Header
	if out.ID == "" || h.Get("Request-Id") != out.ID || h.Get("X-Request-Id") != out.ID {
		t.Errorf("the id is %q, in the headers %q and %q", out.ID, h.Get("Request-Id"), h.Get("X-Request-Id"))
	}
	if h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers of an error: %v", h)
	}
	return out.Error.Type
}

func TestAR5_AliasesOfMessages(t *testing.T) {
	p := serve(t, hello(), nil)
	id := regexp.MustCompile(`msg_[A-Z2-7]+`)
	for path, body := range map[string]string{"/messages": ask, "/messages?beta=true": askLive, "/messages/count_tokens?beta=true": ask} {
		_, want := p.call("POST", "/v1"+path, body, nil)
		if !strings.Contains(want, "input_tokens") {
			t.Errorf("%s: %s", path, want)
		}
		for _, prefix := range []string{"/v1", "", "/v1/v1"} {
			response, got := p.call("POST", prefix+path, body, with("X-Request-Id", "mine"))
			if response.StatusCode != 200 || id.ReplaceAllString(got, "") != id.ReplaceAllString(want, "") || response.Header.Get("Request-Id") != "mine" {
				t.Errorf("%s: %d %s, want %s", prefix+path, response.StatusCode, got, want)
			}
		}
	}
}

func TestKeyForMessages(t *testing.T) {
	p := serve(t, hello(), nil)
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
		if response, body := p.call("POST", path, ask, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("X-Api-Key", testKey)
			r.Header.Set("Anthropic-Version", "2023-06-01")
			r.Header.Set("Anthropic-Beta", "interleaved-thinking-2025-05-14,of-the-future")
			r.Header.Set("Anthropic-Dangerous-Direct-Browser-Access", "true")
		}); response.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
}

// What never reaches a front-end is refused in the dialect of the path.
func TestEM2_RefusalsSpeakTheDialectOfThePath(t *testing.T) {
	p := serve(t, hello(), nil)
	post := func(set func(*http.Request)) func() (*http.Response, string) {
		return func() (*http.Response, string) { return p.call("POST", "/v1/messages?beta=true", ask, set) }
	}
	tests := []struct {
		name   string
		call   func() (*http.Response, string)
		status int
		typ    string
	}{
		{"no key", post(without("Authorization")), 401, "authentication_error"},
		{"wrong key", post(with("Authorization", "Bearer wrong")), 401, "authentication_error"},
		{"foreign host", post(func(r *http.Request) { r.Host = "evil.example" }), 403, "permission_error"},
		{"web page", post(with("Origin", "https://evil.example")), 403, "permission_error"},
		{"no JSON", post(with("Content-Type", "text/plain")), 415, "invalid_request_error"},
		{"wrong method", func() (*http.Response, string) { return p.call("GET", "/messages", "", nil) }, 405, "invalid_request_error"},
		{"not served", func() (*http.Response, string) { return p.call("POST", "/v1/messages/batches", ask, nil) }, 404, "not_found_error"},
		{"not served, alias", func() (*http.Response, string) { return p.call("GET", "/v1/v1/messages/x/results", "", nil) }, 404, "not_found_error"},
		{"bad body", func() (*http.Response, string) { return p.call("POST", "/v1/messages/count_tokens", "{}", nil) }, 400, "invalid_request_error"},
	}
	for _, tt := range tests {
		response, body := tt.call()
		if typ := anthropicType(t, response, body); response.StatusCode != tt.status || typ != tt.typ {
			t.Errorf("%s: %d %s, want %d %s", tt.name, response.StatusCode, typ, tt.status, tt.typ)
		}
	}
	// The list of models is for all dialects: a header tells.
	for path, status := range map[string]int{"/v1/models/none": 404, "/models": 401} {
		response, body := p.call("GET", path, "", func(r *http.Request) {
			r.Header.Set("Anthropic-Version", "2023-06-01")
			if status == 401 {
				r.Header.Del("Authorization")
			}
		})
		if typ := anthropicType(t, response, body); response.StatusCode != status {
			t.Errorf("%s: %d %s", path, response.StatusCode, typ)
		}
	}
	// Names that only look like the route keep the other form.
	response, body := p.call("POST", "/v1/messages2", ask, nil)
	if code := errorCode(t, response, body); code != "route_not_found" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestEM2_LimitsSpeakTheDialectOfThePath(t *testing.T) {
	p := serveOn(t, "127.0.0.1:0", hello(), nil, func(s *Server) { s.maxBody = 100 })
	response, body := p.call("POST", "/v1/messages", `{"model":"`+strings.Repeat("m", 200)+`"}`, nil)
	if typ := anthropicType(t, response, body); response.StatusCode != 413 || typ != "request_too_large" {
		t.Errorf("large: %d %s", response.StatusCode, body)
	}
	broken := serve(t, chattest.Turn{chattest.Panic("boom")}, nil)
	response, body = broken.call("POST", "/v1/messages", ask, nil)
	if typ := anthropicType(t, response, body); response.StatusCode != 500 || typ != "api_error" {
		t.Errorf("panic: %d %s", response.StatusCode, body)
	}
}

// All slots taken is Anthropic's 529. Counting does not need one of them: it
// must go on while models answer, and does not make the proxy look busy.
func TestMessagesBeyondTheLimit(t *testing.T) {
	busy := make(chan int, 10)
	p := serve(t, chattest.Turn{chattest.Text("x"), chattest.Silence()}, func(cfg *Config) {
		cfg.MaxStreams = 1
		cfg.Activity = func(active int) { busy <- active }
	})
	first := p.do(p.request("POST", "/v1/messages", askLive, nil))
	defer first.Body.Close()
	if n := <-busy; n != 1 {
		t.Fatalf("%d active", n)
	}
	response, body := p.call("POST", "/v1/messages", ask, nil)
	if typ := anthropicType(t, response, body); response.StatusCode != 529 || typ != "overloaded_error" || response.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, body := p.call("POST", "/v1/messages/count_tokens", ask, nil); response.StatusCode != 200 || len(busy) != 0 {
		t.Errorf("count: %d %s, %d reports", response.StatusCode, body, len(busy))
	}
	first.Body.Close()
	if n := <-busy; n != 0 {
		t.Errorf("%d active", n)
	}
}

func TestLogOfMessages(t *testing.T) {
	p := serve(t, chattest.Turn{chattest.Fail(chat.Errorf(chat.QuotaSpent, "used up"))}, nil)
	p.call("POST", "/v1/messages", strings.Replace(ask, "hi", "secret words", 1), nil)
	eventually(t, "the request is logged", func() bool { return strings.Contains(p.log.String(), "route=/v1/messages") })
	if got := p.log.String(); !strings.Contains(got, `outcome="quota spent"`) || !strings.Contains(got, "model=fake-model") || strings.Contains(got, "secret words") {
		t.Errorf("log: %s", got)
	}
}
