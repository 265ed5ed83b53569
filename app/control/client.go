package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"cursortray/proxy/chat"
)

// ErrNotRunning says that no instance answers.
var ErrNotRunning = errors.New("no instance is running")

// Client talks to the running instance.
type Client struct{ http http.Client }

// NewClient returns a client for the instance that holds dir. Whether there is
// one shows at the first call: every method returns ErrNotRunning if not. An
// error that the instance reports is a *chat.Error.
func NewClient(dir string) *Client {
	path := socketPath(dir)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	// A connection per call: the client has no goroutine between calls.
	return &Client{http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Status asks how the instance is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, http.MethodGet, "/status")
}

// Start opens the proxy's port and returns how that went.
func (c *Client) Start(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, http.MethodPost, "/do/start")
}

// Stop closes the proxy's port and returns how that went.
func (c *Client) Stop(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, http.MethodPost, "/do/stop")
}

// Look tells the instance that what it shows was changed by others.
func (c *Client) Look(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/do/look")
	return err
}

// quitPoll is how often Quit looks whether the instance is gone.
const quitPoll = 20 * time.Millisecond

// Quit ends the instance and returns when it is gone, or ctx's error.
func (c *Client) Quit(ctx context.Context) error {
	if _, err := call[struct{}](ctx, c, http.MethodPost, "/do/quit"); err != nil {
		return err
	}
	tick := time.NewTicker(quitPoll)
	defer tick.Stop()
	for {
		if _, err := c.Status(ctx); errors.Is(err, ErrNotRunning) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cursortray is still ending: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// Key returns the local key.
func (c *Client) Key(ctx context.Context) (string, error) {
	body, err := call[keyBody](ctx, c, http.MethodGet, "/key")
	return body.Key, err
}

// NewKey replaces the local key.
func (c *Client) NewKey(ctx context.Context) (string, error) {
	body, err := call[keyBody](ctx, c, http.MethodPost, "/key")
	return body.Key, err
}

// Login begins a login with the browser in the instance, or joins the one that
// is under way. The instance opens the page if browser is set.
func (c *Client) Login(ctx context.Context, browser bool) (Attempt, error) {
	path := "/login"
	if !browser {
		path += "?browser=no"
	}
	return call[Attempt](ctx, c, http.MethodPost, path)
}

// LoginWait returns when the attempt with that number is over.
func (c *Client) LoginWait(ctx context.Context, attempt int) (Account, error) {
	return call[Account](ctx, c, http.MethodGet, fmt.Sprintf("/login?attempt=%d", attempt))
}

// LoginCancel ends the attempt that is under way.
func (c *Client) LoginCancel(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, http.MethodDelete, "/login")
	return err
}

// LoginWithKey logs the instance in with an API key.
func (c *Client) LoginWithKey(ctx context.Context, key string) (Account, error) {
	return send[Account](ctx, c, http.MethodPost, "/login/key", keyBody{key})
}

// KeepInFile makes the instance keep the login and the local keys in private
// files.
func (c *Client) KeepInFile(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/login/file")
	return err
}

// Logout logs the instance out.
func (c *Client) Logout(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/logout")
	return err
}

// Usage asks how much of the plan is used; fresh asks Cursor in any case.
func (c *Client) Usage(ctx context.Context, fresh bool) (Usage, error) {
	path := "/usage"
	if fresh {
		path += "?fresh=yes"
	}
	return call[Usage](ctx, c, http.MethodGet, path)
}

// Models lists the models that the instance offers.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	return call[[]Model](ctx, c, http.MethodGet, "/models")
}

// SetDefaultModel makes a model the one of requests that name none, and returns
// the list with the mark on it.
func (c *Client) SetDefaultModel(ctx context.Context, name string) ([]Model, error) {
	return send[[]Model](ctx, c, http.MethodPost, "/models/default", modelBody{name})
}

const maxAnswer = 8 << 20

func call[T any](ctx context.Context, c *Client, method, path string) (T, error) {
	return send[T](ctx, c, method, path, nil)
}

// send makes a call with a body, unless that is nil.
func send[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var value T
	var text io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return value, err
		}
		text = bytes.NewReader(encoded)
	}
	// The host is for form's sake: the connection goes to the socket.
	req, err := http.NewRequestWithContext(ctx, method, "http://cursortray"+path, text)
	if err != nil {
		return value, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if gone(err) {
			return value, ErrNotRunning
		}
		return value, fmt.Errorf("ask the running instance: %w", err)
	}
	defer resp.Body.Close()
	answer := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode != http.StatusOK {
		var f failure
		if answer.Decode(&f) != nil || f.Message == "" {
			return value, fmt.Errorf("the running instance answered %s to %s; it may be of another version", resp.Status, path)
		}
		return value, &chat.Error{Kind: f.Kind, Code: f.Code, Message: f.Message}
	}
	if err := answer.Decode(&value); err != nil {
		return value, fmt.Errorf("read the running instance's answer: %w", err)
	}
	return value, nil
}

// gone tells the errors of a socket that nobody holds from others: no file, a
// file that a killed process left, or an instance that ended during the call.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.EOF) || nobodyThere(err)
}
