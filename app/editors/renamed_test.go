package editors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names of models are for the eye, and users change them: undo finds cursortray's
// by the key. What only looks like them stays.
func TestUndoFindsModelsThatWereRenamed(t *testing.T) {
	for name, tt := range map[string]struct{ file, before, other string }{
		"YAML": {
			file:   ".continue/config.yaml",
			before: "name: x\nmodels:\n  - name: A # mine\n    provider: openai\n    apiKey: sk-mine\n  - name: Mine\n    apiKey: sk-mine\ncontext:\n  - provider: code\n",
			other:  "# more\n",
		},
		"JSON": {
			file:   ".continue/config.json",
			before: "{\n  \"models\": [\n    {\"title\": \"A\", \"apiKey\": \"sk-mine\"},\n    {\"title\": \"Mine\"}\n  ]\n}\n",
			other:  "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, map[string]string{tt.file: tt.before})
			d.setUp(t, "continue", testSetup())
			text := d.files(t)[tt.file]
			for n := 1; strings.Contains(text, " (cursortray)"); n++ {
				text = strings.Replace(text, " (cursortray)", strings.Repeat("!", n), 1)
			}
			d.write(t, tt.file, text+tt.other)
			d.setUp(t, "continue", testSetup()) // they come back beside the renamed ones
			d.write(t, tt.file, d.files(t)[tt.file]+tt.other)
			if _, err := d.Undo("continue"); err != nil {
				t.Fatal(err)
			}
			if got, want := d.files(t)[tt.file], tt.before+tt.other+tt.other; got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
	// The user's own model of the same name comes first, so the other one
	// cannot be named: both stay.
	file := ".continue/config.yaml"
	d := newDesk(t, map[string]string{file: "models:\n  - name: Twice\n    apiKey: sk-mine\n"})
	d.setUp(t, "continue", testSetup())
	text := d.files(t)[file]
	from := strings.Index(text, "  - name: \"")
	if from < 0 {
		from = strings.LastIndex(text[:strings.Index(text, " (cursortray)")], "  - name: ")
	}
	to := from + strings.Index(text[from:], "\n")
	d.write(t, file, text[:from]+"  - name: Twice"+text[to:])
	if _, err := d.Undo("continue"); err != nil {
		t.Fatal(err)
	}
	if got := d.files(t)[file]; strings.Count(got, "name: Twice") != 2 || !strings.Contains(got, "sk-mine") {
		t.Errorf("the user's own is gone:\n%s", got)
	}

	// What the user had with the same key, from before, is not ours.
	before := "models:\n  - name: By hand\n    model: sonnet-4.5\n    apiKey: local-key-1\n"
	d = newDesk(t, map[string]string{file: before})
	d.setUp(t, "continue", testSetup())
	d.write(t, file, d.files(t)[file]+"# more\n")
	if _, err := d.Undo("continue"); err != nil {
		t.Fatal(err)
	}
	if got := d.files(t)[file]; got != before+"# more\n" {
		t.Errorf("%s", got)
	}
}

// Only the user can tell what to do about a record that is no record.
func TestADamagedRecordIsNamed(t *testing.T) {
	d := newDesk(t, map[string]string{".pi/agent/models.json": "{}\n"})
	d.setUp(t, "pi", testSetup())
	path := filepath.Join(d.state, "pi.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, planErr := d.Plan("pi", testSetup())
	_, undoErr := d.Undo("pi")
	for _, err := range []error{planErr, undoErr} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v", err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.setUp(t, "pi", testSetup())
}
