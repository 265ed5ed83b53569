package agentcli

import "syscall"

// dieWithParent lets the kernel end the child when this program is killed. The
// signal comes when the starting thread ends; Go ends threads only under locked
// goroutines, and none of those starts a child.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
