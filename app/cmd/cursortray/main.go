// Command cursortray makes a Cursor subscription usable from every editor: a
// local proxy with a tray icon, or alone in the foreground. This package reads
// the command line and the settings, constructs the parts and prints what they
// say; it decides nothing that a part could decide.
//
// Exit codes: 0 done, 1 failed, 2 used wrongly. What a command is asked for
// goes to standard output, everything else to standard error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"cursortray/app/config"
	"cursortray/proxy/chat"
)

// version is set by the linker.
var version = ""

const (
	exitFailed = 1
	exitUsage  = 2
)

// commandLine is the grammar.
type commandLine struct {
	Tray      trayCmd      `cmd:"" default:"withargs" help:"Run in the tray of the desktop. This is what plain cursortray does."`
	Serve     serveCmd     `cmd:"" help:"Run the proxy alone, in the foreground, without a desktop."`
	Status    statusCmd    `cmd:"" help:"Say what the running instance does."`
	Start     startCmd     `cmd:"" help:"Start the proxy of the running instance."`
	Stop      stopCmd      `cmd:"" help:"Stop the proxy of the running instance; cursortray itself goes on."`
	Quit      quitCmd      `cmd:"" help:"End the running instance."`
	Login     loginCmd     `cmd:"" help:"Log in to Cursor, with the browser or an API key."`
	Logout    logoutCmd    `cmd:"" help:"Log out of Cursor: remove the login from this computer."`
	Key       keyCmd       `cmd:"" help:"Print the local API key that clients of the proxy send."`
	Models    modelsCmd    `cmd:"" help:"List the models that a client can name."`
	Open      openCmd      `cmd:"" help:"Show the dashboard in the browser."`
	Setup     setupCmd     `cmd:"" help:"Set an editor up to use the proxy, check it, undo that."`
	Usage     usageCmd     `cmd:"" help:"Say how much of the Cursor plan is used, or what requests used."`
	Allow     allowCmd     `cmd:"" help:"Lift the spend limits of the running instance for an hour."`
	Autostart autostartCmd `cmd:"" help:"Start when you log in: on, off, or say what holds."`
	Copy      copyCmd      `cmd:"" help:"Put the base URL, the key or both on the clipboard, by the running instance."`
	Backend   backendCmd   `cmd:"" help:"Choose how new conversations reach Cursor."`
	Record    recordCmd    `cmd:"" help:"Write the next request down for a bug report, without what is said in it."`
	Logs      logsCmd      `cmd:"" help:"Print the log of the running instance, or of the last one."`
	Doctor    doctorCmd    `cmd:"" help:"Check everything that can be wrong, and say how to mend it."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
	Help      helpCmd      `cmd:"" help:"Explain a command, or the settings."`

	ShowVersion kong.VersionFlag `name:"version" hidden:"" help:"Print the version."`
}

// process is what a command knows of the process it runs in.
type process struct {
	env    func(string) string
	stdin  io.Reader
	stdout io.Writer
	stderr *redactor
	log    *redactor // where the log goes, once that is not only stderr
	parser *kong.Kong
}

func main() {
	p := &process{env: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: newRedactor(os.Stderr, os.Getenv)}
	os.Exit(p.run(os.Args[1:]))
}

// run does what args say and returns the exit code.
func (p *process) run(args []string) int {
	p.parser = kong.Must(&commandLine{},
		kong.Name("cursortray"),
		kong.Description("Use your Cursor subscription in every editor. The settings: cursortray help settings."),
		kong.Vars{"version": versionLine()},
		kong.Writers(p.stdout, p.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	command, err := p.parser.Parse(args)
	if err != nil {
		return p.fail(&usageError{err})
	}
	return p.fail(command.Run(p))
}

// usageError is a command line that means nothing.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// errTold is a failure that the command has already told.
var errTold = errors.New("failed")

// fail prints the error on one line and returns the exit code.
func (p *process) fail(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errTold) {
		return exitFailed
	}
	text := err.Error()
	var told *chat.Error
	if errors.As(err, &told) {
		text = told.Message
	}
	text = strings.Join(strings.Fields(text), " ")
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(p.stderr, "cursortray: %s (see cursortray --help)\n", text)
		return exitUsage
	}
	fmt.Fprintf(p.stderr, "cursortray: %s\n", text)
	return exitFailed
}

// setup is what every command but version and help begins with.
type setup struct {
	dirs     config.Dirs
	file     *config.File
	settings config.Settings
	warnings []config.Warning
}

// load reads the settings and tells what is wrong with them.
func (p *process) load() (*setup, error) {
	dirs, err := config.Folders(p.env)
	if err != nil {
		return nil, err
	}
	s := &setup{dirs: dirs}
	s.file, s.settings, s.warnings = config.Open(dirs.FilePath(p.env), p.env)
	p.stderr.add(s.settings.APIKey.Reveal())
	for _, w := range s.warnings {
		fmt.Fprintf(p.stderr, "cursortray: warning: %s\n", w)
	}
	return s, nil
}

// runFlags are the flags of the commands that run the proxy. They win over the
// settings.
type runFlags struct {
	Addr    string `placeholder:"HOST:PORT" help:"Where to listen; port 0 picks a free one (setting addr)."`
	Backend string `placeholder:"auto|agent|cli" help:"How to reach Cursor (setting backend)."`
	Demo    bool   `help:"Answer with a simulated Cursor: no account is needed and nothing is real."`
}

func (f *runFlags) apply(s *config.Settings) error {
	for _, flag := range [][2]string{{"addr", f.Addr}, {"backend", f.Backend}} {
		if flag[1] == "" {
			continue
		}
		if err := s.Override(flag[0], flag[1]); err != nil {
			return &usageError{fmt.Errorf("--%s: %w", flag[0], err)}
		}
	}
	if f.Addr != "" && !s.AllowRemote {
		if err := config.CheckLoopback(f.Addr); err != nil {
			return &usageError{fmt.Errorf("--addr %s: %w", f.Addr, err)}
		}
	}
	return nil
}
