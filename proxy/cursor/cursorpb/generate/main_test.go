package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGeneratedCodeIsCurrent: the committed code is what the generator writes
// from the .proto files.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, code) {
			t.Errorf("%s is not current (%v): run go generate", name, err)
		}
	}
	for _, pattern := range []string{"*.pb.go", "*.connect.go"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(file string) bool { return want[filepath.Base(file)] != nil })
		if len(found) > 0 {
			t.Errorf("no .proto file gives %v", found)
		}
	}
}
