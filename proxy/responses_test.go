package proxy

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

const (
	askResponse     = `{"model":"fake-model","input":"hi"}`
	askResponseLive = `{"model":"fake-model","input":"hi","stream":true}`
)

func TestAR5_AliasesOfResponses(t *testing.T) {
	p := serve(t, hello(), nil)
	changing := regexp.MustCompile(`[a-z]+_[A-Z2-7]{26}|"created_at":\d+`)
	for _, body := range []string{askResponse, askResponseLive} {
		_, want := p.call("POST", "/v1/responses", body, nil)
		for _, path := range []string{"/v1/responses", "/responses", "/v1/v1/responses", "/responses?x=y"} {
			response, got := p.call("POST", path, body, nil)
			if response.StatusCode != 200 || changing.ReplaceAllString(got, "") != changing.ReplaceAllString(want, "") {
				t.Errorf("%s: %d %s, want %s", path, response.StatusCode, got, want)
			}
		}
	}
	if !strings.Contains(p.log.String(), "route=/v1/responses") {
		t.Errorf("log: %s", p.log)
	}
}

func TestResponsesAreNotKept(t *testing.T) {
	p := serve(t, hello(), nil)
	for _, tt := range []struct{ method, path string }{
		{"POST", "/v1/responses/compact"}, {"GET", "/v1/responses/resp_1"}, {"DELETE", "/v1/responses/resp_1"}, {"POST", "/responses/resp_1/cancel"},
	} {
		response, body := p.call(tt.method, tt.path, askResponse, nil)
		if code := errorCode(t, response, body); response.StatusCode != 404 || code != "route_not_found" || !strings.Contains(body, tt.path) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, response.StatusCode, body)
		}
	}
	response, body := p.call("GET", "/v1/responses", "", nil)
	if code := errorCode(t, response, body); response.StatusCode != 405 || code != "method_not_allowed" || response.Header.Get("Allow") != "OPTIONS, POST" {
		t.Errorf("GET: %d %v %s", response.StatusCode, response.Header, body)
	}
}

func TestNoWebSocketForResponses(t *testing.T) {
	p := serve(t, hello(), nil)
	for _, path := range []string{"/v1/responses", "/responses"} {
		response, body := p.call("GET", path, "", func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "WebSocket")
		})
		if code := errorCode(t, response, body); response.StatusCode != 426 || code != "websocket_not_supported" || response.Header.Get("Upgrade") == "" {
			t.Errorf("%s: %d %v %s", path, response.StatusCode, response.Header, body)
		}
	}
	if response, _ := p.call("POST", "/v1/responses", askResponse, with("Upgrade", "h2c")); response.StatusCode != 200 {
		t.Errorf("another upgrade: %d", response.StatusCode)
	}
}

// What the proxy itself refuses has the same form on this route.
func TestResponsesAreGuarded(t *testing.T) {
	p := serve(t, hello(), nil)
	for code, set := range map[string]func(*http.Request){
		"invalid_api_key":        without("Authorization"),
		"forbidden_host":         func(r *http.Request) { r.Host = "evil.example" },
		"unsupported_media_type": with("Content-Type", "text/plain"),
	} {
		response, body := p.call("POST", "/v1/responses", askResponse, set)
		if got := errorCode(t, response, body); got != code || len(p.backend.Requests()) != 0 {
			t.Errorf("%d %s, want %s", response.StatusCode, body, code)
		}
	}
}

func TestRS4_StopEndsAResponseAsFailed(t *testing.T) {
	p := serve(t, chattest.Turn{chattest.Text("Hel"), chattest.Silence()}, func(cfg *Config) { cfg.Grace = 1 })
	done := make(chan string, 1)
	go func() {
		_, body := p.call("POST", "/v1/responses", askResponseLive, nil)
		done <- body
	}()
	eventually(t, "the turn runs", func() bool { return p.backend.Live() == 1 })
	p.close()
	if body := <-done; !strings.Contains(body, "event: response.failed\n") || strings.Contains(body, "response.completed") {
		t.Errorf("the stream ended with %s", body)
	}
}

func TestQuotaOfResponses(t *testing.T) {
	p := serve(t, chattest.Turn{chattest.Fail(&chat.Error{Kind: chat.QuotaSpent, Message: "used up"})}, nil)
	response, body := p.call("POST", "/v1/responses", askResponseLive, nil)
	if code := errorCode(t, response, body); response.StatusCode != 429 || code != "insufficient_quota" || !strings.Contains(body, "usage_limit_reached") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
