package agentcli

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// endStrays ends processes that a test let out of their group on purpose.
func endStrays(t *testing.T, pids string) {
	t.Helper()
	entries, err := os.ReadDir(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if process, err := os.FindProcess(pid); err == nil {
			process.Kill() // most are gone already
		}
	}
	r := &rig{pids: pids}
	eventually(t, 5*time.Second, "the strays are gone", func() bool { return r.live(t) == 0 })
}
