package agentcli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
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
}

// output is what a short run of the CLI gave.
type output struct {
	stdout string
	exit   exit
}

// ask runs a sub-command to its end and returns what it printed.
func (b *Backend) ask(ctx context.Context, c command, env []string, limit time.Duration, args ...string) (output, error) {
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
	if ctx.Err() != nil {
		return output{}, ctx.Err()
	}
	if child.stopped() == stopClosing {
		return output{}, errClosed
	}
	return output{}, err
}

// locate returns the CLI, searching for it at first use and again after forget.
func (b *Backend) locate(ctx context.Context) (program, *chat.Error) {
	if p := b.found.Load(); p != nil {
		return *p, nil
	}
	if err := b.locating.acquire(ctx); err != nil {
		return program{}, chat.AsError(err)
	}
	defer b.locating.release()
	if p := b.found.Load(); p != nil {
		return *p, nil
	}
	for _, c := range candidates(thisMachine(b.env), b.config.Binary) {
		p, ok, err := b.probe(ctx, c)
		if err != nil {
			return program{}, err
		}
		if ok {
			b.log.Info("found the Cursor CLI", "path", p.path, "version", p.version)
			b.found.Store(&p)
			return p, nil
		}
	}
	return program{}, b.fail(classNotFound, "")
}

// forget makes the next use search again.
func (b *Backend) forget() { b.found.Store(nil) }

// probe asks a candidate for its version. The name agent is a common word, so
// only an answer of the right form is proof, unless the user chose the program.
// An error says nothing about the candidate.
func (b *Backend) probe(ctx context.Context, c command) (program, bool, *chat.Error) {
	out, err := b.ask(ctx, c, b.env.vars, probeLimit, "--version")
	if none := (*noFolder)(nil); errors.As(err, &none) || errors.Is(err, errClosed) {
		return program{}, false, b.folderError(err)
	}
	if ctx.Err() != nil {
		return program{}, false, chat.AsError(ctx.Err())
	}
	version := ""
	if err == nil && out.exit.code == 0 {
		version = versionPattern().FindString(out.stdout)
	}
	if version == "" && (!c.chosen || notStartable(err)) {
		return program{}, false, nil
	}
	if version == "" {
		b.log.Warn("the chosen Cursor CLI does not tell its version", "path", c.path)
	}
	return program{command: c, version: version}, true, nil
}

// notStartable says that there is no such program, or that it may not run.
func notStartable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrPermission)
}

// thisMachine shows the search the real file system.
func thisMachine(env environment) machine {
	return machine{
		env:        env.lookup,
		executable: executable,
		list: func(folder string) []string {
			entries, _ := os.ReadDir(folder) // no folder, no names
			names := make([]string, len(entries))
			for i, entry := range entries {
				names[i] = entry.Name()
			}
			return names
		},
	}
}
