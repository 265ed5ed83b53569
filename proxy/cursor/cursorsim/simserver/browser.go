package simserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Confirm does what a person does who opens a login link and presses
// "Log in", over the network as a browser would.
func (s *Sim) Confirm(ctx context.Context, loginURL string) error {
	return s.press(ctx, loginURL, "allow", "You are logged in")
}

// Deny opens a login link and presses "Deny".
func (s *Sim) Deny(ctx context.Context, loginURL string) error {
	return s.press(ctx, loginURL, "deny", "You have denied")
}

// Visit opens a login link and presses nothing.
func (s *Sim) Visit(ctx context.Context, loginURL string) error {
	return s.browse(ctx, http.MethodGet, loginURL, "", `name="decision"`)
}

// Expire makes a login that was visited too old to be confirmed.
func (s *Sim) Expire(loginURL string) error {
	u, err := url.Parse(loginURL)
	if err != nil {
		return errors.New("expire a login: not a URL")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.logins[u.Query().Get("uuid")]
	if l == nil {
		return errors.New("expire a login: nobody has visited it")
	}
	l.state = loginOver
	return nil
}

func (s *Sim) press(ctx context.Context, loginURL, decision, want string) error {
	if err := s.Visit(ctx, loginURL); err != nil {
		return err
	}
	return s.browse(ctx, http.MethodPost, loginURL, url.Values{"decision": {decision}}.Encode(), want)
}

// browse calls a page and looks for a text in it.
func (s *Sim) browse(ctx context.Context, method, page, form, want string) error {
	r, err := http.NewRequestWithContext(ctx, method, page, strings.NewReader(form))
	if err != nil {
		return errors.New("open the login page: not a URL")
	}
	if r.URL.Scheme != "https" {
		return fmt.Errorf("open the login page: its scheme is %q, not https", r.URL.Scheme)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("open the login page: %w", errors.Unwrap(err)) // without the link
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil {
		return fmt.Errorf("read the login page: %w", err)
	}
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		return fmt.Errorf("%s the login page: status %d, and it does not say %q", method, answer.StatusCode, want)
	}
	return nil
}
