package agentcli

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// doomedEnv makes the test binary a program that runs a turn until it is killed;
// its value is the CLI's script.
const doomedEnv = "AGENTCLI_DOOMED"

func runDoomed() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	environ := append(os.Environ(), agentsim.ScriptEnv+"="+os.Getenv(doomedEnv), doomedEnv+"=")
	listen(context.Background(), New(Config{Binary: self, Environ: environ}), hello(), nil)
	os.Exit(3) // the turn was not to end
}

// TestRS4_ChildDiesWithTheProgram kills the whole program in the middle of a run
// whose process ignores gentle signals.
func TestRS4_ChildDiesWithTheProgram(t *testing.T) {
	pids := t.TempDir()
	script := agentsim.Script{Mode: agentsim.Stream, Count: 100000, Interval: 10 * time.Millisecond, IgnoreTerm: true}
	_, text, _ := strings.Cut(script.Environ(), "=")
	program := exec.Command(self(t))
	program.Env = append(os.Environ(), doomedEnv+"="+text, agentsim.PidsEnv+"="+pids, "TMPDIR="+t.TempDir())
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	r := &rig{pids: pids}
	// Version, status and the run itself.
	eventually(t, 20*time.Second, "the run has begun", func() bool { return r.starts(t) >= 3 && r.live(t) == 1 })
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	program.Wait() // "killed" is what is wanted
	eventually(t, 5*time.Second, "the child of a killed program is gone", func() bool { return r.live(t) == 0 })
}
