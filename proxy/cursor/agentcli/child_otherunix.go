//go:build unix && !linux

package agentcli

import "syscall"

// dieWithParent does nothing: without such a signal the child of a killed
// program ends when it next writes into the broken pipe.
func dieWithParent(*syscall.SysProcAttr) {}
