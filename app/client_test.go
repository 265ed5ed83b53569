package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// send sends a chat request and returns the response with its body open.
func send(t *testing.T, base, key, model string, stream bool) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":"hi"}]}`, model, stream)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func post(t *testing.T, base string) *http.Response {
	t.Helper()
	return send(t, base, testKey, "fake-model", true)
}

// statusOf sends a request that is not streamed and returns its status.
func statusOf(t *testing.T, base, key, model string) int {
	t.Helper()
	resp := send(t, base, key, model, false)
	resp.Body.Close()
	return resp.StatusCode
}
