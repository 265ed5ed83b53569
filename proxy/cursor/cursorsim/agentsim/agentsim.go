// Package agentsim stands in for the cursor-agent command-line program: it takes
// the same flags and sub-commands, refuses what the real one refuses and prints
// the same stream. It knows no code that drives it, reaches no network and
// executes nothing. What it does in print mode is set by the environment
// variable CURSORSIM_AGENT (a Script as JSON).
//
// Tests use it as a real process: cmd/cursor-agent builds it as a program, and a
// test binary can call Main from its TestMain and start itself again. Main
// starts one goroutine for signals that it has to ignore; it ends with the
// process.
package agentsim

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Names of the environment variables that the fake reads besides those of the
// real program.
const (
	ScriptEnv = "CURSORSIM_AGENT"  // a Script as JSON
	RecordEnv = "CURSORSIM_RECORD" // file that gets one Record per run, as a JSON line
	PidsEnv   = "CURSORSIM_PIDS"   // folder that gets an empty file named by the id of each process
)

// Version is what the fake answers to --version unless its Script says otherwise.
const Version = "2026.07.20-8cc9c0b"

// Mode says how a Script answers a prompt.
type Mode string

// The modes of a Script.
const (
	Model  Mode = "model"  // a scripted model answers the prompt and calls tools in the text protocol
	Replay Mode = "replay" // the bytes of Fixture, then the end that its expectation file describes
	Moves  Mode = "moves"  // Answer, or After when the prompt ends with a tool result
	Stream Mode = "stream" // Count deltas of Size bytes, one each Interval
	Hold   Mode = "hold"   // prints nothing and stays; what a grandchild does
)

// Script sets what the fake does. The zero value is a healthy CLI with a model.
type Script struct {
	Mode Mode `json:"mode,omitempty"`

	Fixture string        `json:"fixture,omitempty"` // an .ndjson file; its .expected.json is read when it exists
	Chunk   int           `json:"chunk,omitempty"`   // bytes per write in replay; 0 writes all at once
	Delay   time.Duration `json:"delay,omitempty"`   // pause between these writes

	Count    int           `json:"count,omitempty"`     // text deltas in stream mode
	Thinking int           `json:"thinking,omitempty"`  // thinking deltas before them
	Size     int           `json:"size,omitempty"`      // bytes of text per delta; 0 is 8
	Interval time.Duration `json:"interval,omitempty"`  // pause before each delta; also between pieces in model mode
	OpenTool time.Duration `json:"open_tool,omitempty"` // in stream mode: a shell call of the CLI's own, this long, before the text
	ToolArgs string        `json:"tool_args,omitempty"` // arguments of that call; "" is a plain command

	Answer []Move `json:"answer,omitempty"`
	After  []Move `json:"after,omitempty"`

	Version     string        `json:"version,omitempty"`      // answer to --version
	Models      []string      `json:"models,omitempty"`       // ids that the account may use; empty is a small list
	ModelsText  string        `json:"models_text,omitempty"`  // what models prints instead
	ModelsExit  int           `json:"models_exit,omitempty"`  // its exit code
	LoggedOut   bool          `json:"logged_out,omitempty"`   // no stored login
	FileLogin   bool          `json:"file_login,omitempty"`   // the login lies in the config folder: a moved CURSOR_CONFIG_DIR hides it
	Home        string        `json:"home,omitempty"`         // the home that holds the login; "" skips that check
	MuteStatus  bool          `json:"mute_status,omitempty"`  // status says nothing and stays
	MuteVersion bool          `json:"mute_version,omitempty"` // --version says nothing and stays
	OldBuild    bool          `json:"old_build,omitempty"`    // does not know --trust
	Boot        time.Duration `json:"boot,omitempty"`         // pause before anything else
	RaceDir     string        `json:"race_dir,omitempty"`     // the first start in each workspace loses the settings file; marks lie here
	LostChats   bool          `json:"lost_chats,omitempty"`   // every --resume fails because the chat is gone
	Fail        string        `json:"fail,omitempty"`         // ends with this text on stderr and exit code 1, after reading the prompt

	Chats string `json:"chats,omitempty"` // folder that keeps chats, so that --resume continues them

	Babble     int    `json:"babble,omitempty"`      // bytes of event lines printed before the prompt is read
	SkipPrompt bool   `json:"skip_prompt,omitempty"` // never reads stdin
	Stderr     string `json:"stderr,omitempty"`      // text for stderr before the end
	Exit       int    `json:"exit,omitempty"`        // exit code
	Signal     string `json:"signal,omitempty"`      // dies by it instead: SIGKILL or SIGTERM
	Linger     bool   `json:"linger,omitempty"`      // stays after the last byte
	Cut        bool   `json:"cut,omitempty"`         // in stream mode: no closing message and no result
	Grandchild bool   `json:"grandchild,omitempty"`  // starts a process that holds stdout open
	Detach     bool   `json:"detach,omitempty"`      // that process leaves the group
	IgnoreTerm bool   `json:"ignore_term,omitempty"` // SIGTERM has no effect

	RecordPrompt bool `json:"record_prompt,omitempty"` // the Record holds the prompt
}

// Environ returns the script as an element for a process environment.
func (s Script) Environ() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a struct of plain fields
	}
	return ScriptEnv + "=" + string(text)
}

// Main runs the program and returns its exit code. It may end the process itself
// when the script says so.
func Main(args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{env: env, stdin: stdin, stdout: stdout, stderr: stderr}
	if text := env(ScriptEnv); text != "" {
		if err := json.Unmarshal([]byte(text), &p.script); err != nil {
			fmt.Fprintf(stderr, "agentsim: %s: %v\n", ScriptEnv, err)
			return 2
		}
	}
	if err := markProcess(env(PidsEnv)); err != nil {
		fmt.Fprintf(stderr, "agentsim: %v\n", err)
		return 2
	}
	if p.script.IgnoreTerm {
		ignoreTerm()
	}
	time.Sleep(p.script.Boot)
	if p.script.Mode == Hold {
		hold()
	}
	opts, err := parseArgs(args, p.script.OldBuild)
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	}
	return p.run(args, opts)
}

// program is one run of the fake.
type program struct {
	script         Script
	env            func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
}

func (p *program) run(args []string, opts options) int {
	switch {
	case opts.version && p.script.MuteVersion:
		hold()
	case opts.version:
		fmt.Fprintln(p.stdout, or(p.script.Version, Version))
		return 0
	case opts.listModels, opts.command == "models":
		return p.models()
	case opts.command == "status":
		return p.status()
	case opts.command == "login":
		return p.login()
	case opts.print:
		return p.print(args, opts)
	}
	fmt.Fprintln(p.stderr, "agentsim: only print mode and the plain sub-commands are simulated")
	return 1
}

// or returns the first of its arguments that is not empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
