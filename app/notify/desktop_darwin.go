package notify

import (
	"context"
	"os/exec"
)

func newDesktop() desktop {
	return commands{func(ctx context.Context, n Note) *exec.Cmd {
		return exec.CommandContext(ctx, "osascript", appleScript(n)...)
	}}
}
