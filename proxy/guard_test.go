package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/chat/chattest"
)

func TestSE1_NobodyElseGetsIn(t *testing.T) {
	p := serve(t, hello(), func(cfg *Config) {
		cfg.Hosts = []string{"host.docker.internal", ""}
		cfg.Origins = []string{"vscode-webview://*", "http://localhost:3000", "http://*", "*", "null"}
	})
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	keyless := func(set func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) { r.Header.Del("Authorization"); set(r) }
	}
	tests := []struct {
		name   string
		set    func(*http.Request)
		status int
		code   string
	}{
		{"loopback", host("127.0.0.1:8765"), 200, ""},
		{"localhost in capitals", host("LocalHost"), 200, ""},
		{"IPv6", host("[::1]:8765"), 200, ""},
		{"IPv6 without port", host("[::1]"), 200, ""},
		{"a name the user added", host("host.docker.internal:8765"), 200, ""},
		{"foreign host", host("evil.example:8765"), 403, "forbidden_host"},
		{"host that begins well", host("localhost.evil.example"), 403, "forbidden_host"},
		{"host that ends well", host("evil-localhost"), 403, "forbidden_host"},
		{"other address", host("127.0.0.2"), 403, "forbidden_host"},
		{"bare IPv6", host("::1"), 403, "forbidden_host"},
		{"odd port", host("localhost:80a"), 403, "forbidden_host"},
		{"nothing but a port", host(":8765"), 403, "forbidden_host"},
		{"host comes before the key", keyless(host("evil.example")), 403, "forbidden_host"},
		{"foreign origin", with("Origin", "https://evil.example"), 403, "forbidden_origin"},
		{"origin null", with("Origin", "null"), 403, "forbidden_origin"},
		{"own origin is a page, too", with("Origin", "http://127.0.0.1:8765"), 403, "forbidden_origin"},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost:3000", "https://evil.example"} }, 403, "forbidden_origin"},
		{"origin that begins well", with("Origin", "http://localhost:3000.evil.example"), 403, "forbidden_origin"},
		{"allowed scheme", with("Origin", "vscode-webview://0a1b"), 200, ""},
		{"allowed origin", with("Origin", "http://localhost:3000"), 200, ""},
		{"allowed origin, cross-site", func(r *http.Request) {
			r.Header.Set("Origin", "http://localhost:3000")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 200, ""},
		{"cross-site", with("Sec-Fetch-Site", "cross-site"), 403, "forbidden_site"},
		{"same-site", with("Sec-Fetch-Site", "same-site"), 403, "forbidden_site"},
		{"same-origin", with("Sec-Fetch-Site", "same-origin"), 200, ""},
		{"typed address", with("Sec-Fetch-Site", "none"), 200, ""},
		{"Node's fetch", with("Sec-Fetch-Mode", "cors"), 200, ""},
		{"no key", without("Authorization"), 401, "invalid_api_key"},
		{"wrong key", with("Authorization", "Bearer nope"), 401, "invalid_api_key"},
		{"key without scheme", with("Authorization", testKey), 401, "invalid_api_key"},
		{"basic", with("Authorization", "Basic "+testKey), 401, "invalid_api_key"},
		{"scheme in small letters", with("Authorization", "bearer "+testKey), 200, ""},
		{"x-api-key", keyless(with("X-Api-Key", testKey)), 200, ""},
		{"api-key", keyless(with("Api-Key", testKey)), 200, ""},
		{"one good key of several", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer old")
			r.Header.Set("X-Api-Key", testKey)
		}, 200, ""},
		{"key in the query", keyless(func(r *http.Request) { r.URL.RawQuery = "key=" + testKey + "&api_key=" + testKey }), 401, "invalid_api_key"},
		{"form", with("Content-Type", "text/plain"), 415, "unsupported_media_type"},
		{"no type", without("Content-Type"), 415, "unsupported_media_type"},
		{"compressed", with("Content-Encoding", "gzip"), 415, "unsupported_media_type"},
		{"type with parameters", with("Content-Type", "application/json; charset=utf-8"), 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(p.backend.Requests())
			response, body := p.call("POST", "/v1/chat/completions", ask, tt.set)
			if response.StatusCode != tt.status {
				t.Fatalf("%d %s, want %d", response.StatusCode, body, tt.status)
			}
			reached := len(p.backend.Requests()) - before
			if tt.status == 200 {
				if reached != 1 {
					t.Error("the request did not reach the back-end")
				}
				return
			}
			if code := errorCode(t, response, body); code != tt.code || reached != 0 {
				t.Errorf("code %s, want %s; %d requests reached the back-end", code, tt.code, reached)
			}
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("refused with %s: %s", name, response.Header.Get(name))
				}
			}
		})
	}
	if got := p.log.String(); strings.Count(got, "stays refused") != 3 {
		t.Errorf("useless patterns are not reported: %s", got)
	}
}

