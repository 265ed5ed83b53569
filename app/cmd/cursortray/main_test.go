//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cursortray/app/config"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// The tests run the real program: this test binary, started again under the
// name cursortray, and as the fake CLI under the name cursor-agent.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "cursortray":
		main()
	case "cursor-agent":
		os.Exit(agentsim.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it); got:\n%s", path, got)
	}
}

const (
	testKey = "ct-the-key-of-the-tests"
	// patient is how long a test waits for a real process on a busy machine.
	patient = 30 * time.Second
)

// machine is a computer with nothing on it: no settings, no desktop, no
// keychain, no Cursor.
type machine struct {
	t    *testing.T
	home string
	env  []string
	bin  string // the program, if it was moved
}

func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	// Short, because the control socket's path has a limit.
	home, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	m := &machine{t: t, home: home, env: []string{
		"HOME=" + home,
		"PATH=" + filepath.Join(home, "bin"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"),
		"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(home, "no-bus"),
		"CURSORTRAY_ADDR=127.0.0.1:0",
		// The race detector otherwise sleeps for a second at each exit.
		"GORACE=atexit_sleep_ms=0",
	}}
	m.env = append(m.env, env...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "run"), 0o700), os.MkdirAll(bin, 0o700), os.Symlink(self, filepath.Join(bin, "cursortray"))); err != nil {
		t.Fatal(err)
	}
	return m
}

// withAgent installs the fake CLI.
func (m *machine) withAgent(script agentsim.Script) *machine {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(m.home, "bin", "cursor-agent")); err != nil {
		m.t.Fatal(err)
	}
	m.env = append(m.env, script.Environ())
	return m
}

// set changes an environment variable for what is run next.
func (m *machine) set(name, value string) {
	for i, pair := range m.env {
		if strings.HasPrefix(pair, name+"=") {
			m.env[i] = name + "=" + value
			return
		}
	}
	m.env = append(m.env, name+"="+value)
}

// dirs are where the program looks, on whatever system this is.
func (m *machine) dirs() config.Dirs {
	m.t.Helper()
	dirs, err := config.Folders(func(name string) string {
		for _, pair := range m.env {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return dirs
}

func (m *machine) configFile() string { return filepath.Join(m.dirs().Config, "config.toml") }

func (m *machine) writeConfig(text string) {
	m.t.Helper()
	path := m.configFile()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patient)
	m.t.Cleanup(cancel)
	program := m.bin
	if program == "" {
		program = filepath.Join(m.home, "bin", "cursortray")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = m.env
	cmd.Dir = m.home
	return cmd
}

// result is what a command that has ended left.
type result struct {
	stdout, stderr string
	code           int
}

func (m *machine) run(args ...string) result {
	m.t.Helper()
	cmd := m.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command that has to succeed and returns its standard output.
func (m *machine) must(args ...string) string {
	m.t.Helper()
	r := m.run(args...)
	if r.code != 0 {
		m.t.Fatalf("%v: exit code %d, %s", args, r.code, r.stderr)
	}
	return r.stdout
}

// running is a command that goes on.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // http://127.0.0.1:PORT
	lines  chan string
	stderr *buffer
	ended  chan struct{}
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs a command in the background.
func (m *machine) start(args ...string) *running {
	m.t.Helper()
	r := &running{t: m.t, cmd: m.command(args...), lines: make(chan string, 16), stderr: &buffer{}, ended: make(chan struct{})}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	r.cmd.Stderr = r.stderr
	if err := r.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			r.lines <- scan.Text()
		}
		close(r.lines)
		r.cmd.Wait()
	}()
	m.t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
		if m.t.Failed() {
			m.t.Logf("%v said:\n%s", args, r.stderr)
		}
	})
	return r
}

// serve starts a command and waits until it says where it listens.
func (m *machine) serve(args ...string) *running {
	m.t.Helper()
	r := m.start(args...)
	line := r.line()
	url, ok := strings.CutPrefix(line, "listening on ")
	if !ok {
		m.t.Fatalf("%v: first line %q\n%s", args, line, r.stderr)
	}
	r.url = url
	return r
}

// line returns the next line of standard output.
func (r *running) line() string {
	r.t.Helper()
	select {
	case line, ok := <-r.lines:
		if !ok {
			<-r.ended
			r.t.Fatalf("ended with code %d: %s", r.cmd.ProcessState.ExitCode(), r.stderr)
		}
		return line
	case <-time.After(patient):
		r.t.Fatalf("says nothing: %s", r.stderr)
	}
	return ""
}

func (r *running) signal(sig os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

// wait returns the exit code.
func (r *running) wait() int {
	r.t.Helper()
	select {
	case <-r.ended:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(patient):
		r.t.Fatalf("does not end: %s", r.stderr)
	}
	return 0
}

// stop ends it the orderly way.
func (r *running) stop() {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		r.t.Errorf("exit code %d after SIGTERM", code)
	}
}

// until waits for something a process does by itself.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patient); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patient, what)
		}
	}
}

// ask sends a request with the key and returns status and body.
func (r *running) ask(method, path, key, body string) (int, string) {
	r.t.Helper()
	resp, err := r.send(method, path, key, body)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (r *running) send(method, path, key, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patient}
	return client.Do(req)
}

// question is a chat request.
func question(model, text string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":%q}]}`, model, stream, text)
}

// answers says whether something listens at the URL.
func answers(url string) bool {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
	if err == nil {
		conn.Close()
	}
	return err == nil
}
