//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
)

func program(dir, name string) string { return filepath.Join(dir, name+".exe") }

// binary is a command that npm installed.
func binary(install, name string) string {
	return filepath.Join(install, "node_modules", ".bin", name+".cmd")
}

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // most often it is gone
	}
}

// interrupt ends the process hard: Windows cannot send one process a signal.
func interrupt(p *os.Process) error { return p.Kill() }

// interruptGroup is as near to Ctrl-C as a test gets there.
func interruptGroup(cmd *exec.Cmd) { endGroup(cmd) }
