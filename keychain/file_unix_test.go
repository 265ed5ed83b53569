//go:build unix

package keychain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFileStoreIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "secrets")
	if err := File(dir).Set(t.Context(), "key", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{"": 0o700, secretPrefix + "key": 0o600, lockName: 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestFileStoreRefusesWhatOthersCanRead(t *testing.T) {
	tests := []struct {
		name   string
		expose func(dir, file string) error
	}{
		{"folder", func(dir, _ string) error { return os.Chmod(dir, 0o755) }},
		{"folder of a group", func(dir, _ string) error { return os.Chmod(dir, 0o710) }},
		{"file", func(_, file string) error { return os.Chmod(file, 0o644) }},
		{"file of a group", func(_, file string) error { return os.Chmod(file, 0o620) }},
		{"link", func(_, file string) error {
			return errors.Join(os.Rename(file, file+"2"), os.Symlink(file+"2", file))
		}},
		{"pipe", func(_, file string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "secrets")
			file := filepath.Join(dir, secretPrefix+"key")
			s := File(dir)
			if err := s.Set(t.Context(), "key", []byte("sk-123")); err != nil {
				t.Fatal(err)
			}
			if err := tt.expose(dir, file); err != nil {
				t.Fatal(err)
			}
			_, err := s.Get(t.Context(), "key")
			if !errors.Is(err, ErrUnavailable) {
				t.Fatalf("Get: %v", err)
			}
			if strings.HasPrefix(tt.name, "f") && !strings.Contains(err.Error(), "chmod") {
				t.Errorf("the error gives no remedy: %v", err)
			}
			if strings.HasPrefix(tt.name, "folder") {
				if err := s.Set(t.Context(), "key", []byte("sk-456")); !errors.Is(err, ErrUnavailable) {
					t.Errorf("Set: %v", err)
				}
			}
			if err := s.Delete(t.Context(), "key"); err != nil {
				t.Errorf("Delete: %v", err)
			}
			if _, err := os.Lstat(file); err == nil {
				t.Error("Delete left the file")
			}
		})
	}
}
