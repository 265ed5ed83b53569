package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"cursortray/app/control"
	"cursortray/keychain"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor"
)

const (
	// identifyTime is for the question who has logged in, whose answer is nice
	// to have.
	identifyTime = 5 * time.Second
	// maxKey is far above the length of an API key or a token.
	maxKey = 16 << 10
)

type loginCmd struct {
	jsonFlag
	NoBrowser       bool   `help:"Print the address of the login page on standard output and open nothing."`
	APIKey          string `name:"api-key" placeholder:"-" help:"With \"-\": log in with an API key from cursor.com that is given on standard input."`
	InsecureStorage bool   `help:"Keep the login and the local keys in private files from now on (token_store = \"file\"), where all programs that run as you can read them. For machines without a keychain."`
}

func (loginCmd) Help() string {
	return `Opens Cursor's login page in the browser and waits until the login is confirmed there. Ctrl-C cancels it. The running instance, if there is one, is logged in at once.
With --json:

    {"state": "in", "email": text, "storage": "keychain", "file" or "memory",
     "warning": why the login will not last}

A login that has ended before the command could is {"state": "out" or "expired", "problem": why}, with exit code 1.

Texts that are not known are absent. With --no-browser as well, a line {"url": text} comes first.`
}

func (c *loginCmd) Run(p *process) error {
	if c.APIKey != "" && c.APIKey != "-" {
		return &usageError{errors.New("other programs can read a command line: use --api-key - and give the key on standard input")}
	}
	if c.APIKey != "" && c.NoBrowser {
		return &usageError{errors.New("--api-key and --no-browser exclude each other")}
	}
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.InsecureStorage {
		if err := p.keepInFile(ctx, s, client); err != nil {
			return err
		}
	}
	var account control.Account
	if c.APIKey != "" {
		account, err = c.withKey(ctx, p, s, client)
	} else {
		account, err = c.withBrowser(ctx, p, s, client)
	}
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("the login was cancelled")
		}
		return err
	}
	if account.State == "out" || account.State == "expired" {
		return c.lost(p, account)
	}
	if c.JSON {
		return p.printJSON(account)
	}
	return p.printLogin(account)
}

// lost tells why a login that has just succeeded has ended since.
func (c *loginCmd) lost(p *process, account control.Account) error {
	reason := account.Problem
	if reason == "" {
		reason = "the login has ended at once: somebody has logged out"
	}
	if c.JSON {
		if err := p.printJSON(account); err != nil {
			return err
		}
	}
	return errors.New(reason)
}

func (p *process) printLogin(account control.Account) error {
	text := "logged in to Cursor"
	if account.Email != "" {
		text += " as " + account.Email
	}
	if account.Warning != "" {
		text += "; " + account.Warning
	}
	_, err := fmt.Fprintln(p.stdout, text)
	return err
}

func (c *loginCmd) withKey(ctx context.Context, p *process, s *setup, client *control.Client) (control.Account, error) {
	key, err := readKey(p.stdin)
	if err != nil {
		return control.Account{}, err
	}
	p.stderr.add(key)
	account, err := client.LoginWithKey(ctx, key)
	if errors.Is(err, control.ErrNotRunning) {
		return p.loginHere(ctx, s, func(a *cursor.Account) error { return a.LoginWithKey(ctx, key) })
	}
	return account, err
}

// readKey reads the first line that is not empty. Some editors begin a file
// with a mark of its encoding.
func readKey(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxKey+1))
	if err != nil {
		return "", fmt.Errorf("the API key cannot be read: %w", err)
	}
	if len(text) > maxKey {
		return "", errors.New("what is on standard input is too long for an API key")
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if key := strings.TrimSpace(line); key != "" {
			return key, nil
		}
	}
	return "", errors.New("there is no API key on standard input")
}

func (c *loginCmd) withBrowser(ctx context.Context, p *process, s *setup, client *control.Client) (control.Account, error) {
	attempt, err := client.Login(ctx, !c.NoBrowser)
	if errors.Is(err, control.ErrNotRunning) {
		return p.loginHere(ctx, s, func(a *cursor.Account) error { return c.confirm(ctx, p, a) })
	}
	if err != nil {
		return control.Account{}, err
	}
	if err := c.show(p, attempt.URL); err != nil {
		return control.Account{}, err
	}
	account, err := client.LoginWait(ctx, attempt.N)
	if ctx.Err() != nil && attempt.Begun {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		err = errors.Join(err, client.LoginCancel(last))
	}
	return account, err
}

