package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/app/editors"
	"cursortray/app/editorsetup"
	"cursortray/app/localkey"
	"cursortray/proxy/chat"
)

const (
	// setupTime leaves room for a user who has to unlock the keychain.
	setupTime = 90 * time.Second
	// answerTime is how long a check waits for a model.
	answerTime = 2 * time.Minute
)

type setupCmd struct {
	Editor string `arg:"" optional:"" help:"An id of the list, or its beginning."`
	List   bool   `xor:"what" help:"List the editors, those that were found first. So does setup alone."`
	Print  bool   `xor:"what" help:"Show what to write where, and write nothing."`
	Check  bool   `xor:"what" help:"Make one real request the way the editor would."`
	Undo   bool   `xor:"what" help:"Put the editor's files back as they were, and revoke its key."`
	Off    bool   `xor:"what" help:"Refuse the editor's requests."`
	On     bool   `xor:"what" help:"Answer them again."`
	Model  string `placeholder:"ID" help:"The model that the editor begins with; cursortray models lists them."`
	Keep   *bool  `negatable:"" help:"Leave the model that the editor uses now, where it can have both, or with --no-keep do not. Else it is as the last time."`
	Shell  string `placeholder:"NAME" help:"The shell of what is shown: bash, zsh, fish or powershell."`
	jsonFlag
}

func (setupCmd) Help() string {
	return `Writes into the editor's own settings: only what is cursortray's, all else stays as it is, a backup is kept, and a second run changes nothing. A file that cannot be read is left alone, and what to write is shown. Each editor gets a local key of its own. The list with --json:

    [{"id": text, "name": text, "found": bool,
      "state": "not set up", "set up", "changed" since, "broken" or "by hand",
      "keyed": it has a key, "off": bool, "files": [path], "problem": text,
      "last_used": time, "requests": number of the last 24 hours}]`
}

