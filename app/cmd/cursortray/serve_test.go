//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

func TestServe(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt, syscall.SIGHUP} {
		s := m.serve("serve", "--demo")
		if host, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://")); host != "127.0.0.1" || port == "0" || err != nil {
			t.Errorf("listening on %q", s.url)
		}
		if status, body := s.ask("POST", "/v1/chat/completions", testKey, question("demo-small", "hello", false)); status != 200 || !strings.Contains(body, `"content":"`) {
			t.Errorf("status %d: %s", status, body)
		}
		s.signal(sig)
		if code := s.wait(); code != 0 {
			t.Errorf("exit code %d after %v", code, sig)
		}
		if answers(s.url) {
			t.Error("the port is still open")
		}
		if line, more := <-s.lines; more {
			t.Errorf("more on standard output: %q", line)
		}
	}
}

// stream starts an answer and returns its reader after the first text.
func (r *running) stream(model string) *bufio.Reader {
	r.t.Helper()
	resp, err := r.send("POST", "/v1/chat/completions", testKey, question(model, "Tell me a story", true))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	body := bufio.NewReader(resp.Body)
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			r.t.Fatalf("status %d, the stream broke before its first text: %v", resp.StatusCode, err)
		}
		if strings.Contains(line, `"content":"`) {
			return body
		}
	}
}

func TestTermLetsARunningAnswerEnd(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey).withAgent(agentsim.Script{Mode: agentsim.Stream, Count: 30, Interval: 50 * time.Millisecond})
	s := m.serve("serve")
	body := s.stream("auto")
	s.signal(syscall.SIGTERM)
	until(t, "the port closes", func() bool { return !answers(s.url) })
	rest, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(rest), `"finish_reason":"stop"`) || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the running answer did not end well: %v\n%s", err, rest)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestRS4_TheSecondSignalCutsAndNoChildIsLeft(t *testing.T) {
	pids := t.TempDir()
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey, agentsim.PidsEnv+"="+pids).
		withAgent(agentsim.Script{Mode: agentsim.Stream, Count: 100_000, Interval: 20 * time.Millisecond})
	s := m.serve("serve")
	body := s.stream("auto")
	s.signal(syscall.SIGTERM)
	until(t, "the port closes", func() bool { return !answers(s.url) })
	began := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the second signal took %v, as if it had waited for the answer", took)
	}
	if rest, _ := io.ReadAll(body); strings.Contains(string(rest), `"finish_reason":"stop"`) {
		t.Error("the answer that was cut looks complete")
	}
	until(t, "the children are gone", func() bool { return len(alive(t, pids)) == 0 })
}

// alive lists the processes of a folder that agentsim fills.
func alive(t *testing.T, pids string) []string {
	t.Helper()
	entries, err := os.ReadDir(pids)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && syscall.Kill(pid, 0) == nil {
			left = append(left, e.Name())
		}
	}
	return left
}

func TestPL1_ABusyPortIsToldWithItsOwner(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	m := newMachine(t, "CURSORTRAY_LOG_LEVEL=error")
	r := m.run("serve", "--demo", "--addr", ln.Addr().String())
	if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, filepath.Base(os.Args[0])) {
		t.Errorf("%+v, want code 1 and one line that names this test", r)
	}
}

func TestPL1_TheSamePortAfterAKill(t *testing.T) {
	m := newMachine(t)
	s := m.serve("serve", "--demo")
	s.signal(syscall.SIGKILL)
	s.wait()
	again := m.serve("serve", "--demo", "--addr", strings.TrimPrefix(s.url, "http://"))
	if again.url != s.url || !strings.Contains(m.must("status"), "running on") {
		t.Errorf("after a kill it is at %s, not %s", again.url, s.url)
	}
}

func TestPL2_TheProxyRunsWithoutABackend(t *testing.T) {
	tests := map[string]struct {
		args   []string
		status int
		want   string
		area   string
	}{
		"nothing":  {[]string{"serve"}, 403, "cursortray login", "login"},
		"no login": {[]string{"serve", "--backend", "agent"}, 403, "cursortray login", "login"},
		"no CLI":   {[]string{"serve", "--backend", "cli"}, 503, "CLI", "backend"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, "CURSORTRAY_API_KEY="+testKey)
			s := m.serve(test.args...)
			status, body := s.ask("POST", "/v1/chat/completions", testKey, question("auto", "hello", false))
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("status %d: %s", status, body)
			}
			until(t, "health names the cause", func() bool {
				_, body := s.ask("GET", "/health", testKey, "")
				return strings.Contains(body, `"problem"`) && strings.Contains(body, test.want)
			})
			if !strings.Contains(m.must("status"), "problem     "+test.area+": ") {
				t.Error("status does not name the problem")
			}
			s.stop()
		})
	}
}

