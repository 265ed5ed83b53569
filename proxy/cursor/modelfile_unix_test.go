//go:build unix

package cursor

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestModelFileIsForItsOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "er")
	c := newModelCache(t, newFakeModels("a"), dir)
	ids(t, c, "me")
	c.Close()
	for path, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, modelPath(dir, "me"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
