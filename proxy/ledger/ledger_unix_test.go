//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyTheOwnerReads: all files are private, also one that was not.
func TestOnlyTheOwnerReads(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	b := fresh(t)
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	b.Add(Entry{At: at(1, 1), Outcome: OK})
	b.await(t.Context())
	files, err := os.ReadDir(filepath.Dir(b.path))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

// TestPipeInItsPlace: nobody waits for the other end.
func TestPipeInItsPlace(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "ledger.db"), Options{})
	if err := syscall.Mkfifo(b.path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Recent(t.Context(), 1); err == nil {
		t.Error("a pipe was read")
	}
	b.Add(Entry{At: at(1, 1), Model: "m", Outcome: OK})
	if got, err := b.Recent(t.Context(), 1); err != nil || len(got) != 1 || !strings.Contains(b.log.String(), "broken-1") {
		t.Errorf("%+v, %v\n%s", got, err, b.log)
	}
}
