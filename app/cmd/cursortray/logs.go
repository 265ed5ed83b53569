package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"cursortray/app/logfile"
)

func logPath(s *setup) string { return filepath.Join(s.dirs.State, "cursortray.log") }

// logToFile makes the log go to its file as well as to standard error, or with
// only to nothing else: what starts programs at login keeps their output in
// files that grow without end. One process at a time may do so, the one that
// is the running instance. It returns what ends that.
func (p *process) logToFile(s *setup, only bool) (end func()) {
	file, err := logfile.Open(logPath(s), logfile.DefaultSize, logfile.DefaultKeep)
	if err != nil {
		fmt.Fprintf(p.stderr, "cursortray: warning: there is no log file: %v\n", err)
		return func() {}
	}
	if err := file.CatchCrashes(); err != nil {
		fmt.Fprintf(p.stderr, "cursortray: warning: a crash would not be in the log: %v\n", err)
	}
	out := io.Writer(file)
	if !only {
		out = both{file, p.stderr.out}
	}
	p.log = p.stderr.to(out)
	return func() {
		p.log = nil
		file.Close()
	}
}

// both writes to each, whatever becomes of the other: a disk can be full, and a
// terminal can be closed.
type both [2]io.Writer

func (b both) Write(line []byte) (int, error) {
	_, first := b[0].Write(line)
	_, second := b[1].Write(line)
	return len(line), errors.Join(first, second)
}

type logsCmd struct {
	Follow bool `short:"f" help:"Go on with what is added, until Ctrl-C."`
	Lines  int  `short:"n" default:"100" help:"How many of the last lines."`
}

func (logsCmd) Help() string {
	return `The log is kept in a few files of 1 MiB, from the oldest to the newest a row of
lines; their place is in cursortray status --json. It holds no secrets and nothing
of what is asked and answered. The setting log_level says how much it tells.`
}

func (c *logsCmd) Run(p *process) error {
	s, err := p.load()
	if err != nil {
		return err
	}
	if c.Lines < 0 {
		return &usageError{errors.New("-n must not be negative")}
	}
	path := logPath(s)
	if c.Follow {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return logfile.Follow(ctx, path, c.Lines, p.stdout)
	}
	err = logfile.Tail(path, c.Lines, p.stdout)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no log yet; it will be %s", path)
	}
	return err
}
