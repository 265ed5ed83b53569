package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// script is what the fake cursor-agent does; the names are those of its own
// CURSORSIM_AGENT variable.
type script struct {
	Mode     string        `json:"mode"`
	Count    int           `json:"count"`
	Size     int           `json:"size"`
	Interval time.Duration `json:"interval,omitempty"`
}

// kind is one of the two servers that are compared.
type kind int

const (
	raw kind = iota
	ours
)

func (k kind) String() string { return [...]string{"yardstick", "cursortray"}[k] }

// bench holds the built programs and a folder that is removed in the end.
type bench struct {
	self, cursortray, agent string
	dir                     string
	out                     *table
	rounds                  int
}

const key = "bench-key"

// server is a running server process.
type server struct {
	kind    kind
	cmd     *exec.Cmd
	url     string
	started time.Time
	log     bytes.Buffer
}

// serve starts a server whose children behave as the script says, and returns
// when it accepts requests.
func (b *bench) serve(k kind, s script, env ...string) (*server, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(b.dir, "home")
	if err != nil {
		return nil, err
	}
	var cmd *exec.Cmd
	if k == raw {
		cmd = exec.Command(b.self, "passthrough", b.agent)
	} else {
		cmd = exec.Command(b.cursortray, "serve", "--backend", "cli")
	}
	cmd.Env = append(ownEnv(home), "CURSORTRAY_CURSOR_AGENT="+b.agent, "CURSORTRAY_CLI_MAX_RUNS=64", "CURSORSIM_AGENT="+string(text))
	cmd.Env = append(cmd.Env, env...)
	return start(k, cmd)
}

// ownEnv keeps a program away from the files and settings of the user. The
// guard counts, but does not limit: a bench asks more than people do.
func ownEnv(home string) []string {
	return append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_RUNTIME_DIR="+home,
		"CURSORTRAY_ADDR=127.0.0.1:0", "CURSORTRAY_API_KEY="+key, "CURSORTRAY_LOG_LEVEL=warn",
		"CURSORTRAY_SPEND_RUNS_HOUR=0")
}

// start starts a server and returns when it accepts requests.
func start(k kind, cmd *exec.Cmd) (*server, error) {
	srv := &server{kind: k, cmd: cmd}
	cmd.Stderr = &srv.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	srv.started = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			srv.url = url
			return srv, nil
		}
	}
	srv.stop()
	return nil, fmt.Errorf("%s did not start: %s", cmd.Args[:2], srv.log.String())
}

// stop ends the server and waits for it.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	_ = s.cmd.Wait() // its exit code does not matter here
}

// warm sends one request, so that probes of the CLI are done.
func (b *bench) warm(s *server) error {
	_, err := b.load(job{URL: s.url, Key: key, Streams: 1, Rounds: 1})
	return err
}

// load runs a load process.
func (b *bench) load(j job) (*loadResult, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command(b.self, "load", string(text)).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("load: %s", exit.Stderr)
		}
		return nil, err
	}
	var result loadResult
	return &result, json.Unmarshal(out, &result)
}

// models asks for the model list until it is answered.
func (s *server) models(limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		req, err := http.NewRequest(http.MethodGet, s.url+"/v1/models", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("status %d", resp.StatusCode)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: no model list within %v: %w", s.kind, limit, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// What follows reads Linux's /proc; elsewhere the benchmark says so and ends.

// cpu returns the processor time of the process, without its children.
func cpu(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field, the name, may hold spaces; count from behind it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const utime, stime, tick = 11, 12, 10 * time.Millisecond
	var sum time.Duration
	for _, i := range []int{utime, stime} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// memory returns a size from the process's status, such as VmRSS, in bytes.
func memory(pid int, field string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in the status of process %d", field, pid)
}

// resetPeak makes VmHWM start again from the present size.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

func descriptors(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err
}

// alive tells whether the process runs; one that waits to be collected does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := bytes.TrimSpace(text[bytes.LastIndexByte(text, ')')+1:])
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}
