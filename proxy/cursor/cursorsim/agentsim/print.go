package agentsim

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// print answers one prompt. The order of the refusals is that of the real
// program: flags, trust, login, model.
func (p *program) print(args []string, opts options) int {
	record := p.newRecord(args)
	if refused, code := p.refuse(opts); refused {
		p.record(record)
		return code
	}
	if p.script.Grandchild {
		if err := startGrandchild(p.script, p.stdout); err != nil {
			fmt.Fprintf(p.stderr, "agentsim: %v\n", err)
			return 2
		}
	}
	p.babble()
	var prompt []byte
	if !p.script.SkipPrompt {
		// A broken pipe here is the parent's business.
		prompt, _ = io.ReadAll(p.stdin)
	}
	record.Stdin = len(prompt)
	sum := sha256.Sum256(prompt)
	record.SHA256 = hex.EncodeToString(sum[:])
	if p.script.RecordPrompt {
		record.Prompt = string(prompt)
	}
	p.record(record)
	if text := strings.TrimSpace(string(prompt)); text == "" && !p.script.SkipPrompt && len(opts.words) == 0 {
		fmt.Fprintln(p.stderr, "Error: no prompt provided")
		return 1
	}
	if p.script.Fail != "" {
		fmt.Fprintln(p.stderr, p.script.Fail)
		return 1
	}
	return p.answer(opts, string(prompt))
}

// refuse prints why the run does not start.
func (p *program) refuse(opts options) (refused bool, code int) {
	switch {
	case !opts.trust && !p.script.OldBuild:
		fmt.Fprintln(p.stdout, trustText) // a refusal with exit code 0
		return true, 0
	case p.losesRace(opts.workspace):
		fmt.Fprintln(p.stderr, "Error: ENOENT: no such file or directory, rename '/home/dev/.cursor/cli-config.json.tmp' -> '/home/dev/.cursor/cli-config.json'")
		return true, 1
	case !p.loggedIn():
		fmt.Fprintln(p.stderr, authText)
		return true, 1
	case opts.model != "" && !p.usable(opts.model):
		fmt.Fprintf(p.stderr, "Cannot use this model: %s. Available models: %s\n", opts.model, strings.Join(p.ids(), ", "))
		return true, 1
	case opts.resume != "" && p.script.LostChats:
		fmt.Fprintf(p.stderr, "Error: chat %s not found\n", opts.resume)
		return true, 1
	}
	return false, 0
}

// losesRace says whether this is the first start in a workspace.
func (p *program) losesRace(workspace string) bool {
	if p.script.RaceDir == "" {
		return false
	}
	sum := sha256.Sum256([]byte(workspace))
	mark, err := os.OpenFile(filepath.Join(p.script.RaceDir, hex.EncodeToString(sum[:8])), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	mark.Close()
	return true
}

// babble prints events that no driver knows, as newer builds do.
func (p *program) babble() {
	out := bufio.NewWriter(p.stdout)
	line := `{"type":"connection","subtype":"state","note":"` + strings.Repeat("x", 900) + `"}` + "\n"
	for left := p.script.Babble; left > 0; left -= len(line) {
		out.WriteString(line)
	}
	out.Flush()
}

// answer prints the stream of the script's mode and ends as the script says.
func (p *program) answer(opts options, prompt string) int {
	end := ending{Stderr: p.script.Stderr, Code: p.script.Exit, Signal: p.script.Signal, Lingers: p.script.Linger}
	var err error
	switch p.script.Mode {
	case Replay:
		end, err = p.replay(end)
	case Stream:
		err = p.stream(opts, prompt)
	case Moves:
		err = p.moves(opts, prompt)
	default:
		err = p.model(opts, prompt)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "agentsim: %v\n", err)
		return 1
	}
	return end.apply(p.stderr)
}

// ending is how a run ends after its last byte; the tags are those of the
// expectation files.
type ending struct {
	Code    int    `json:"exit_code"`
	Signal  string `json:"signal"`
	Stderr  string `json:"stderr"`
	Lingers bool   `json:"lingers"`
}

func (e ending) apply(stderr io.Writer) int {
	io.WriteString(stderr, e.Stderr)
	if e.Lingers {
		hold()
	}
	if e.Signal != "" {
		dieBy(e.Signal)
	}
	return e.Code
}

// Record is one line of the record file: what a run was given.
type Record struct {
	Argv   []string          `json:"argv"`
	Env    map[string]string `json:"env"` // HOME, PWD, CURSOR_CONFIG_DIR, NODE_OPTIONS; CURSOR_API_KEY is "set" or absent
	Cwd    string            `json:"cwd"`
	Stdin  int               `json:"stdin"` // bytes
	SHA256 string            `json:"sha256,omitempty"`
	Prompt string            `json:"prompt,omitempty"`
}

func (p *program) newRecord(args []string) Record {
	r := Record{Argv: args, Env: map[string]string{}}
	r.Cwd, _ = os.Getwd()
	for _, name := range []string{"HOME", "PWD", "CURSOR_CONFIG_DIR", "NODE_OPTIONS"} {
		if value := p.env(name); value != "" {
			r.Env[name] = value
		}
	}
	if p.env("CURSOR_API_KEY") != "" {
		r.Env["CURSOR_API_KEY"] = "set"
	}
	return r
}

func (p *program) record(r Record) {
	name := p.env(RecordEnv)
	if name == "" {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		err = appendLine(name, line)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "agentsim: %v\n", err)
	}
}

// appendLine adds a line in one write, so that parallel runs do not mix.
func appendLine(name string, line []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// ReadRecords returns the runs that a record file holds, none if it is missing.
func ReadRecords(name string) ([]Record, error) {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var records []Record
	for line := range strings.Lines(string(text)) {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("record of a run: %w", err)
		}
		records = append(records, r)
	}
	return records, nil
}
