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

// TestFileTakenAway: what comes later is in the file that users find, also when
// they put an older one back.
func TestFileTakenAway(t *testing.T) {
	b := fresh(t)
	add := func(model string, want int) {
		t.Helper()
		b.Add(Entry{At: at(1, 1), Model: model, Outcome: OK})
		b.await(t.Context())
		if got, err := OpenReader(b.path).Recent(t.Context(), 10); err != nil || len(got) != want || got[0].Model != model {
			t.Errorf("%s: %+v, %v, want %d\n%s", model, got, err, want, b.log)
		}
	}
	remove := func() {
		t.Helper()
		for _, beside := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(b.path + beside); err != nil {
				t.Fatal(err)
			}
		}
	}
	add("a", 1)
	remove()
	add("b", 1)
	other := fresh(t)
	other.Add(Entry{At: at(1, 1), Model: "old", Outcome: OK})
	other.Close()
	remove()
	if err := os.Rename(other.path, b.path); err != nil {
		t.Fatal(err)
	}
	add("c", 2)
	if err := os.Remove(b.path); err != nil { // and not what is beside it
		t.Fatal(err)
	}
	add("d", 1)
	if n := strings.Count(b.log.String(), "was taken away"); n != 3 {
		t.Errorf("told %d times:\n%s", n, b.log)
	}
}
