package editorsetup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/app/editors"
	"cursortray/proxy/chat"
)

// keys is a store of editors' keys.
type keys struct {
	off       map[string]bool
	err       error
	revokeErr error
}

func (k *keys) Key(_ context.Context, id string) (string, error) {
	if k.err != nil {
		return "", k.err
	}
	if _, ok := k.off[id]; !ok {
		k.off[id] = false
	}
	return "cte-of-" + id, nil
}

func (k *keys) Revoke(_ context.Context, id string) error {
	if k.revokeErr != nil {
		return k.revokeErr
	}
	delete(k.off, id)
	return k.err
}

func (k *keys) Switch(_ context.Context, id string, off bool) error {
	k.off[id] = off
	return k.err
}

func (k *keys) Off(context.Context) (map[string]bool, error) { return k.off, k.err }

// port answers checks.
type port struct {
	status int
	body   string
	err    error
	asked  string
}

func (p *port) Do(r *http.Request) (*http.Response, error) {
	if p.err != nil {
		return nil, p.err
	}
	body, _ := io.ReadAll(r.Body)
	p.asked = r.URL.String() + " " + r.Header.Get("Authorization") + " " + string(body)
	return &http.Response{StatusCode: p.status, Body: io.NopCloser(strings.NewReader(p.body))}, nil
}

// desk is a user's home with a Service.
type desk struct {
	*Service
	home      string
	keys      *keys
	port      *port
	models    []chat.Model
	modelsErr error
	baseURL   string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{home: t.TempDir(), keys: &keys{off: map[string]bool{}}, port: &port{}, baseURL: "http://127.0.0.1:7777/v1"}
	d.models = []chat.Model{
		{ID: "big", Name: "Big", Group: "big", ContextWindow: 200000, Price: &chat.Price{Input: "0.000003", Output: "0.000015", CacheRead: "0.0000003"}},
		{ID: "big-fast", Name: "Big fast", Group: "big", ContextWindow: 200000},
		{ID: "auto", Name: "Auto", Aliases: []string{"default"}, ContextWindow: 128000, Default: true},
		{ID: "tiny", Name: "Tiny", Group: "tiny", Price: &chat.Price{Input: "1e-7", Output: "4e-7"}},
	}
	d.Service = New(Config{
		Editors: editors.New(editors.Config{
			Env:   editors.Env{OS: editors.Linux, Home: d.home, Get: func(string) string { return "" }},
			State: filepath.Join(t.TempDir(), "editors"), LookPath: func(string) (string, error) { return "", errors.New("no") },
		}),
		Keys: d.keys, HTTP: d.port,
		BaseURL: func(context.Context) (string, error) { return d.baseURL, nil },
		Models:  func(context.Context) ([]chat.Model, error) { return d.models, d.modelsErr },
	})
	return d
}