// confirm logs in with the browser, without an instance.
func (c *loginCmd) confirm(ctx context.Context, p *process, a *cursor.Account) error {
	attempt := a.StartLogin()
	if err := c.show(p, attempt.URL); err != nil {
		return err
	}
	if !c.NoBrowser {
		silenceBrowser()
		opening, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		defer func() { <-done }()
		defer stop()
		go func() {
			defer close(done)
			if err := openPage(opening, attempt.URL); err != nil && opening.Err() == nil {
				fmt.Fprintln(p.stderr, "cursortray: the browser did not open; open the page yourself")
			}
		}()
	}
	return attempt.Wait(ctx)
}

// show prints the page's address where it is looked for.
func (c *loginCmd) show(p *process, url string) error {
	var err error
	switch {
	case c.NoBrowser && c.JSON:
		out := json.NewEncoder(p.stdout)
		out.SetEscapeHTML(false)
		err = out.Encode(map[string]string{"url": url})
	case c.NoBrowser:
		_, err = fmt.Fprintln(p.stdout, url)
	default:
		_, err = fmt.Fprintf(p.stderr, "Confirm the login in the browser. If it does not open, go to\n%s\n", url)
	}
	return err
}

// loginHere logs in without an instance, into a store that lasts.
func (p *process) loginHere(ctx context.Context, s *setup, login func(*cursor.Account) error) (control.Account, error) {
	a, err := p.ownAccount(s)
	if err != nil {
		return control.Account{}, err
	}
	defer a.close()
	if a.store.Kind() == "memory" {
		return control.Account{}, errors.New("there is no running instance, and token_store = \"memory\" keeps no login for the next one")
	}
	if e := a.cursor.State(ctx).Problem; e != nil && (errors.Is(e, keychain.ErrUnavailable) || errors.Is(e, keychain.ErrLocked)) {
		// Before anybody confirms a login that goes nowhere.
		return control.Account{}, fmt.Errorf("the login could not be saved: %w", e.Err)
	}
	if err := login(a.cursor); err != nil {
		var e *chat.Error
		if errors.As(err, &e) && e.Code == cursor.CodeNotSaved {
			return control.Account{}, fmt.Errorf("the login cannot be saved: %w", errors.Unwrap(e))
		}
		return control.Account{}, err
	}
	asking, cancel := context.WithTimeout(ctx, identifyTime)
	defer cancel()
	_ = a.cursor.Identify(asking)
	return accountHere(ctx, a), nil
}

// accountHere describes the account without an instance.
func accountHere(ctx context.Context, a *account) control.Account {
	state := a.cursor.State(ctx)
	account := control.Account{State: "out", Email: state.Email, Storage: state.Storage}
	switch {
	case state.SignedIn:
		account.State = "in"
		if state.Problem != nil {
			account.Warning = state.Problem.Message
		}
	case state.Problem.Code == cursor.CodeLoginEnded:
		account.State, account.Problem = "expired", state.Problem.Message
	case state.Problem.Code != cursor.CodeLoginRequired:
		account.Problem = state.Problem.Message
	}
	return account
}

// ownAccount makes an account for a command that runs without an instance.
func (p *process) ownAccount(s *setup) (*account, error) {
	logger := p.briefLogger(s)
	a, err := p.newAccount(s, newStore(s), logger)
	if err != nil {
		return nil, err
	}
	a.loggedOut = func() { // the conversations on disk go with the login
		agent := newAgent(s, a, logger)
		agent.Forget()
		if err := agent.Close(); err != nil {
			logger.Warn("the conversations of the ended login could not be dropped", "error", err)
		}
	}
	return a, nil
}

type logoutCmd struct {
	jsonFlag
}

func (logoutCmd) Help() string {
	return `Removes the login from this computer. The proxy goes on; requests fail until somebody logs in again. With --json:

    {"state": "out"}`
}

func (c *logoutCmd) Run(p *process) error {
	s, client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	err = client.Logout(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		err = p.logoutHere(ctx, s)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(control.Account{State: "out"})
	}
	_, err = fmt.Fprintln(p.stdout, "logged out of Cursor")
	return err
}

func (p *process) logoutHere(ctx context.Context, s *setup) error {
	a, err := p.ownAccount(s)
	if err != nil {
		return err
	}
	return errors.Join(a.cursor.Logout(ctx), a.close())
}
