package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestAR5_AliasesGiveTheSameAnswer(t *testing.T) {
	p := serve(t, hello(), nil)
	p.backend.SetModels([]chat.Model{{ID: "vendor/some.model:v1", Name: "Some"}}, nil)
	id := regexp.MustCompile(`chatcmpl-[A-Z2-7]+|"created":\d+`)
	tests := []struct{ method, path, body string }{
		{"POST", "/chat/completions", ask},
		{"POST", "/chat/completions?beta=true", askLive},
		{"GET", "/models", ""},
		{"GET", "/models?limit=1000&after_id=x", ""},
		{"GET", "/models/vendor/some.model:v1", ""},
		{"GET", "/models/vendor%2Fsome.model%3Av1", ""},
	}
	for _, tt := range tests {
		_, want := p.call(tt.method, "/v1"+tt.path, tt.body, nil)
		for _, prefix := range []string{"/v1", "", "/v1/v1"} {
			response, got := p.call(tt.method, prefix+tt.path, tt.body, nil)
			if response.StatusCode != 200 || id.ReplaceAllString(got, "") != id.ReplaceAllString(want, "") {
				t.Errorf("%s %s: %d %s, want %s", tt.method, prefix+tt.path, response.StatusCode, got, want)
			}
		}
	}
}

func TestAR5_UnknownRoutesAreNamed(t *testing.T) {
	p := serve(t, hello(), nil)
	for _, path := range []string{
		"/v1/embeddings", "/v1/completions", "/v1/audio/speech", "/api/tags", "/v1", "/v1/", "/v1/models/", "/v2/models",
		"/v1/v1/v1/models", "//v1/models", "/v1/../v1/models", "/health/", "/favicon.ico",
	} {
		for _, method := range []string{"GET", "POST"} {
			response, body := p.call(method, path, "", nil)
			if code := errorCode(t, response, body); response.StatusCode != 404 || code != "route_not_found" || !strings.Contains(body, path) {
				t.Errorf("%s %s: %d %s", method, path, response.StatusCode, body)
			}
		}
	}
}

func TestWrongMethods(t *testing.T) {
	p := serve(t, hello(), nil)
	tests := []struct{ method, path, allow string }{
		{"GET", "/v1/chat/completions", "OPTIONS, POST"},
		{"PUT", "/chat/completions", "OPTIONS, POST"},
		{"POST", "/v1/models", "GET, HEAD, OPTIONS"},
		{"DELETE", "/v1/models/x", "GET, HEAD, OPTIONS"},
		{"POST", "/health", "GET, HEAD, OPTIONS"},
		{"GET", "/api/hello", "HEAD, OPTIONS"},
	}
	for _, tt := range tests {
		response, body := p.call(tt.method, tt.path, ask, nil)
		if code := errorCode(t, response, body); response.StatusCode != 405 || code != "method_not_allowed" || response.Header.Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q", tt.method, tt.path, response.StatusCode, response.Header.Get("Allow"))
		}
	}
}

func TestProbes(t *testing.T) {
	p := serve(t, hello(), nil)
	tests := []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/", 200, `{"status":"up"}`},
		{"HEAD", "/", 200, ""},
		{"GET", "/health", 200, `{"status":"up"}`},
		{"HEAD", "/health", 200, ""},
		{"HEAD", "/api/hello", 204, ""},
	}
	for _, tt := range tests {
		for _, key := range []string{"", "wrong"} {
			response, body := p.call(tt.method, tt.path, "", with("Authorization", "Bearer "+key))
			if response.StatusCode != tt.status || body != tt.body {
				t.Errorf("%s %s: %d %q", tt.method, tt.path, response.StatusCode, body)
			}
		}
	}
	if response, body := p.call("HEAD", "/v1/models", "", nil); response.StatusCode != 200 || body != "" {
		t.Errorf("HEAD /v1/models: %d %q", response.StatusCode, body)
	}
}

func TestPL2_HealthNamesTheCause(t *testing.T) {
	missing := &chat.Error{Kind: chat.Unavailable, Code: "cursor_cli_not_found", Message: "cursor-agent is not installed; see cursor.com/cli"}
	p := serve(t, chattest.Turn{chattest.Fail(missing)}, func(cfg *Config) {
		cfg.Health = func(context.Context) Health {
			return Health{Status: "problem", Version: "1", Backend: "cli", Choice: "auto", Reason: "r", Problems: []Problem{{Area: "backend", Message: missing.Message}}}
		}
	})
	p.backend.SetModels(nil, missing)
	response, body := p.call("GET", "/health", "", nil)
	var health Health
	if err := json.Unmarshal([]byte(body), &health); err != nil || response.StatusCode != 200 || health.Status != "problem" || health.Problems[0].Message != missing.Message {
		t.Errorf("health: %d %s %v", response.StatusCode, body, err)
	}
	for _, answer := range []func() (*http.Response, string){
		func() (*http.Response, string) { return p.call("POST", "/v1/chat/completions", ask, nil) },
		func() (*http.Response, string) { return p.call("POST", "/v1/chat/completions", askLive, nil) },
		func() (*http.Response, string) { return p.call("GET", "/v1/models", "", nil) },
	} {
		response, body := answer()
		if code := errorCode(t, response, body); response.StatusCode != 503 || code != "cursor_cli_not_found" || !strings.Contains(body, "not installed") {
			t.Errorf("%d %s", response.StatusCode, body)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	p := serve(t, hello(), nil)
	for sent, echoed := range map[string]bool{"abc-123": true, strings.Repeat("x", 129): false, "two words": false} {
		response, _ := p.call("GET", "/v1/models", "", with("X-Request-Id", sent))
		if got := response.Header.Get("X-Request-Id"); got == "" || (got == sent) != echoed {
			t.Errorf("%q came back as %q", sent, got)
		}
	}
	response, _ := p.call("POST", "/nowhere", "", without("Authorization"))
	if response.Header.Get("X-Request-Id") == "" {
		t.Error("an error without an id")
	}
}

func TestPanicIsJSON(t *testing.T) {
	p := serve(t, chattest.Turn{chattest.Panic("boom")}, func(cfg *Config) {
		cfg.Health = func(context.Context) Health { panic("prompt text") }
	})
	for _, r := range []*http.Request{
		p.request("GET", "/health", "", nil),
		p.request("POST", "/v1/chat/completions", ask, nil),
		p.request("POST", "/v1/chat/completions", askLive, nil),
	} {
		response := p.do(r)
		var body struct{ Error struct{ Code string } }
		if err := json.NewDecoder(response.Body).Decode(&body); err != nil || response.StatusCode != 500 || body.Error.Code != "internal_error" {
			t.Errorf("%s: %d %+v %v", r.URL, response.StatusCode, body, err)
		}
		response.Body.Close()
	}
	if got := p.log.String(); strings.Count(got, "stack=") != 3 || strings.Contains(got, "prompt text") {
		t.Errorf("log: %s", got)
	}
}
