//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

const localKey = "e2e-local-key-7f3a"

// server is a running "cursortray serve".
type server struct {
	port
	pids    string // folder that marks the fake cursor-agent's processes
	records string // file that lists its runs
	cmd     *exec.Cmd
	log     *lockedBuffer
}

// serve starts "cursortray serve" with args in a home of its own and waits
// until it accepts requests. It is stopped, and must stop well, at t's end.
func serve(t *testing.T, cursortray string, env []string, args ...string) *server {
	t.Helper()
	// Not t.TempDir: the control socket's path must stay short.
	home, err := os.MkdirTemp("", "ct-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return serveIn(t, home, cursortray, env, args...)
}

// serveIn is serve in a home where commands may have run before.
func serveIn(t *testing.T, home, cursortray string, env []string, args ...string) *server {
	t.Helper()
	s := &server{pids: filepath.Join(home, "pids"), records: filepath.Join(home, "records.jsonl"), log: &lockedBuffer{}}
	s.key = localKey
	for _, dir := range []string{runtimeDir(home), s.pids} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.cmd = exec.Command(cursortray, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = append(serverEnv(home), append(env, agentsim.PidsEnv+"="+s.pids, agentsim.RecordEnv+"="+s.records)...)
	s.cmd.Stderr = s.log
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	s.url = listening(t, stdout, s.log)
	return s
}

func runtimeDir(home string) string { return filepath.Join(home, "run") }

// serverEnv is the environment of cursortray in that home.
func serverEnv(home string) []string {
	return cleanEnv(home, "XDG_RUNTIME_DIR="+runtimeDir(home), "CURSORTRAY_API_KEY="+localKey, "CURSORTRAY_LOG_LEVEL=debug")
}

// listening returns the address that serve prints when it accepts requests.
func listening(t *testing.T, stdout io.Reader, log *lockedBuffer) string {
	t.Helper()
	found := make(chan string, 1)
	go func() { // ends with the process, whose end the test waits for
		defer close(found)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				found <- url
			}
		}
	}()
	select {
	case url := <-found:
		if strings.HasPrefix(url, "http://127.0.0.1:") {
			return url
		}
		t.Fatalf("serve ended or printed the address %q\n%s", url, tail(log.String()))
	case <-time.After(30 * time.Second):
		t.Fatalf("serve accepts no requests after 30 s\n%s", tail(log.String()))
	}
	return ""
}

// stop interrupts the server and checks that it leaves nothing behind.
func (s *server) stop(t *testing.T) {
	if err := interrupt(s.cmd.Process); err != nil {
		t.Errorf("interrupt serve: %v", err)
	}
	late := time.AfterFunc(20*time.Second, func() {
		t.Error("serve still runs 20 s after the interrupt")
		s.cmd.Process.Kill()
	})
	err := s.cmd.Wait()
	late.Stop()
	if err != nil {
		t.Errorf("serve ended with %v", err)
	}
	s.checkNoAgents(t, "the end of serve")
	if log := s.log.String(); strings.Contains(log, localKey) {
		t.Error("the log holds the local key")
	}
	if t.Failed() {
		t.Logf("log of serve:\n%s", tail(s.log.String()))
	}
}

// checkNoAgents fails t if a process of the fake cursor-agent is still there.
func (s *server) checkNoAgents(t *testing.T, after string) {
	t.Helper()
	if !eventually(2*time.Second, func() bool { return s.agents(t) == 0 }) {
		t.Errorf("%d cursor-agent processes are left 2 s after %s", s.agents(t), after)
	}
}

func (s *server) agents(t *testing.T) int {
	t.Helper()
	n, err := agentsim.LiveProcesses(s.pids)
	if err != nil {
		t.Errorf("count cursor-agent processes: %v", err)
	}
	return n
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
