//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// programs builds cursortray and the fake cursor-agent once for all tests.
var programs = sync.OnceValue(func() error {
	cmd := exec.Command("go", "build", "-o", programsDir()+string(filepath.Separator),
		"./app/cmd/cursortray", "./proxy/cursor/cursorsim/cmd/cursor-agent")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
})

// programsDir is where they are. TestMain removes it.
func programsDir() string {
	return filepath.Join(os.TempDir(), "cursortray-e2e-"+strconv.Itoa(os.Getpid()))
}

// buildPrograms returns the paths of cursortray and of the fake cursor-agent.
func buildPrograms(t *testing.T) (cursortray, agent string) {
	t.Helper()
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	return program(programsDir(), "cursortray"), program(programsDir(), "cursor-agent")
}

// result is what a client left when it ended.
type result struct {
	stdout, stderr string
	err            error
	took           time.Duration
}

// command is one run of a client.
type command struct {
	argv  []string
	stdin string
	dir   string
	env   []string
	limit time.Duration
}

// run runs a client with nothing but the given input and environment, and ends
// its whole process group after it, or after its time.
func (c command) run(t *testing.T) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.limit)
	defer cancel()
	cmd, out := c.prepare(ctx)
	start := time.Now()
	err := cmd.Run()
	endGroup(cmd)
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return result{stdout: out.stdout.String(), stderr: out.stderr.String(), err: err, took: time.Since(start)}
}

type output struct{ stdout, stderr bytes.Buffer }

func (c command) prepare(ctx context.Context) (*exec.Cmd, *output) {
	var out output
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	if c.stdin != "" { // else it is closed: some wait for more
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	cmd.Stdout, cmd.Stderr = &out.stdout, &out.stderr
	ownGroup(cmd)
	cmd.Cancel = func() error { endGroup(cmd); return nil }
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	return cmd, &out
}

// cleanEnv is an environment that leads to no file, key or proxy of the person
// who runs the tests.
func cleanEnv(home string, more ...string) []string {
	env := []string{
		"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"),
		"TERM=dumb", "LANG=C.UTF-8", "TMPDIR=" + home,
	}
	for _, name := range []string{"SystemRoot", "ComSpec", "PATHEXT"} { // Windows starts nothing without
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// eventually polls for what another process does.
func eventually(limit time.Duration, ok func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return ok()
		}
	}
	return true
}

// tail keeps the end of an output for a failure's message.
func tail(text string) string {
	const most = 4000
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}
