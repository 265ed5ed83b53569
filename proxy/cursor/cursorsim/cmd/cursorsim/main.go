// Command cursorsim runs the simulated Cursor of package simserver for people:
// it prints the environment that leads a program to it and runs until it is
// interrupted. It starts no goroutine besides those of the simulation, which
// it waits for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"cursortray/proxy/cursor/cursorsim/simserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "cursorsim:", err)
		os.Exit(1)
	}
}

// run runs a simulation until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var o simserver.Options
	flags := flag.NewFlagSet("cursorsim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Dir, "dir", "", "folder for ca.pem (default: a new one, removed at the end)")
	flags.StringVar(&o.ProxyAddr, "proxy", "", "loopback address of the proxy, such as 127.0.0.1:8081 (default: a free port)")
	flags.StringVar(&o.ControlAddr, "control", "", "loopback address of the control port (default: a free port)")
	plan := flags.String("plan", "pro", "plan of the account; GET /state on the control port lists them")
	lifetime := flags.Duration("lifetime", time.Hour, "lifetime of access tokens")
	auto := flags.Bool("auto-confirm", false, "confirm every login, without a browser")
	quiet := flags.Bool("quiet", false, "do not show the calls on standard error")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*quiet {
		o.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	}
	sim, err := simserver.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	if err := sim.Change(func(t *simserver.Settings) {
		t.Plan, t.AccessLifetime, t.AutoConfirm, t.LiveCycle = *plan, *lifetime, *auto, true
	}); err != nil {
		return err
	}
	introduce(stdout, sim)
	<-ctx.Done()
	return nil
}

// introduce prints lines for a shell; what is not a setting is a comment.
func introduce(w io.Writer, sim *simserver.Sim) {
	fmt.Fprintln(w, "# The simulated Cursor runs. Paste this into the shell of the program to try:")
	for _, line := range sim.Env() {
		name, value, _ := strings.Cut(line, "=")
		fmt.Fprintf(w, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	fmt.Fprintf(w, "# API key:  %s\n", simserver.DefaultKey)
	fmt.Fprintf(w, "# Control:  %s/  (faults, settings, logins)\n", sim.ControlURL())
	fmt.Fprintf(w, "# Login page in Chromium: --proxy-server=%s --ignore-certificate-errors-spki-list=%s --user-data-dir=<new folder>\n", sim.ProxyURL(), sim.KeyPin())
	fmt.Fprintln(w, "# Ctrl-C ends it.")
}
