//go:build windows || darwin

package notify

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"cursortray/app"
)

// commandTime bounds a program that shows a note.
const commandTime = 20 * time.Second

// commands shows notes by starting a program for each, which tells nothing of
// clicks.
type commands struct {
	command func(ctx context.Context, n Note) *exec.Cmd
}

func (c commands) clicks() <-chan app.Action { return nil }

func (c commands) close() {}

func (c commands) show(ctx context.Context, n Note) error {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	out, err := c.command(ctx, n).CombinedOutput()
	if err != nil && len(out) > 0 {
		err = errors.Join(err, errors.New(string(out[:min(len(out), 200)])))
	}
	return err
}
