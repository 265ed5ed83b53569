package agentcli

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// noFolderThere returns paths at which no folder can be made, whoever asks.
func noFolderThere(t *testing.T) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "gone", "away"), link); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"a file": file, "below a file": filepath.Join(file, "cache"), "a link to nothing": link}
}

// TestFoldersFallBack: a cache that cannot be written to is no reason to refuse
// work, and no missing CLI.
func TestFoldersFallBack(t *testing.T) {
	for name, dir := range noFolderThere(t) {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			temp := t.TempDir()
			r := newRig(t, agentsim.Script{}, func(c *Config) {
				c.Workspaces = dir
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			r.Backend.folders.parents[1] = temp
			if err := r.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
			r.answer(t, hello())
			r.answer(t, hello())
			if cwd := r.runs(t)[0].Cwd; !strings.HasPrefix(cwd, realPath(t, temp)) {
				t.Errorf("the run worked in %s", cwd)
			}
			if text := log.String(); strings.Count(text, "private folders") != 1 || !strings.Contains(text, filepath.Base(dir)) {
				t.Errorf("log:\n%s", text)
			}
			r.Close()
			if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestFoldersNowhere: the error names the folders, the system's reason and what
// to do, whatever is asked of the back-end.
func TestFoldersNowhere(t *testing.T) {
	for name, dir := range noFolderThere(t) {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			other := filepath.Join(home, "also", "file")
			if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, agentsim.Script{}, setEnv("HOME="+home), func(c *Config) { c.Workspaces = dir })
			r.Backend.folders.parents[1] = other
			_, askErr := r.ask(t, hello())
			_, modelsErr := r.Models(t.Context())
			for what, err := range map[string]error{"Check": r.Check(t.Context()), "Chat": askErr, "Models": modelsErr} {
				got := chat.AsError(err)
				if got == nil || got.Kind != chat.Unavailable || got.Code == "cursor_cli_not_found" {
					t.Errorf("%s: %v", what, err)
					continue
				}
				for _, part := range []string{dir, filepath.Join("~", "also", "file"), "try again"} {
					if !strings.Contains(got.Message, part) {
						t.Errorf("%s: the message does not hold %q: %s", what, part, got.Message)
					}
				}
			}
		})
	}
}

// TestFoldersSayTheReason: the words are the system's own.
func TestFoldersSayTheReason(t *testing.T) {
	b := New(Config{Environ: []string{homeVariable + "=/home/ann"}})
	err := b.folderError(&noFolder{tries: []folderTry{
		{"/home/ann/.cache/x", &fs.PathError{Op: "mkdir", Path: "/home/ann/.cache/x/y", Err: syscall.ENOSPC}},
		{"/tmp", &fs.PathError{Op: "open", Path: "/tmp/z", Err: syscall.EROFS}},
	}})
	for _, part := range []string{"~/.cache/x (" + syscall.ENOSPC.Error() + ")", "/tmp (" + syscall.EROFS.Error() + ")"} {
		if !strings.Contains(err.Message, part) {
			t.Errorf("%q does not hold %q", err.Message, part)
		}
	}
}

// TestFoldersThatVanish: somebody may clear a cache at any time.
func TestFoldersThatVanish(t *testing.T) {
	r := newRig(t, agentsim.Script{})
	r.answer(t, hello())
	for range 2 {
		eventually(t, 2*lingerGrace, "a folder is at hand", func() bool {
			r.Backend.folders.mu.Lock()
			defer r.Backend.folders.mu.Unlock()
			return len(r.Backend.folders.spare) > 0 && !anyChild(r.Backend)
		})
		left, err := os.ReadDir(r.folders)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range left {
			if err := os.RemoveAll(filepath.Join(r.folders, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
		r.answer(t, hello())
	}
	if _, err := r.Models(t.Context()); err != nil {
		t.Errorf("Models: %v", err)
	}
}

// TestFoldersAreFresh: a run gets a folder of a new name with nothing in it but
// what belongs there, even where it is an old one that was left as it was.
func TestFoldersAreFresh(t *testing.T) {
	for name, test := range map[string]struct {
		touch   func(dir string) error
		renamed bool
	}{
		"untouched":     {func(string) error { return nil }, true},
		"a file":        {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600) }, false},
		"a hidden file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, ".cursor", ".x"), nil, 0o600) }, false},
		"a rule": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".cursor", "rules", "a.mdc"), nil, 0o600)
		}, false},
		"other settings": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".cursor", "cli-config.json"), []byte("{}"), 0o600)
		}, false},
		"settings of the same size": {func(dir string) error {
			text := strings.Replace(minimalConfig, "false", "true ", 1)
			return os.WriteFile(filepath.Join(dir, ".cursor", "cli-config.json"), []byte(text), 0o600)
		}, false},
		"no settings": {func(dir string) error { return os.Remove(filepath.Join(dir, ".cursor", "cli-config.json")) }, false},
		"a link": {func(dir string) error {
			rules := filepath.Join(dir, ".cursor", "rules")
			return errors.Join(os.Remove(rules), os.Symlink(t.TempDir(), rules))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolders(slog.New(slog.DiscardHandler), t.TempDir(), 2)
			w, err := f.private()
			if err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(w.dir)
			if err == nil {
				err = test.touch(w.dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.giveBack(w)
			f.busy.Wait()
			if isFolder(w.dir) {
				t.Error("the folder is still there")
			}
			if len(f.spare) != 1 || !f.spare[0].untouched() || filepath.Dir(f.spare[0].dir) != filepath.Dir(w.dir) {
				t.Fatalf("in stock: %v", f.spare)
			}
			after, err := os.Stat(f.spare[0].dir)
			if err != nil || after.Mode().Perm() != 0o700 || test.renamed && !os.SameFile(before, after) {
				t.Errorf("%v, %v, renamed: %v", after.Mode(), err, os.SameFile(before, after))
			}
			if err := f.close(); err != nil {
				t.Error(err)
			}
		})
	}
}