func (d *desk) setUp(t *testing.T, id string, o Options) Result {
	t.Helper()
	r, err := d.SetUp(t.Context(), id, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (d *desk) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.home, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (d *desk) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(d.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

const openCode = ".config/opencode/opencode.json"

func TestModelsAreFilledIn(t *testing.T) {
	d := newDesk(t)
	for _, test := range []struct {
		options            Options
		model, small       string
		listed, notInModel string
	}{
		{Options{}, "auto", "auto", `"auto"`, "big-fast"},
		{Options{Model: "big"}, "big", "tiny", `"input": 3`, "big-fast"},
		{Options{}, "big", "tiny", `"output": 15`, "big-fast"}, // that of the last time
		{Options{Model: "default"}, "auto", "auto", `"context": 128000`, `"default"`},
		{Options{Model: "big-fast"}, "big-fast", "big-fast", `"big-fast"`, "nothing"},
		{Options{Model: "tiny"}, "tiny", "tiny", `"input": 0.1`, "big-fast"},
	} {
		r := d.setUp(t, "opencode", test.options)
		text := d.read(t, openCode)
		if r.Model != test.model || !strings.Contains(text, `"model": "cursortray/`+test.model+`"`) || !strings.Contains(text, `"small_model": "cursortray/`+test.small+`"`) {
			t.Errorf("%+v: model %s, written\n%s", test.options, r.Model, text)
		}
		if !strings.Contains(text, test.listed) || strings.Contains(text, test.notInModel) {
			t.Errorf("%+v: %s should be written, %s not:\n%s", test.options, test.listed, test.notInModel, text)
		}
	}
	if _, err := d.SetUp(t.Context(), "opencode", Options{Model: "huge"}); err == nil || !strings.Contains(err.Error(), `no model "huge"; cursortray models`) {
		t.Errorf("%v", err)
	}
	// The last one is gone from the plan.
	d.models = d.models[:3]
	if r := d.setUp(t, "opencode", Options{}); r.Model != "auto" {
		t.Errorf("model %s", r.Model)
	}
}

func TestWithoutAListOfModels(t *testing.T) {
	d := newDesk(t)
	d.modelsErr = chat.Errorf(chat.LoginRequired, "log in first")
	if _, err := d.SetUp(t.Context(), "codex", Options{}); err != d.modelsErr {
		t.Errorf("%v", err)
	}
	if r := d.setUp(t, "codex", Options{Model: "mine"}); r.Model != "mine" {
		t.Errorf("%+v", r)
	}
	d.modelsErr, d.models = nil, nil
	if _, err := d.SetUp(t.Context(), "codex", Options{}); err == nil {
		t.Error("set up without any model")
	}
}

func TestSetUpTellsWhatItDid(t *testing.T) {
	d := newDesk(t)
	d.write(t, openCode, "{}")
	r := d.setUp(t, "opencode", Options{})
	if len(r.Files) != 1 || r.Same || r.ByHand || r.Files[0].Path != filepath.Join(d.home, openCode) {
		t.Fatalf("%+v", r)
	}
	if data, err := os.ReadFile(r.Files[0].Backup); err != nil || string(data) != "{}" {
		t.Errorf("backup %q, %v", data, err)
	}
	if text := r.Told("bash"); !strings.Contains(text, "OpenCode is set up, with auto.") || !strings.Contains(text, "backup: ") || strings.Contains(text, "cte-") {
		t.Errorf("%s", text)
	}
	if r = d.setUp(t, "open", Options{}); !r.Same || !strings.Contains(r.Told(""), "nothing was changed") {
		t.Errorf("%+v", r)
	}
	if r = d.setUp(t, "jetbrains", Options{}); !r.ByHand || !strings.Contains(r.Told(""), "API key: cte-of-jetbrains") {
		t.Errorf("%s", r.Told(""))
	}
	if text := d.setUp(t, "goose", Options{}).Told("zsh"); !strings.Contains(text, "What is left for you:") || !strings.Contains(text, "~/.zshrc") || strings.Contains(text, "~/.bashrc") {
		t.Errorf("%s", text)
	}
	r, err := d.Undo(t.Context(), "opencode")
	if err != nil || len(r.Files) != 1 || d.read(t, openCode) != "{}" || !strings.Contains(r.Undone(), "as it was") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, keyed := d.keys.off["opencode"]; keyed {
		t.Error("the key is still good")
	}
	r, err = d.Undo(t.Context(), "goose")
	if err != nil || len(r.Files) != 1 || !r.Files[0].Removed || !strings.Contains(r.Undone(), "removed ") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = d.Undo(t.Context(), "jetbrains"); err != nil || !strings.Contains(r.Undone(), "yourself") {
		t.Errorf("%+v, %v", r, err)
	}
	for _, id := range []string{"jetbrains", "opencode"} {
		if _, err := d.Undo(t.Context(), id); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestABrokenFileIsShownWhatToWrite(t *testing.T) {
	d := newDesk(t)
	d.write(t, openCode, "{")
	r, err := d.SetUp(t.Context(), "opencode", Options{})
	if err == nil || !strings.Contains(err.Error(), openCode) || d.read(t, openCode) != "{" {
		t.Errorf("%v", err)
	}
	if text := r.HandText(""); !strings.Contains(text, `"apiKey": "cte-of-opencode"`) || !strings.HasPrefix(text, "In "+filepath.Join(d.home, openCode)) {
		t.Errorf("%s", text)
	}
}

func TestWithoutKeysNothingIsWritten(t *testing.T) {
	d := newDesk(t)
	d.keys.err = chat.Errorf(chat.Unavailable, "the keychain is locked")
	for name, do := range map[string]func() error{
		"set up": func() error { _, err := d.SetUp(t.Context(), "codex", Options{}); return err },
		"undo":   func() error { _, err := d.Undo(t.Context(), "codex"); return err },
		"check":  func() error { _, err := d.Check(t.Context(), "codex"); return err },
		"off":    func() error { _, err := d.Switch(t.Context(), "codex", true); return err },
	} {
		if err := do(); err != d.keys.err {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := d.List(t.Context()); err != d.keys.err || len(list) < 10 {
		t.Errorf("%d editors, %v", len(list), err)
	}
	entries, err := os.ReadDir(d.home)
	if err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestUndoAfterTheUserHasChangedTheFile(t *testing.T) {
	d := newDesk(t)
	d.write(t, openCode, "{}")
	d.setUp(t, "opencode", Options{})
	d.write(t, openCode, strings.Replace(d.read(t, openCode), "{", "{\n  \"theme\": \"mine\",", 1))
	r, err := d.Undo(t.Context(), "opencode")
	if err != nil || !strings.Contains(r.Undone(), "what you have changed since stays") || !strings.Contains(d.read(t, openCode), "mine") || strings.Contains(d.read(t, openCode), "cursortray") {
		t.Errorf("%s, %v:\n%s", r.Undone(), err, d.read(t, openCode))
	}
}

func TestKeepIsRemembered(t *testing.T) {
	d := newDesk(t)
	keep, choose := true, false
	d.write(t, openCode, "{\"model\": \"mine\"}")
	for _, o := range []Options{{Keep: &keep}, {}, {Model: "big"}} {
		d.setUp(t, "opencode", o)
		if text := d.read(t, openCode); !strings.Contains(text, "\"model\": \"mine\"") || !strings.Contains(text, "\"cursortray\"") {
			t.Errorf("%+v:\n%s", o, text)
		}
	}
	d.setUp(t, "opencode", Options{Keep: &choose})
	if text := d.read(t, openCode); !strings.Contains(text, "\"model\": \"cursortray/big\"") {
		t.Error(text)
	}
}

// A key that cannot be taken back is told, after the files are.
func TestAKeyThatCannotBeRevoked(t *testing.T) {
	d := newDesk(t)
	d.setUp(t, "codex", Options{})
	d.keys.revokeErr = errors.New("disk full")
	if _, err := d.Undo(t.Context(), "codex"); err == nil || !strings.Contains(err.Error(), "key is still good") {
		t.Errorf("%v", err)
	}
	d.keys.revokeErr = nil
	if _, err := d.Undo(t.Context(), "codex"); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

const answer = `data: {"type":"response.output_text.delta","delta":"ready"}` + "\n\n" + `data: {"type":"response.completed"}` + "\n\n"

func TestCheckSaysWhatIsWrong(t *testing.T) {
	const file = ".codex/config.toml"
	for name, test := range map[string]struct {
		change func(d *desk)
		want   []string // in the error; nil: it works
	}{
		"all is well":             {func(*desk) {}, nil},
		"no model is known":       {func(d *desk) { d.modelsErr = errors.New("not logged in") }, nil},
		"cursortray does not run": {func(d *desk) { d.port.err = errors.New("refused") }, []string{"nobody answers at http://127.0.0.1:7777/v1", "cursortray start"}},
		"another port": {func(d *desk) { d.port.err, d.baseURL = errors.New("refused"), "http://127.0.0.1:8888/v1" },
			[]string{"Codex asks at http://127.0.0.1:7777/v1/responses", "cursortray is at http://127.0.0.1:8888/v1", "cursortray setup codex"}},
		"another program": {func(d *desk) { d.port.status, d.baseURL = 404, "http://127.0.0.1:8888/v1" }, []string{"is not cursortray at", "cursortray setup codex"}},
		"an old key":      {func(d *desk) { d.port.status = 401 }, []string{"the key that Codex sends", "cursortray setup codex"}},
		"no such model": {func(d *desk) { d.port.status, d.port.body = 404, `{"error":{"message":"no model x"}}` },
			[]string{"404: no model x", "cursortray setup codex --model ID"}},
		"a spent plan":     {func(d *desk) { d.port.status, d.port.body = 402, `{"error":{"message":"the plan is used up"}}` }, []string{"402: the plan is used up"}},
		"an empty answer":  {func(d *desk) { d.port.body = `data: {"type":"response.completed"}` }, []string{"empty"}},
		"the file is gone": {func(d *desk) { os.Remove(filepath.Join(d.home, file)) }, []string{"not there any more", "cursortray setup codex"}},
		"taken out by hand": {func(d *desk) { os.WriteFile(filepath.Join(d.home, file), []byte("model = \"x\"\n"), 0o600) },
			[]string{"cursortray is not in the file", "cursortray setup codex"}},
		"a broken file": {func(d *desk) { os.WriteFile(filepath.Join(d.home, file), []byte("["), 0o600) }, []string{file}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.port.status, d.port.body = 200, answer
			d.setUp(t, "codex", Options{Model: "big"})
			test.change(d)
			got, err := d.Check(t.Context(), "codex")
			if test.want == nil {
				if err != nil || got.Text != "ready" || got.Model != "big" || got.Guessed {
					t.Errorf("%+v, %v", got, err)
				}
				if !strings.HasPrefix(d.port.asked, "http://127.0.0.1:7777/v1/responses Bearer cte-of-codex ") || !strings.Contains(d.port.asked, `"model":"big"`) {
					t.Errorf("asked %s", d.port.asked)
				}
				return
			}
			for _, words := range test.want {
				if err == nil || !strings.Contains(err.Error(), words) {
					t.Errorf("error %v, want %q in it", err, words)
				}
			}
			if err != nil && strings.Contains(err.Error(), "cte-") {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	d := newDesk(t)
	if _, err := d.Check(t.Context(), "codex"); err == nil || !strings.Contains(err.Error(), "Codex is not set up; run: cursortray setup codex") {
		t.Errorf("%v", err)
	}
	if _, err := d.Check(t.Context(), "co"); err == nil || !strings.HasPrefix(err.Error(), `"co" can be codex or continue or copilot-cli`) {
		t.Errorf("a beginning of several: %v", err)
	}
	if _, err := d.Check(t.Context(), "emacs"); !errors.Is(err, editors.ErrUnknown) {
		t.Errorf("of none: %v", err)
	}
}

func TestMenuTellsInOneLine(t *testing.T) {
	d := newDesk(t)
	m := Menu{Service: d.Service, Shell: "bash"}
	d.write(t, openCode, "{}")
	done, err := m.SetUp(t.Context(), "opencode")
	if err != nil || done.Copy != "" || !strings.HasPrefix(done.Notice, "OpenCode is set up with auto: wrote "+filepath.Join(d.home, openCode)+" (backup: ") {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = m.SetUp(t.Context(), "opencode"); err != nil || done.Notice != "OpenCode is set up already" {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = m.SetUp(t.Context(), "cline"); err != nil || done.Notice != "Cline (VS Code) takes its settings from you" || !strings.Contains(done.Copy, "cte-of-cline") {
		t.Errorf("%+v, %v", done, err)
	}
	m.ForThisRun = func() bool { return true }
	if done, err = m.SetUp(t.Context(), "aider"); err != nil || !strings.Contains(done.Notice, "its key ends with cursortray") {
		t.Errorf("%+v, %v", done, err)
	}
	d.write(t, ".codex/config.toml", "[")
	if done, err = m.SetUp(t.Context(), "codex"); err == nil || !strings.Contains(done.Copy, "cte-of-codex") || strings.Contains(err.Error(), "cte-") {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = m.Switch(t.Context(), "opencode", true); err != nil || done.Notice != "OpenCode is switched off: its requests are refused" {
		t.Errorf("%+v, %v", done, err)
	}
	list, err := m.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.ID == "opencode" && (!e.Found || !e.Keyed || !e.Off || e.State != "set up") {
			t.Errorf("%+v", e)
		}
	}
	if done, err = m.Switch(t.Context(), "opencode", false); err != nil || done.Notice != "OpenCode is switched on" {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = m.Undo(t.Context(), "opencode"); err != nil || !strings.HasPrefix(done.Notice, "OpenCode is as it was: ") {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = m.Undo(t.Context(), "cline"); err != nil || !strings.Contains(done.Notice, "yourself") {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestShellOf(t *testing.T) {
	for program, want := range map[string]string{
		"/bin/bash": "bash", "/usr/bin/zsh": "zsh", "fish": "fish", `C:\Program Files\PowerShell\7\pwsh.exe`: "PowerShell",
		"powershell": "PowerShell", "/bin/sh": "", "": "", "cmd.exe": "",
	} {
		if got := ShellOf(program); got != want {
			t.Errorf("%q: %q, want %q", program, got, want)
		}
	}
}
