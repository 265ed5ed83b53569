package notify

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

func newDesktop() desktop {
	return commands{func(ctx context.Context, n Note) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "powershell.exe", "-NoProfile", "-NonInteractive", "-Command", "-")
		cmd.Stdin = strings.NewReader(toastScript)
		cmd.Env = append(os.Environ(), toastTitle+"="+n.Title, toastBody+"="+n.Body)
		cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NO_WINDOW}
		return cmd
	}}
}
