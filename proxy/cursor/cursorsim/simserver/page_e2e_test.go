//go:build e2e

package simserver

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/browsertest"
)

// The login page in a real browser, led here by the proxy like any program.
func TestLoginPageInChromium(t *testing.T) {
	s := start(t, Options{})
	c := newClient(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	browser, err := browsertest.Start(ctx, browsertest.Config{Proxy: s.ProxyURL(), KeyPin: s.KeyPin()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	}()
	read := func() string {
		t.Helper()
		text, err := browser.Text(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, tc := range []struct {
		button, says string
		status       int
	}{
		{"Log in", "You are logged in", http.StatusOK},
		{"Deny", "You have denied", http.StatusForbidden},
	} {
		t.Run(tc.button, func(t *testing.T) {
			a := newAttempt()
			if err := browser.Open(ctx, a.url); err != nil {
				t.Fatal(err)
			}
			if text := read(); !strings.Contains(text, "ada@example.com") || !strings.Contains(text, "simulation") {
				t.Errorf("the page says: %s", text)
			}
			c.do(http.MethodGet, a.poll, "", "").want(t, 404)
			if err := browser.Press(ctx, tc.button); err != nil {
				t.Fatal(err)
			}
			if text := read(); !strings.Contains(text, tc.says) {
				t.Errorf("the page says: %s", text)
			}
			c.do(http.MethodGet, a.poll, "", "").want(t, tc.status)
		})
	}
	if err := browser.Press(ctx, "Buy"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	if err := browser.Open(ctx, "https://example.com/"); err == nil {
		t.Error("a page of another server was opened")
	}
	wantRules(t, s)
}