func TestSE1_Preflight(t *testing.T) {
	p := serve(t, hello(), func(cfg *Config) { cfg.Origins = []string{"http://localhost:3000"} })
	preflight := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
			r.Header.Set("Access-Control-Request-Private-Network", "true")
		}
	}
	response, body := p.call("OPTIONS", "/v1/chat/completions", "", preflight("http://localhost:3000"))
	if response.StatusCode != 204 || body != "" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":          "http://localhost:3000",
		"Access-Control-Allow-Methods":         "GET, POST, OPTIONS",
		"Access-Control-Allow-Headers":         "authorization,content-type",
		"Access-Control-Max-Age":               "600",
		"Access-Control-Allow-Private-Network": "true",
		"Access-Control-Allow-Credentials":     "",
		"Vary":                                 "Origin",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if response, body := p.call("OPTIONS", "/v1/chat/completions", "", preflight("https://evil.example")); response.StatusCode != 403 || errorCode(t, response, body) != "forbidden_origin" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	for path, allow := range map[string]string{"/v1/models": "GET, HEAD, OPTIONS", "/nowhere": "GET, HEAD, OPTIONS, POST"} {
		response, _ := p.call("OPTIONS", path, "", without("Authorization"))
		if response.StatusCode != 204 || response.Header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s without an origin: %d, Allow %q", path, response.StatusCode, response.Header.Get("Allow"))
		}
	}
	// The answer itself carries the header, too, also when it is an error.
	for _, set := range []func(*http.Request){
		with("Origin", "http://localhost:3000"),
		func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000"); r.Header.Del("Authorization") },
	} {
		response, _ := p.call("POST", "/v1/chat/completions", ask, set)
		if response.Header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" {
			t.Errorf("%d: %v", response.StatusCode, response.Header)
		}
	}
}

func TestKeyThatCannotBeRead(t *testing.T) {
	locked := &chat.Error{Kind: chat.Unavailable, Code: "keychain_locked", Message: "the keychain is locked; unlock it"}
	p := serve(t, hello(), func(cfg *Config) {
		cfg.Authorize = func(context.Context, string) (Caller, bool, error) { return Caller{}, false, locked }
	})
	response, body := p.call("GET", "/v1/models", "", nil)
	if code := errorCode(t, response, body); response.StatusCode != 503 || code != "keychain_locked" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, body := p.call("GET", "/health", "", nil); response.StatusCode != 200 || body != `{"status":"up"}` {
		t.Errorf("health: %d %s", response.StatusCode, body)
	}
	if response, _ := p.call("GET", "/v1/models", "", without("Authorization")); response.StatusCode != 401 {
		t.Errorf("without a key: %d", response.StatusCode)
	}
}

