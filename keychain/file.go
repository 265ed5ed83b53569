package keychain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File returns a Store that keeps each secret in a private file of the folder
// dir, which is made when the first secret is stored.
func File(dir string) Store { return &file{dir: dir} }

type file struct{ dir string }

func (f *file) Kind() string { return "file" }

func (f *file) Get(_ context.Context, name string) ([]byte, error) {
	value, err := os.ReadFile(filepath.Join(f.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	return value, err
}

func (f *file) Set(_ context.Context, name string, value []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, name), value, 0o600)
}

func (f *file) Delete(_ context.Context, name string) error {
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}
