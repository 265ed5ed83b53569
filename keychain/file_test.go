package keychain

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFileStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "secrets")
	testStore(t, File(dir))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		t.Errorf("after Delete the folder holds %v, %v", entries, err)
	}
}

func TestFileStoreTakesNoFolderToRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	if _, err := File(dir).Get(t.Context(), "key"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if err := File(dir).Delete(t.Context(), "key"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("a folder was made although nothing was stored")
	}
}

func TestFileStoreRemovesWhatAKilledWriterLeft(t *testing.T) {
	for _, change := range []func(Store) error{
		func(s Store) error { return s.Set(t.Context(), "key", []byte("new")) },
		func(s Store) error { return s.Delete(t.Context(), "key") },
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(dir, unfinished+"login")
		if err := os.WriteFile(left, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change(File(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(left); err == nil {
			t.Error("the unfinished file is still there")
		}
	}
}

func TestFileStoreTellsDamage(t *testing.T) {
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return append(b, 'x') },
		func(b []byte) []byte { return []byte("sk-123") },
	} {
		dir := filepath.Join(t.TempDir(), "secrets")
		s := File(dir)
		if err := s.Set(t.Context(), "key", []byte("sk-123")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, secretPrefix+"key")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), "key"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestFileStoreNeedsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := File(path).Set(t.Context(), "key", []byte("x")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
}
