//go:build unix

package editorsetup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExposed(t *testing.T) {
	top := t.TempDir()
	dir, file := filepath.Join(top, "home"), filepath.Join(top, "home", "settings")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir, file os.FileMode
		want      bool
	}{
		{0o755, 0o644, true}, {0o711, 0o604, true}, {0o700, 0o644, false}, {0o750, 0o644, false}, {0o755, 0o640, false}, {0o755, 0o600, false},
	} {
		for path, mode := range map[string]os.FileMode{dir: test.dir, file: test.file} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if got := exposedBelow(top, file); got != test.want {
			t.Errorf("folder %o, file %o: %v", test.dir, test.file, got)
		}
	}
	if exposed(filepath.Join(top, "none")) {
		t.Error("a file that is not there")
	}
}

// The permissions stay, but the user is told; of files without the key as
// little as of those that nobody else can read.
func TestFilesThatShowTheKeyToOthers(t *testing.T) {
	d := newDesk(t)
	d.exposed = func(path string) bool { return !strings.HasSuffix(path, filepath.Join(".qwen", "settings.json")) }
	for id, want := range map[string]string{"codex": ".codex/config.toml", "qwen-code": ".qwen/.env", "zed": ""} {
		for range 2 {
			told := d.setUp(t, id, Options{}).Told("bash")
			if strings.Contains(told, "chmod o-r "+filepath.Join(d.home, want)+"\n") != (want != "") || strings.Count(told, "chmod") > 1 {
				t.Errorf("%s:\n%s", id, told)
			}
		}
	}
	d.exposed = func(string) bool { return false }
	if told := d.setUp(t, "codex", Options{}).Told("bash"); strings.Contains(told, "chmod") {
		t.Errorf("%s", told)
	}
}
