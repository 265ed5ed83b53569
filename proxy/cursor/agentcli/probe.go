package agentcli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"cursortray/proxy/chat"
)

const (
	probeLimit = 5 * time.Second
	maxOutput  = 1 << 20
)

// versionPattern is what --version prints, such as 2026.07.20-8cc9c0b; some
// builds put a time between the date and the hash.
var versionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d{4}\.\d{2}\.\d{2}(-\d{2}-\d{2}-\d{2})?-[0-9a-f]+`)
})

// program is the CLI that was found.
type program struct {
	command
	version string // "" when a chosen program does not tell
	mute    bool   // it does not even end when it is asked for that
}

// noAnswer says that a sub-command did not end in time.
type noAnswer struct {
	command string
	limit   time.Duration
}

func (e *noAnswer) Error() string {
	return fmt.Sprintf("no answer to %s within %v", e.command, e.limit)
}

func (e *noAnswer) chatError() *chat.Error {
	return &chat.Error{
		Kind: chat.Timeout, Code: info(classTimeout).code, Err: e,
		Message: fmt.Sprintf("Cursor's CLI did not answer `cursor-agent %s` within %d seconds. Run that in a terminal to see what it waits for, and try again.",
			e.command, int(e.limit.Seconds())),
	}
}

// output is what a short run of the CLI gave.
type output struct {
	stdout string
	exit   exit
}

// ask runs a sub-command to its end and returns what it printed.
func (b *Backend) ask(ctx context.Context, c command, env []string, limit time.Duration, args ...string) (output, error) {
	waiting := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := b.folders.shared()
	if err != nil {
		return output{}, err
	}
	child, err := b.children.start(launch{command: c, args: args, dir: dir, env: env})
	if err != nil {
		return output{}, err
	}
	defer child.drop()
	defer context.AfterFunc(ctx, func() { child.stop(stopCanceled) })()
	text, err := io.ReadAll(io.LimitReader(child, maxOutput))
	if err == nil {
		select {
		case <-child.over:
			return output{string(text), child.exit()}, nil
		case <-ctx.Done():
		}
	}
	child.stop(stopFinished)
	<-child.over
	switch {
	case waiting.Err() != nil:
		return output{}, waiting.Err()
	case ctx.Err() != nil:
		return output{}, &noAnswer{strings.Join(args, " "), limit}
	}
	if child.stopped() == stopClosing {
		return output{}, errClosed
	}
	return output{}, err
}
