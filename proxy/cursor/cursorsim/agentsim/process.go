package agentsim

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// forgotten is when a held process ends by itself, so that a failing test
// leaves nothing behind for ever.
const forgotten = 2 * time.Minute

// hold stays alive and silent until somebody ends the process.
func hold() {
	time.Sleep(forgotten)
	os.Exit(0)
}

// markProcess leaves a file named by the process id.
func markProcess(dir string) error {
	if dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600)
}

// LiveProcesses returns how many of the processes marked in dir still run.
func LiveProcesses(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	live := 0
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && alive(pid) {
			live++
		}
	}
	return live, nil
}

// startGrandchild starts a process that holds the standard output open. It is
// marked before this returns, so that nobody misses it.
func startGrandchild(parent Script, stdout io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	script := Script{Mode: Hold, IgnoreTerm: parent.IgnoreTerm}
	cmd.Env = append(os.Environ(), script.Environ())
	if f, ok := stdout.(*os.File); ok {
		cmd.Stdout = f
	}
	if parent.Detach {
		detach(cmd)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start grandchild: %w", err)
	}
	if dir := os.Getenv(PidsEnv); dir != "" {
		return os.WriteFile(filepath.Join(dir, strconv.Itoa(cmd.Process.Pid)), nil, 0o600)
	}
	return nil
}