func TestSE2_NothingSecretIsLogged(t *testing.T) {
	secrets := []string{testKey, "wrong-key-999", "PROMPT-TEXT", "SYSTEM-TEXT", "ANSWER-TEXT", "THOUGHT-TEXT", "ARGUMENT-TEXT", "IMAGE-TEXT", "PANIC-TEXT", "CAUSE-TEXT", "ROLE-TEXT"}
	turns := []chattest.Turn{
		{chattest.Reasoning("THOUGHT-TEXT"), chattest.Text("ANSWER-TEXT"), chattest.Call("c", "f", `{"x":"ARGUMENT-TEXT"}`), chattest.Finish(chat.ToolCalls)},
		{chattest.Text("ANSWER-TEXT"), chattest.Fail(&chat.Error{Kind: chat.BadGateway, Message: "broke off", Err: errors.New("CAUSE-TEXT")})},
		{chattest.Text("ANSWER-TEXT"), chattest.Panic("PANIC-TEXT")},
	}
	backend := chattest.New(turns...)
	p := serve(t, nil, func(cfg *Config) { cfg.Backend = backend })
	request := func(stream string) string {
		return `{"model":"fake-model",` + stream + `"odd":"PROMPT-TEXT","messages":[{"role":"system","content":"SYSTEM-TEXT"},{"role":"user","content":[{"type":"text","text":"PROMPT-TEXT"}]}],
			"tools":[{"type":"function","function":{"name":"f","description":"PROMPT-TEXT"}}]}`
	}
	for range turns {
		p.call("POST", "/v1/chat/completions", request(""), nil)
		p.call("POST", "/v1/chat/completions", request(`"stream":true,`), nil)
	}
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"ROLE-TEXT","content":"PROMPT-TEXT"}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://IMAGE-TEXT"}}]}]}`,
		`{"PROMPT-TEXT`,
	} {
		if response, got := p.call("POST", "/v1/chat/completions", body, nil); response.StatusCode != 400 {
			t.Errorf("%d %s", response.StatusCode, got)
		}
	}
	p.call("GET", "/v1/models", "", with("Authorization", "Bearer wrong-key-999"))
	p.call("GET", "/v1/models?key="+testKey, "", nil)
	p.call("GET", "/"+testKey, "", nil)
	p.close()
	log := p.log.String()
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %s:\n%s", secret, log)
		}
	}
	for _, want := range []string{"outcome=ok", "outcome=invalid_api_key", "outcome=route_not_found", "model=fake-model", "level=DEBUG"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost:1", "[::1]:1", "::1", "[", "]", "[]:", "a:b:c", "[::1]x", ":", "[::1]:"} {
		f.Add(s)
	}
	g := newGuard(nil, nil, slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, host string) {
		if !g.hostAllowed(host) {
			return
		}
		lower := strings.ToLower(host)
		for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
			if rest, ok := strings.CutPrefix(lower, name); ok && (rest == "" || rest[0] == ':' && strings.Trim(rest[1:], "0123456789") == "") {
				return
			}
		}
		t.Errorf("%q is allowed", host)
	})
}

// An address that the user chose is a name for the proxy like 127.0.0.1; that
// address as the Host of a connection to another one is not.
func TestSE1_TheAddressOfTheConnection(t *testing.T) {
	g := newGuard(nil, nil, slog.New(slog.DiscardHandler))
	for _, tt := range []struct {
		local, host string
		allowed     bool
	}{
		{"192.0.2.7:8765", "192.0.2.7:8765", true},
		{"192.0.2.7:8765", "192.0.2.7", true},
		{"192.0.2.7:8765", "192.0.2.8:8765", false},
		{"192.0.2.7:8765", "192.0.2.7.evil.example", false},
		{"[::ffff:192.0.2.7]:8765", "192.0.2.7:8765", true},
		{"[2001:db8::7]:8765", "[2001:db8::7]:8765", true},
		{"[2001:db8::7]:8765", "[2001:db8::8]:8765", false},
	} {
		local := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(tt.local))
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(local))
		r := (&http.Request{Host: tt.host, Header: http.Header{}}).WithContext(ctx)
		if code, _ := g.check(r); (code == "") != tt.allowed {
			t.Errorf("Host %s on a connection to %s: code %q, allowed should be %v", tt.host, tt.local, code, tt.allowed)
		}
	}
}
