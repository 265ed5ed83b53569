package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cursortray/proxy/chat"
)

// copyTimeout bounds a clipboard program that hangs, and is long enough for a
// user who has to unlock the keychain first.
const copyTimeout = 90 * time.Second

func (m *machine) copyBaseURL() {
	url := m.snap.Proxy.BaseURL
	m.copy("Base URL", func(context.Context) (string, error) {
		if url == "" {
			return "", errors.New("the proxy has no port yet")
		}
		return url, nil
	})
}

func (m *machine) copyKey() {
	keys := m.app.cfg.Keys
	m.copy("API key", func(ctx context.Context) (string, error) {
		key, err := keys.Key(ctx)
		if err != nil {
			return "", errors.New(chat.AsError(err).Message)
		}
		return key, nil
	})
}

func (m *machine) copyAnthropicURL() {
	url := anthropicURL(m.snap.Proxy.BaseURL)
	m.copy("Base URL for the Anthropic API", func(context.Context) (string, error) {
		if url == "" {
			return "", errors.New("the proxy has no port yet")
		}
		return url, nil
	})
}

// copyEnvironment copies the names that the two APIs' own client libraries
// read; Claude Code sends the token, the libraries the key.
func (m *machine) copyEnvironment() {
	keys, url := m.app.cfg.Keys, m.snap.Proxy.BaseURL
	m.copy("Environment variables", func(ctx context.Context) (string, error) {
		if url == "" {
			return "", errors.New("the proxy has no port yet")
		}
		key, err := keys.Key(ctx)
		if err != nil {
			return "", errors.New(chat.AsError(err).Message)
		}
		return fmt.Sprintf("export OPENAI_BASE_URL=%s\nexport OPENAI_API_KEY=%s\nexport ANTHROPIC_BASE_URL=%s\nexport ANTHROPIC_AUTH_TOKEN=%s\n",
			url, key, anthropicURL(url), key), nil
	})
}

// anthropicURL is what a client of the Anthropic API is given, which adds the
// version itself.
func anthropicURL(baseURL string) string { return strings.TrimSuffix(baseURL, "/v1") }

func (m *machine) copyLoginURL() {
	url := m.snap.Account.Login.URL
	m.copy("Login link", func(context.Context) (string, error) {
		if url == "" {
			return "", errors.New("no login is under way")
		}
		return url, nil
	})
}

// copy puts what get returns on the clipboard and says so.
func (m *machine) copy(what string, get func(context.Context) (string, error)) {
	m.copyText(get, what+" copied", what+" not copied")
}

// copyText puts what get returns on the clipboard, off the machine's
// goroutine: both a keychain and a clipboard program can take their time.
func (m *machine) copyText(get func(context.Context) (string, error), done, failed string) {
	if m.quitting {
		return
	}
	put := m.app.cfg.Copy
	if put == nil {
		put = func(context.Context, string) error { return errors.New("there is no clipboard") }
	}
	m.spawn(m.work, func(ctx context.Context) func(*machine) {
		ctx, cancel := context.WithTimeout(ctx, copyTimeout)
		defer cancel()
		text, err := get(ctx)
		if err == nil {
			err = put(ctx, text)
		}
		return func(m *machine) {
			if err == nil {
				m.notify(done)
				return
			}
			m.app.cfg.Logger.Warn(failed, "error", err)
			m.notify(failed + ": " + err.Error())
		}
	})
}
