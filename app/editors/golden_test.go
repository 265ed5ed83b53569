package editors

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"cursortray/app/confedit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the cases want")

// testSetup has a model of which everything is known and one of which nothing
// is.
func testSetup() Setup {
	return Setup{
		BaseURL: "http://127.0.0.1:7777/v1", Key: "local-key-1", Model: "sonnet-4.5", Small: "gpt-5-mini",
		Models: []Model{
			{ID: "sonnet-4.5", Name: "Sonnet 4.5", Context: 200000, Output: 64000, Images: true, Reasoning: true, Price: &Price{3, 15, 0.3, 3.75}},
			{ID: "gpt-5-mini"},
		},
	}
}

// desk is a home folder with nothing but what a test puts there.
type desk struct {
	*Manager
	home, state string
}

func newDesk(t *testing.T, files map[string]string) desk {
	t.Helper()
	d := desk{home: t.TempDir(), state: filepath.Join(t.TempDir(), "editors")}
	d.Manager = New(Config{
		Env: Env{OS: Linux, Home: d.home, Get: func(string) string { return "" }}, State: d.state,
		LookPath: func(string) (string, error) { return "", errors.New("not here") },
	})
	for path, text := range files {
		d.write(t, path, text)
	}
	return d
}

func (d desk) path(name string) string { return filepath.Join(d.home, filepath.FromSlash(name)) }

func (d desk) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files returns everything in the home folder, empty folders included.
func (d desk) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.Walk(d.home, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(d.home, path)
		name = filepath.ToSlash(name)
		if info.IsDir() {
			if entries, _ := os.ReadDir(path); len(entries) == 0 && name != "." {
				files[name+"/"] = ""
			}
			return nil
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (d desk) plan(t *testing.T, id string, s Setup) *Plan {
	t.Helper()
	p, err := d.Plan(id, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (d desk) setUp(t *testing.T, id string, s Setup) {
	t.Helper()
	if _, err := d.Apply(d.plan(t, id, s)); err != nil {
		t.Fatal(err)
	}
}

// golden is a case of a file in testdata: files before and after.
type golden struct {
	name     string
	in, want map[string]string
	problem  string
}

func readGolden(t *testing.T, path string) []golden {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	var add func(line string)
	for line := range strings.Lines(string(data)) {
		title := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "=== "):
			cases = append(cases, golden{name: title[4:], in: map[string]string{}, want: map[string]string{}})
		case strings.HasPrefix(line, "--- "):
			c := &cases[len(cases)-1]
			kind, file, _ := strings.Cut(title[4:], " ")
			switch kind {
			case "in":
				c.in[file] = ""
				add = func(line string) { c.in[file] += line }
			case "want":
				c.want[file] = ""
				add = func(line string) { c.want[file] += line }
			case "problem":
				add = func(line string) { c.problem += line }
			}
		default:
			add(line)
		}
	}
	return cases
}

func writeGolden(t *testing.T, path string, cases []golden) {
	t.Helper()
	var out strings.Builder
	section := func(kind string, files map[string]string) {
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			out.WriteString("--- " + kind + " " + name + "\n" + files[name])
		}
	}
	for _, c := range cases {
		out.WriteString("=== " + c.name + "\n")
		section("in", c.in)
		section("want", c.want)
		if c.problem != "" {
			out.WriteString("--- problem\n" + c.problem)
		}
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDS1_SetUpAndUndo(t *testing.T) {
	for _, e := range all() {
		if e.targets == nil {
			continue
		}
		t.Run(e.id, func(t *testing.T) {
			path := filepath.Join("testdata", e.id+".txt")
			cases := readGolden(t, path)
			haveAllKinds(t, cases)
			for i := range cases {
				t.Run(cases[i].name, func(t *testing.T) { runGolden(t, e.id, &cases[i]) })
			}
			if *update {
				writeGolden(t, path, cases)
			}
		})
	}
}

// haveAllKinds wants at least one case of each kind of file that users have.
func haveAllKinds(t *testing.T, cases []golden) {
	t.Helper()
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	all := strings.Join(names, "\n")
	for kind, words := range map[string][]string{
		"empty": {"empty"}, "comments": {"comments"}, "already set up": {"already"}, "broken": {"broken"}, "others": {"other", "another"},
	} {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(all, word) }) {
			t.Errorf("no case for %s among\n%s", kind, all)
		}
	}
	if len(cases) < 5 {
		t.Errorf("%d cases", len(cases))
	}
}

// answering stands in for the port: it wants one request as the editor makes
// it.
type answering struct {
	t    *testing.T
	e    editor
	seen int
}

func (a *answering) Do(r *http.Request) (*http.Response, error) {
	a.seen++
	var body wireRequest
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		a.t.Error(err)
	}
	s := testSetup()
	base := s.BaseURL
	if a.e.dialect == messages {
		base = s.root()
	}
	if want := a.e.dialect.url(base); r.URL.String() != want || r.Header.Get("Authorization") != "Bearer "+s.Key || body.Model != s.Model {
		a.t.Errorf("asked %s for %s with %q, want %s for %s", r.URL, body.Model, r.Header.Get("Authorization"), want, s.Model)
	}
	stream := map[dialect]string{
		chatCompletions: `{"choices":[{"delta":{"content":"ready"},"finish_reason":"stop"}]}`,
		responses:       `{"type":"response.output_text.delta","delta":"ready"}` + "\n\ndata: " + `{"type":"response.completed"}`,
		messages:        `{"type":"content_block_delta","delta":{"type":"text_delta","text":"ready"}}` + "\n\ndata: " + `{"type":"message_stop"}`,
	}[a.e.dialect]
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("data: " + stream + "\n\n"))}, nil
}

