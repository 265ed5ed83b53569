//go:build e2e && unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func program(dir, name string) string { return filepath.Join(dir, name) }

// binary is a command that npm installed.
func binary(install, name string) string { return filepath.Join(install, "node_modules", ".bin", name) }

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often there is nobody left
	}
}

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

// interruptGroup is Ctrl-C in a terminal.
func interruptGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
