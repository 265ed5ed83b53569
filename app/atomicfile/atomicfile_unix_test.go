//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, chain := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "chain")
	for from, to := range map[string]string{link: "file", chain: link} { // the file comes later
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []os.FileMode{0o644, 0o600} {
		if err := Replace(chain, []byte(mode.String()), mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("the file: %v, %v; want %v", info, err, mode)
		}
		for _, name := range []string{link, chain} {
			if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s is no link any more", name)
			}
		}
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "loop"), nil, 0o600); err == nil {
		t.Error("a link to itself was replaced")
	}
}