// checkGolden: the file that was written leads to the port.
func checkGolden(t *testing.T, d desk, id string) {
	t.Helper()
	// What is not in the file comes from here, what is in it does not.
	s := testSetup()
	e := mustEditor(t, id)
	for _, v := range d.variants(e) {
		if v.says == nil {
			continue
		}
		if says := v.says(s); says.base != nil {
			s.BaseURL = "http://127.0.0.1:1/v1"
		}
		if says := v.says(s); says.key != nil {
			s.Key = "another-key"
		}
	}
	port := &answering{t: t, e: e}
	if answer, err := d.Check(t.Context(), port, id, s); err != nil || answer.Text != "ready" || port.seen != 1 {
		t.Errorf("check: %+v, %v, asked %d times", answer, err, port.seen)
	}
}

func runGolden(t *testing.T, id string, c *golden) {
	d := newDesk(t, c.in)
	p := d.plan(t, id, testSetup())
	if err := p.Problem(); err != nil {
		runBroken(t, d, p, c)
		return
	}
	if _, err := d.Apply(p); err != nil {
		t.Fatal(err)
	}
	got := changed(c.in, d.files(t))
	if *update {
		c.want, c.problem = got, ""
	}
	if diff := cmp.Diff(c.want, got); diff != "" {
		t.Errorf("after set-up (-want +got):\n%s", diff)
	}
	checkGolden(t, d, id)
	if again := d.plan(t, id, testSetup()); again.Changes() || again.Problem() != nil {
		t.Errorf("a second run would change something: %v", again.Problem())
	}
	if state, err := d.stateOf(mustEditor(t, id)); state != SetUp {
		t.Errorf("state %q, %v", state, err)
	}
	if _, err := d.Undo(id); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.in, d.files(t)); diff != "" {
		t.Errorf("after undo (-want +got):\n%s", diff)
	}

	// The same when the user has edited the files in between.
	d.setUp(t, id, testSetup())
	before := map[string]string{}
	for _, f := range p.Files {
		name, _ := filepath.Rel(d.home, f.Path)
		name = filepath.ToSlash(name)
		d.write(t, name, d.files(t)[name]+"\n")
		before[name] = string(f.Old)
	}
	if _, err := d.Undo(id); err != nil {
		t.Fatal(err)
	}
	after := d.files(t)
	for name, text := range before {
		sameContent(t, name, text, after[name], strings.HasSuffix(c.name, "*"))
	}
}

func mustEditor(t *testing.T, id string) editor {
	t.Helper()
	for _, e := range all() {
		if e.id == id {
			return e
		}
	}
	t.Fatal(id)
	return editor{}
}

// changed returns the files that are not as before.
func changed(before, after map[string]string) map[string]string {
	files := map[string]string{}
	for name, text := range after {
		if old, ok := before[name]; !ok || old != text {
			files[name] = text
		}
	}
	return files
}

// sameContent compares a file with the one before set-up. Where a value of the
// user's was put back, its spelling and place may differ: loose.
func sameContent(t *testing.T, name, want, got string, loose bool) {
	t.Helper()
	format := map[string]confedit.Format{".json": confedit.JSON, ".jsonc": confedit.JSON, ".toml": confedit.TOML, ".yaml": confedit.YAML, ".yml": confedit.YAML, ".env": confedit.Dotenv}[filepath.Ext(name)]
	a, errA := confedit.Decode(format, []byte(want))
	b, errB := confedit.Decode(format, []byte(got))
	if errA != nil || errB != nil || !confedit.Equal(a, b) && !(empty(a) && empty(b)) && !loose {
		t.Errorf("%s after edit and undo:\n%s\nwant\n%s", name, got, want)
	}
	if loose {
		return
	}
	// Comments and layout, too.
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if squeeze(want) != squeeze(got) && a != nil {
		t.Errorf("%s after edit and undo:\n%s\nwant\n%s", name, got, want)
	}
}

// runBroken: the file is left alone, and there is the text to paste.
func runBroken(t *testing.T, d desk, p *Plan, c *golden) {
	problem := strings.ReplaceAll(p.Problem().Error(), d.home, "~") + "\n"
	if *update {
		c.want, c.problem = map[string]string{}, problem
	}
	if problem != c.problem {
		t.Errorf("problem %q, want %q", problem, c.problem)
	}
	if _, err := d.Apply(p); err == nil {
		t.Error("applied all the same")
	}
	if diff := cmp.Diff(c.in, d.files(t)); diff != "" {
		t.Errorf("touched (-want +got):\n%s", diff)
	}
	if len(p.Text) == 0 || !strings.Contains(p.Text[0].Text, "127.0.0.1:7777") {
		t.Error("no snippet to paste")
	}
	if _, err := d.Undo(p.Editor); !errors.Is(err, ErrNotSetUp) {
		t.Errorf("undo: %v", err)
	}
}

// What users of editors without a file are shown, and the shells of all.
func TestByHand(t *testing.T) {
	var got strings.Builder
	d := newDesk(t, nil)
	for _, e := range all() {
		text, steps, err := d.Snippet(e.id, testSetup())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range text {
			if strings.Contains(s.Text, "CURSORTRAY_API_KEY") {
				t.Errorf("%s sets the variable of cursortray's own main key", e.id)
			}
			if s.For != s.File { // a shell
				got.WriteString("=== " + e.id + " in " + s.File + " (" + s.For + ")\n" + s.Text)
			}
		}
		if len(steps) > 0 {
			got.WriteString("=== " + e.id + "\n" + strings.Join(steps, "\n") + "\n")
		}
	}
	path := filepath.Join("testdata", "byhand.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