func (c *setupCmd) Run(p *process) error {
	if err := c.check(); err != nil {
		return &usageError{err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	d, err := p.newDesk(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	switch {
	case c.Editor == "":
		return c.list(ctx, p, d)
	case c.Print:
		r, err := d.service.ByHand(ctx, c.Editor, c.options())
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(p.stdout, r.HandText(c.shell(p)))
		return err
	case c.Check:
		return c.try(p, d)
	case c.Undo:
		r, err := d.service.Undo(ctx, c.Editor)
		return c.done(ctx, p, d, r.Undone(), err)
	case c.Off || c.On:
		info, err := d.service.Switch(ctx, c.Editor, c.Off)
		text := info.Name + " is switched on.\n"
		if c.Off {
			text = info.Name + " is switched off: its requests are refused.\n"
		}
		return c.done(ctx, p, d, text, err)
	}
	return c.setUp(ctx, p, d)
}

// check finds what makes no sense together.
func (c *setupCmd) check() error {
	what := c.Print || c.Check || c.Undo || c.Off || c.On
	switch {
	case c.Editor == "" && what:
		return errors.New("setup needs the name of an editor")
	case c.Editor == "" && (c.Model != "" || c.Keep != nil):
		return errors.New("--model and --keep need the name of an editor")
	case c.Editor != "" && c.List:
		return errors.New("setup --list takes no editor")
	case c.Editor != "" && c.JSON:
		return errors.New("--json is for the list")
	case c.Shell != "" && editorsetup.ShellOf(c.Shell) == "":
		return fmt.Errorf("--shell %s: it is bash, zsh, fish or powershell", c.Shell)
	}
	return nil
}

func (c *setupCmd) options() editorsetup.Options {
	return editorsetup.Options{Model: c.Model, Keep: c.Keep}
}

// shell is the one asked for, else the user's own.
func (c *setupCmd) shell(p *process) string {
	if c.Shell != "" {
		return editorsetup.ShellOf(c.Shell)
	}
	return userShell(p.env)
}

func userShell(env func(string) string) string {
	if env("SHELL") == "" && env("PSModulePath") != "" {
		return editorsetup.ShellOf("powershell")
	}
	return editorsetup.ShellOf(env("SHELL"))
}

func (c *setupCmd) setUp(ctx context.Context, p *process, d *desk) error {
	r, err := d.service.SetUp(ctx, c.Editor, c.options())
	if err != nil && len(r.Text) > 0 {
		fmt.Fprintf(p.stdout, "What to write by hand:\n\n%s", r.HandText(c.shell(p)))
		return fmt.Errorf("%w; nothing was changed", err)
	}
	return c.done(ctx, p, d, r.Told(c.shell(p)), err)
}

// done prints what was done, and has the instance look.
func (c *setupCmd) done(ctx context.Context, p *process, d *desk, text string, err error) error {
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.stdout, text); err != nil {
		return err
	}
	if d.running {
		err = d.client.LookForEditors(ctx)
		if use, useErr := d.client.Editors(ctx); useErr == nil && use.ForThisRun && !c.Undo {
			fmt.Fprintln(p.stderr, "cursortray: warning: there is no store that could keep the editor's key; set it up again after the next start, or set CURSORTRAY_TOKEN_STORE=file first")
		}
	}
	return err
}

func (c *setupCmd) try(p *process, d *desk) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	got, err := d.service.Check(ctx, c.Editor)
	if err != nil {
		return err
	}
	how := got.Name + " works"
	if got.Guessed {
		how = "A request as " + got.Name + " should make it works; its own settings cannot be read"
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s at %s said %q\n", how, got.Model, got.URL, beginning(got.Text))
	return err
}

// beginning is as much of an answer as shows that there is one.
func beginning(text string) string {
	const enough = 60
	if runes := []rune(text); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return text
}

func (c *setupCmd) list(ctx context.Context, p *process, d *desk) error {
	all, keysErr := d.service.List(ctx)
	list := []control.Editor{}
	for _, e := range all {
		told := control.Editor{ID: e.ID, Name: e.Name, Found: e.Found, State: string(e.State), Keyed: e.Keyed, Off: e.Off, Files: e.Files}
		if e.Problem != nil {
			told.Problem = e.Problem.Error()
		}
		for _, used := range d.used {
			if used.ID == e.ID {
				told.LastUsed, told.Requests = used.LastUsed, used.Requests
			}
		}
		list = append(list, told)
	}
	if keysErr != nil {
		fmt.Fprintf(p.stderr, "cursortray: warning: who is switched off is not known: %s\n", chat.AsError(keysErr).Message)
	}
	if c.JSON {
		return p.printJSON(list)
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", e.ID, e.Name, editorText(e), strings.Join(e.Files, ", "))
	}
	return out.Flush()
}

// editorText says in words how it is about an editor.
func editorText(e control.Editor) string {
	text := e.State
	switch {
	case e.State == "changed":
		text = "set up, changed since"
	case e.State == "by hand" && e.Keyed:
		text = "by hand, has a key"
	}
	if e.Off {
		text += ", switched off"
	}
	if !e.Found {
		text += ", not found"
	}
	if e.Requests > 0 {
		text += fmt.Sprintf(", requests: %d", e.Requests)
	}
	return text
}

// desk is what a command about editors works with: the running instance's keys
// and models, or those of the store and the account.
type desk struct {
	service *editorsetup.Service
	client  *control.Client
	running bool
	used    []control.Editor // what the instance knows of them
	close   func()
}

func (p *process) newDesk(ctx context.Context) (*desk, error) {
	s, client, err := p.client()
	if err != nil {
		return nil, err
	}
	manager, err := p.newEditors(s)
	if err != nil {
		return nil, err
	}
	d := &desk{client: client, close: func() {}}
	cfg := editorsetup.Config{Editors: manager, HTTP: newLocalClient()}
	status, err := client.Status(ctx)
	switch {
	case err == nil:
		d.running, d.used = true, status.Editors
		cfg.Keys = instanceKeys{client}
		cfg.BaseURL = func(context.Context) (string, error) { return known(status.Proxy.BaseURL) }
		cfg.Models = func(ctx context.Context) ([]chat.Model, error) {
			models, err := client.Models(ctx)
			return control.ChatModels(models), err
		}
	case errors.Is(err, control.ErrNotRunning):
		keys := newEditorKeys(s, newStore(s), nil, p.briefLogger(s))
		d.close = keys.Close
		cfg.Keys = lastingKeys{keys}
		cfg.BaseURL = func(context.Context) (string, error) { return known(app.LocalURL(s.settings.Addr)) }
		cfg.Models = func(ctx context.Context) ([]chat.Model, error) {
			models, _, err := p.modelsHere(ctx, s)
			return models, err
		}
	default:
		return nil, err
	}
	d.service = editorsetup.New(cfg)
	return d, nil
}

func known(baseURL string) (string, error) {
	if baseURL == "" {
		return "", errors.New("the proxy has no port yet; start cursortray first, or set addr to a fixed port")
	}
	return baseURL, nil
}

// newLocalClient is for requests to the proxy, whatever HTTP_PROXY says.
func newLocalClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// newEditors finds the editors of the user whose environment this is.
func (p *process) newEditors(s *setup) (*editors.Manager, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	return editors.New(editors.Config{
		Env:   editors.Env{OS: editors.Host, Home: home, Get: p.env},
		State: filepath.Join(s.dirs.State, "editors"),
	}), nil
}

// lastingKeys are those of the store, where no instance runs: a key that ends
// with this process is worth nothing.
type lastingKeys struct{ *localkey.Editors }

func (k lastingKeys) Key(ctx context.Context, id string) (string, error) {
	key, err := k.Editors.Key(ctx, id)
	if err == nil && k.ForThisRun() {
		return "", errors.New("there is no running instance, and no store that could keep a key for the next one; cursortray doctor says more")
	}
	return key, err
}

// instanceKeys are those of the running instance.
type instanceKeys struct{ client *control.Client }

func (k instanceKeys) Key(ctx context.Context, id string) (string, error) {
	return k.client.EditorKey(ctx, id)
}

func (k instanceKeys) Revoke(ctx context.Context, id string) error {
	return k.client.RevokeEditor(ctx, id)
}

func (k instanceKeys) Switch(ctx context.Context, id string, off bool) error {
	return k.client.SwitchEditor(ctx, id, off)
}

func (k instanceKeys) Off(ctx context.Context) (map[string]bool, error) {
	use, err := k.client.Editors(ctx)
	return use.Off, err
}

// addEditors gives the App what sets editors up from the menu.
func (i *instance) addEditors(p *process, s *setup, cfg *app.Config) error {
	manager, err := p.newEditors(s)
	if err != nil {
		return err
	}
	cfg.KeyOwners = i.editors
	cfg.Editors = editorsetup.Menu{Shell: userShell(p.env), ForThisRun: i.editors.ForThisRun, Service: editorsetup.New(editorsetup.Config{
		Editors: manager, Keys: i.editors, HTTP: newLocalClient(),
		BaseURL: func(context.Context) (string, error) { return known(i.app.Snapshot().Proxy.BaseURL) },
		Models:  func(ctx context.Context) ([]chat.Model, error) { return i.app.Models(ctx) },
	})}
	return nil
}

// editorsText tells which editors use the proxy, the latest first, and which
// are switched off.
func editorsText(list []control.Editor, now time.Time) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b control.Editor) int {
		return cmp.Compare(lastUse(b), lastUse(a))
	})
	var parts []string
	for _, e := range list {
		text := e.Name
		if e.LastUsed != nil {
			text += fmt.Sprintf(" (requests: %d, last %s ago)", e.Requests, max(0, now.Sub(*e.LastUsed)).Truncate(time.Second))
		}
		if e.Off {
			text += " (switched off)"
		}
		if e.LastUsed != nil || e.Off {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

func lastUse(e control.Editor) int64 {
	if e.LastUsed == nil {
		return 0
	}
	return e.LastUsed.Unix()
}
