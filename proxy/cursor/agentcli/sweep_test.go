package agentcli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// TestFoldersOfAKilledProgramAreSwept: the next start removes them, and leaves
// alone what belongs to a program that lives.
func TestFoldersOfAKilledProgramAreSwept(t *testing.T) {
	parent := t.TempDir()
	killProgram(t, agentsim.Script{Mode: agentsim.Stream, OpenTool: time.Minute}, "", 1, parent)
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 1 {
		t.Fatalf("a killed program leaves %v, %v", left, err)
	}
	orphan := func(name string, age time.Duration) string {
		dir := filepath.Join(parent, rootPrefix+name)
		if err := os.MkdirAll(filepath.Join(dir, "chat-1"), 0o700); err != nil {
			t.Fatal(err)
		}
		grow(t, dir, age)
		return dir
	}
	old, young := orphan("old", 2*staleAge), orphan("young", time.Minute)
	foreign := filepath.Join(parent, "something")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	grow(t, foreign, 2*staleAge)

	first := newRig(t, agentsim.Script{}, func(c *Config) { c.Workspaces = parent })
	first.answer(t, hello())
	for dir, gone := range map[string]bool{filepath.Join(parent, left[0].Name()): true, old: true, young: false, foreign: false} {
		if isFolder(dir) == gone {
			t.Errorf("%s is gone: %v", dir, !gone)
		}
	}
	// One that was idle for days is not abandoned.
	own := first.Backend.folders.roots[parent]
	grow(t, own, 2*staleAge)
	second := newRig(t, agentsim.Script{}, func(c *Config) { c.Workspaces = parent })
	second.answer(t, hello())
	if !isFolder(own) {
		t.Error("the folder of a live program was removed")
	}
	first.answer(t, hello())
}

// grow makes a folder look older.
func grow(t *testing.T, dir string, age time.Duration) {
	t.Helper()
	then := time.Now().Add(-age)
	if err := os.Chtimes(dir, then, then); err != nil {
		t.Fatal(err)
	}
}