// Without a folder for the control socket the proxy still runs.
func TestPL2_TheProxyRunsWithoutAControlSocket(t *testing.T) {
	m := newMachine(t)
	run := m.dirs().Runtime
	if err := errors.Join(os.MkdirAll(filepath.Dir(run), 0o700), os.WriteFile(run, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve", "--demo"}, {"tray", "--demo"}} {
		s := m.serve(args...)
		if !strings.Contains(s.stderr.String(), "cannot talk to this one") {
			t.Errorf("%v does not say so: %s", args, s.stderr)
		}
		s.stop()
	}
}

func TestServeAnswersThroughTheCLI(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_API_KEY="+testKey).withAgent(agentsim.Script{})
	s := m.serve("serve", "--backend", "cli")
	status, body := s.ask("POST", "/v1/chat/completions", testKey, question("auto", "hello", false))
	if status != 200 || !strings.Contains(body, "simulat") {
		t.Errorf("status %d: %s", status, body)
	}
	s.stop()
}

func TestSE1_RemoteAddressesNeedTheSetting(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_ADDR=0.0.0.0:0", "CURSORTRAY_LOG_LEVEL=error")
	if r := m.run("serve", "--demo"); r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "allow_remote") {
		t.Errorf("%+v, want code 1 and one line that names allow_remote", r)
	}
	m.writeConfig("allow_remote = true\n")
	m.serve("serve", "--demo").stop()
	m.serve("serve", "--demo", "--addr", "0.0.0.0:0").stop()
}

// A second serve beside a running instance works and leaves the first one the
// control socket.
func TestTwoServes(t *testing.T) {
	m := newMachine(t)
	first, second := m.serve("serve", "--demo"), m.serve("serve", "--demo")
	if !strings.Contains(m.must("status"), strings.TrimPrefix(first.url, "http://")) {
		t.Error("status does not show the first one")
	}
	second.stop()
	m.must("quit")
	if code := first.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestTD1_NoTrayIsNoFailure(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_LOG_LEVEL=warn", "CURSORTRAY_API_KEY="+testKey)
	s := m.serve("--demo")
	if status, _ := s.ask("GET", "/v1/models", testKey, ""); status != 200 {
		t.Errorf("status %d", status)
	}
	until(t, "one line that there is no tray", func() bool { return strings.Contains(s.stderr.String(), "there is no tray") })
	if text := s.stderr.String(); strings.Count(text, "\n") != 1 {
		t.Errorf("more than one line: %s", text)
	}

	// TD-3: a second start changes nothing.
	r := m.run("--demo")
	if r.code != 0 || !strings.Contains(r.stdout, "already running") || strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("a second start: %+v", r)
	}
	m.must("quit")
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	m.serve("--demo").stop()
}

func TestStartProxyOff(t *testing.T) {
	m := newMachine(t, "CURSORTRAY_START_PROXY=false")
	s := m.start("--demo")
	until(t, "an instance with a stopped proxy", func() bool { return strings.Contains(m.run("status").stdout, "stopped") })
	m.must("start")
	if line := s.line(); !strings.HasPrefix(line, "listening on ") {
		t.Errorf("says %q", line)
	}
	m.must("quit")
}

func TestSE2_NoSecretAndNoTextInTheLog(t *testing.T) {
	const cursorKey, prompt = "key_0123456789abcdef0123456789", "the-prompt-is-private"
	m := newMachine(t, "CURSORTRAY_LOG_LEVEL=debug", "CURSORTRAY_TOKEN_STORE=file", "CURSOR_API_KEY="+cursorKey).
		withAgent(agentsim.Script{Mode: agentsim.Stream, Count: 3, Size: 16, Stderr: "warning: " + cursorKey + "\n"})
	s := m.serve("serve")
	key := strings.TrimSpace(m.must("key"))
	status, body := s.ask("POST", "/v1/chat/completions", key, question("auto", prompt, false))
	if status != 200 {
		t.Errorf("status %d: %s", status, body)
	}
	s.ask("POST", "/v1/chat/completions", "wrong-"+key, question("auto", prompt, false))
	s.ask("POST", "/v1/chat/completions?key="+key, key, question("no-such-model", prompt, false))
	fresh := strings.TrimSpace(m.must("key", "--new"))
	s.ask("GET", "/health", fresh, "")
	s.stop()
	log := s.stderr.String()
	if !strings.Contains(log, "level=DEBUG") {
		t.Errorf("this test wants a debug log: %s", log)
	}
	for name, secret := range map[string]string{"local key": key, "new key": fresh, "Cursor key": cursorKey, "prompt": prompt} {
		if strings.Contains(log, secret) {
			t.Errorf("the %s is in the log:\n%s", name, log)
		}
	}
}
