package agentsim

import (
	"fmt"
	"strings"
)

// options are the parsed arguments of one run.
type options struct {
	command    string // sub-command; "" for a prompt
	version    bool
	listModels bool
	print      bool
	partial    bool // --stream-partial-output
	trust      bool
	format     string
	model      string
	mode       string
	workspace  string
	resume     string
	words      []string // a prompt in argv
}

// arity says how many values a flag takes.
type arity int

const (
	none arity = iota
	one
	maybe // takes the next word unless that is a flag
)

// knownFlags returns the flags of the real program by name.
func knownFlags() map[string]arity {
	return map[string]arity{
		"-v": none, "--version": none, "-p": none, "--print": none, "--stream-partial-output": none,
		"--trust": none, "--list-models": none, "-f": none, "--force": none, "--yolo": none, "--plan": none,
		"--approve-mcps": none, "--continue": none, "-c": none, "--cloud": none, "-k": none,
		"--output-format": one, "--model": one, "--mode": one, "--workspace": one, "--sandbox": one,
		"--api-key": one, "--auth-token": one, "-e": one, "--endpoint": one, "-H": one,
		"--resume": maybe, "-w": maybe, "--worktree": maybe,
	}
}

// parseArgs reads argv as the real program does. A build without --trust
// refuses that flag like any unknown one.
func parseArgs(args []string, withoutTrust bool) (options, error) {
	opts := options{format: "text"}
	flags := knownFlags()
	if withoutTrust {
		delete(flags, "--trust")
	}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if !strings.HasPrefix(word, "-") {
			opts.words = append(opts.words, word)
			continue
		}
		name, value, hasValue := strings.Cut(word, "=")
		takes, known := flags[name]
		if !known {
			return opts, fmt.Errorf("unknown option '%s'", name)
		}
		if !hasValue && (takes == one || takes == maybe && len(args) > 0 && !strings.HasPrefix(args[0], "-")) {
			if len(args) == 0 {
				return opts, fmt.Errorf("option '%s' argument missing", name)
			}
			value, args = args[0], args[1:]
		}
		opts.set(name, value)
	}
	if len(opts.words) > 0 && isCommand(opts.words[0]) {
		opts.command = opts.words[0]
	}
	return opts, nil
}

func isCommand(word string) bool {
	return word == "models" || word == "status" || word == "login"
}

// set stores one flag; those that the fake has no use for are accepted.
func (o *options) set(name, value string) {
	switch name {
	case "-v", "--version":
		o.version = true
	case "-p", "--print":
		o.print = true
	case "--stream-partial-output":
		o.partial = true
	case "--trust":
		o.trust = true
	case "--list-models":
		o.listModels = true
	case "--output-format":
		o.format = value
	case "--model":
		o.model = value
	case "--mode":
		o.mode = value
	case "--workspace":
		o.workspace = value
	case "--resume":
		o.resume = value
	}
}
