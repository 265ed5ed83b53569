//go:build unix

package cursor

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file holds nothing up.
func TestPipesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	prices := filepath.Join(dir, "prices.json")
	for _, path := range []string{prices, modelPath(dir, "ada")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		own := &Prices{}
		if p, err := own.OrFile(prices); p != own || err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("prices: %v", err)
		}
		if _, _, err := readModelFile(dir, "ada"); err == nil {
			t.Error("a list of models came out of a pipe")
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("it waits for the pipe")
	}
}
