//go:build unix

package agentcli

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group that the child leads, because the CLI's launcher has
// children of its own.
type group struct{ leader int }

// prepare sets the attributes that the group needs before the start.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// adopt makes the started process the leader of its group.
func adopt(cmd *exec.Cmd) *group { return &group{leader: cmd.Process.Pid} }

// terminate asks the group to end.
func (g *group) terminate() { syscall.Kill(-g.leader, syscall.SIGTERM) }

// kill ends the group, also after its leader is gone.
func (g *group) kill() { syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g *group) close() {}

// signalName names the signal that ended a process, "" for none.
func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
