// Package browsertest drives a headless Chromium, for tests of pages that a
// person would see. It presses what a person would press and reads what is on
// the screen; it is no general driver.
//
// A Browser owns one child process and the goroutine that reads from it. Close
// ends both and waits.
package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Config says how the browser reaches the pages.
type Config struct {
	Proxy  string // URL of an HTTP proxy for everything; "" for none
	KeyPin string // servers with this public key need no valid certificate; see Chromium's --ignore-certificate-errors-spki-list
}

// programs are the names that Chromium has on the systems of our tests.
func programs() []string { return []string{"chromium", "chromium-browser", "google-chrome"} }

// Browser is a running Chromium with one window. Its methods are for one
// goroutine at a time.
type Browser struct {
	cmd     *exec.Cmd
	dir     string   // its profile
	in      *os.File // commands to Chromium
	session string   // of the window
	nextID  int
	read    sync.WaitGroup

	mu      sync.Mutex // guards all below
	answers map[int]chan message
	loads   chan struct{} // one token once a page has loaded
	gone    chan struct{} // closed when Chromium says nothing more
}

// message is one message of Chromium's DevTools protocol, in either direction.
type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Start starts Chromium. It runs until Close, or until ctx ends.
func Start(ctx context.Context, c Config) (*Browser, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	b := &Browser{answers: map[int]chan message{}, loads: make(chan struct{}, 1), gone: make(chan struct{})}
	if b.dir, err = os.MkdirTemp("", "browsertest-"); err != nil {
		return nil, fmt.Errorf("make a profile: %w", err)
	}
	if err := b.launch(ctx, program, c); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	if err := b.openWindow(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func find() (string, error) {
	for _, name := range programs() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("none of %q is installed", programs())
}

// launch starts the process with a pipe in each direction, which Chromium
// expects as its file descriptors 3 and 4.
func (b *Browser) launch(ctx context.Context, program string, c Config) error {
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + b.dir,
		// Containers have neither user namespaces nor much shared memory.
		"--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // no name leaves for a real server
	}
	if c.Proxy != "" {
		args = append(args, "--proxy-server="+c.Proxy)
	}
	if c.KeyPin != "" {
		args = append(args, "--ignore-certificate-errors-spki-list="+c.KeyPin)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start the browser: %w", err)
	}
	out, outTheirs, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("start the browser: %w", err), theirs.Close(), ours.Close())
	}
	b.in = ours
	b.cmd = exec.CommandContext(ctx, program, append(args, "about:blank")...)
	b.cmd.ExtraFiles = []*os.File{theirs, outTheirs}
	b.cmd.WaitDelay = 10 * time.Second
	err = b.cmd.Start()
	_, _ = theirs.Close(), outTheirs.Close()
	if err != nil {
		return errors.Join(fmt.Errorf("start the browser: %w", err), ours.Close(), out.Close())
	}
	b.read.Go(func() { b.listen(out) })
	return nil
}

// listen takes messages until Chromium is gone. Each ends with a zero byte.
func (b *Browser) listen(out *os.File) {
	defer out.Close()
	defer close(b.gone)
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		if m.Method == "Page.loadEventFired" {
			select {
			case b.loads <- struct{}{}:
			default:
			}
		}
		b.mu.Lock()
		answer := b.answers[m.ID]
		delete(b.answers, m.ID)
		b.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// call sends one command and decodes its result into a value, which may be nil.
func (b *Browser) call(ctx context.Context, method string, params, into any) error {
	b.nextID++
	answer := make(chan message, 1)
	b.mu.Lock()
	b.answers[b.nextID] = answer
	b.mu.Unlock()
	text, err := json.Marshal(message{ID: b.nextID, SessionID: b.session, Method: method, Params: params})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(m.Result, into)
	case <-b.gone:
		return fmt.Errorf("%s: the browser is gone", method)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func (b *Browser) openWindow(ctx context.Context) error {
	var target struct{ TargetID string }
	if err := b.call(ctx, "Target.createTarget", map[string]string{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := b.call(ctx, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	return b.call(ctx, "Page.enable", nil, nil)
}

// Close ends the browser and removes its profile. It may be called again.
func (b *Browser) Close() error {
	// Asked to, Chromium ends its own children before it goes; killed, it may
	// leave some behind that still write into the profile.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b.session = "" // the command is for the browser, not for the window
	_ = b.call(ctx, "Browser.close", nil, nil)
	select {
	case <-b.gone:
	case <-ctx.Done():
	}
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait() // nobody asks how it ended
	_ = b.in.Close()
	b.read.Wait()
	return os.RemoveAll(b.dir)
}
