//go:build unix

package agentsim

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }

// dieBy ends the process by a signal.
func dieBy(name string) {
	sig := syscall.SIGKILL
	if name == "SIGTERM" {
		sig = syscall.SIGTERM
	}
	syscall.Kill(os.Getpid(), sig)
	select {} // the signal is on its way
}

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// alive does not count a zombie that its parent has yet to collect: such a
// process does nothing any more.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
