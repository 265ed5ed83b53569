package proxy

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// editorsKeys lets the test's key in, and those of two editors, one of which is
// switched off.
func editorsKeys(cfg *Config) {
	cfg.Authorize = func(_ context.Context, key string) (Caller, bool, error) {
		switch key {
		case testKey:
			return Caller{}, true, nil
		case "codex-key":
			return Caller{Editor: "codex"}, true, nil
		case "zed-key":
			return Caller{Editor: "zed", Off: true}, true, nil
		}
		return Caller{}, false, nil
	}
}

func TestTheBackendLearnsWhoAsks(t *testing.T) {
	p := serve(t, hello(), editorsKeys)
	for path, want := range map[string]chat.Client{
		"/v1/chat/completions": {Dialect: chat.DialectChat},
		"/v1/responses":        {Dialect: chat.DialectResponses},
		"/v1/messages":         {Dialect: chat.DialectMessages},
	} {
		body := ask
		if path == "/v1/responses" {
			body = `{"model":"fake","input":"hi","store":false}`
		}
		for key, editor := range map[string]string{testKey: "", "codex-key": "codex"} {
			want.Key = editor
			if response, text := p.call("POST", path, body, with("Authorization", "Bearer "+key)); response.StatusCode != 200 {
				t.Fatalf("%s: %d %s", path, response.StatusCode, text)
			}
			if got := p.backend.Last().Client; got != want {
				t.Errorf("%s with the key of %q: %+v, want %+v", path, editor, got, want)
			}
		}
	}
	if log := p.log.String(); !strings.Contains(log, "editor=codex") || strings.Contains(log, "codex-key") {
		t.Errorf("the log should name the editor and no key: %s", log)
	}
}

func TestAnEditorThatIsSwitchedOffIsToldSo(t *testing.T) {
	p := serve(t, hello(), editorsKeys)
	off := with("Authorization", "Bearer zed-key")
	for _, path := range []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens"} {
		response, text := p.call("POST", path, ask, off)
		if response.StatusCode != 403 || !strings.Contains(text, "switched off for zed") || !strings.Contains(text, "cursortray setup zed --on") {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
		if messages := strings.HasPrefix(path, "/v1/messages"); !messages && !strings.Contains(text, `"code":"editor_switched_off"`) {
			t.Errorf("%s: no code: %s", path, text)
		} else if messages && anthropicType(t, response, text) != "permission_error" {
			t.Errorf("%s: %s", path, text)
		}
	}
	if response, text := p.call("GET", "/v1/models", "", off); response.StatusCode != 403 {
		t.Errorf("models: %d %s", response.StatusCode, text)
	}
	// Its key is worth nothing on the routes that tell more to those with one.
	if _, text := p.call("GET", "/health", "", off); strings.Contains(text, "version") {
		t.Errorf("health: %s", text)
	}
	if p.backend.Last() != nil {
		t.Error("the back-end was asked")
	}
}

// Keys of editors end with a restart where nothing can keep them, and with
// damage to what keeps them: the main key would be the wrong remedy.
func TestAnEditorsKeyThatHasEnded(t *testing.T) {
	p := serve(t, hello(), editorsKeys)
	for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
		response, text := p.call("POST", path, ask, with("Authorization", "Bearer ended"))
		if response.StatusCode != 401 || !strings.Contains(text, "set it up again") {
			t.Errorf("%s: %d %s", path, response.StatusCode, text)
		}
	}
}

// Some clients send two keys in two headers; the one of ours counts.
func TestAnEditorsKeyBesideAForeignOne(t *testing.T) {
	p := serve(t, hello(), editorsKeys)
	if response, text := p.call("POST", "/v1/messages", ask, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer sk-foreign")
		r.Header.Set("X-Api-Key", "codex-key")
	}); response.StatusCode != 200 || p.backend.Last().Client.Key != "codex" {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}
