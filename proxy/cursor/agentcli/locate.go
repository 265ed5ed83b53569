package agentcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"cursortray/proxy/chat"
)

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
	list, passed := candidates(thisMachine(b.env), b.config.Binary)
	for _, c := range list {
		p, why, err := b.probe(ctx, c)
		if err != nil {
			return program{}, err
		}
		if why == "" {
			b.tellPassed(ctx, passed)
			b.log.Info("found the Cursor CLI", "path", p.path, "version", p.version)
			b.found.Store(&p)
			return p, nil
		}
		passed = append(passed, passedOver{c.named, c.path, why})
	}
	b.tellPassed(ctx, passed)
	return program{}, b.notFound(passed)
}

// named returns the program that the user named, while it was not looked at.
func (b *Backend) named() (command, bool) {
	if b.found.Load() != nil {
		return command{}, false
	}
	list, _ := candidates(thisMachine(b.env), b.config.Binary)
	if len(list) == 0 || list[0].named == "" {
		return command{}, false
	}
	return list[0], true
}

// forget makes the next use search again.
func (b *Backend) forget() { b.found.Store(nil) }

// probe asks a candidate for its version, and says why it is not used. The name
// agent is a common word, so only an answer of the right form is proof, unless
// the user chose the program. An error says nothing about the candidate.
func (b *Backend) probe(ctx context.Context, c command) (p program, why string, problem *chat.Error) {
	out, err := b.ask(ctx, c, b.env.vars, probeLimit, "--version")
	if none := (*noFolder)(nil); errors.As(err, &none) || errors.Is(err, errClosed) {
		return program{}, "", b.folderError(err)
	}
	if ctx.Err() != nil { // the process was ended for our sake
		return program{}, "", chat.AsError(ctx.Err())
	}
	p = program{command: c}
	mute := (*noAnswer)(nil)
	switch {
	case errors.As(err, &mute):
		p.mute = true
		why = fmt.Sprintf("it did not answer --version within %d seconds", int(mute.limit.Seconds()))
	case err != nil && !unfit(err):
		return program{}, "", b.askError(err)
	case err != nil:
		return program{}, startTrouble(c.path, err), nil // also if it was chosen
	case out.exit.code != 0:
		why = "it failed when it was asked for --version, " + how(out.exit)
	default:
		if p.version = versionPattern().FindString(out.stdout); p.version == "" {
			why = "its answer to --version is not that of Cursor's CLI"
		}
	}
	if why != "" && c.named != "" {
		b.log.Warn("the chosen Cursor CLI does not tell its version", "path", c.path, "reason", why)
		why = ""
	}
	return p, why, nil
}

// how says how a process ended.
func how(x exit) string {
	if x.signal != "" {
		return "with the signal " + x.signal
	}
	return fmt.Sprintf("with the exit code %d", x.code)
}

// unfit says that an error of a start is about the program: there is none, or
// the system does not run it.
func unfit(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	at, errno := (*fs.PathError)(nil), syscall.Errno(0)
	return errors.As(err, &at) && at.Op != "chdir" && errors.As(err, &errno) && !shortage(errno)
}

// startTrouble explains an unfit error.
func startTrouble(path string, err error) string {
	if why := programTrouble(path); why != "" {
		return why
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "the program that its first line names is missing"
	}
	return "the system cannot run it: " + systemReason(err)
}

// notFound is the error of a search in vain.
func (b *Backend) notFound(passed []passedOver) *chat.Error {
	const variable = "CURSORTRAY_CURSOR_AGENT"
	e := b.fail(classNotFound, "")
	if b.config.Binary != "" && len(passed) > 0 {
		e.Message = fmt.Sprintf("The setting %s (or %s) cannot be followed: %s. Correct it, or leave it empty to have Cursor's CLI searched for.",
			settingName, variable, b.spell(passed))
		return e
	}
	e.Message = fmt.Sprintf("Cursor's CLI was not found. Install it as described on cursor.com/cli, or give its path in the setting %s (or %s).", settingName, variable)
	if len(passed) > 0 {
		e.Message += " Seen but not used: " + b.spell(passed) + "."
	}
	return e
}

// spell lists programs with the reasons against them.
func (b *Backend) spell(passed []passedOver) string {
	var list []string
	for _, p := range passed[:min(len(passed), 4)] {
		text := b.hide.apply(p.path) + " (" + p.why + ")"
		if p.named != "" && p.named != settingName {
			text = p.named + "=" + text
		}
		list = append(list, text)
	}
	if len(passed) > 4 {
		list = append(list, fmt.Sprintf("%d more", len(passed)-4))
	}
	return strings.Join(list, ", ")
}

// tellPassed logs what was passed over, once for as long as it is the same. The
// lock of locate is held.
func (b *Backend) tellPassed(ctx context.Context, passed []passedOver) {
	if len(passed) > 0 && !slices.Equal(passed, b.passed) {
		level := slog.LevelInfo
		if slices.ContainsFunc(passed, func(p passedOver) bool { return p.named != "" }) {
			level = slog.LevelWarn
		}
		b.log.Log(ctx, level, "programs that might be the Cursor CLI are not used", "programs", b.spell(passed))
	}
	b.passed = passed
}

// thisMachine shows the search the real file system.
func thisMachine(env environment) machine {
	return machine{
		env:     env.lookup,
		trouble: programTrouble,
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
