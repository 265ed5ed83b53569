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
// its value is the CLI's script. doomedCLI is the CLI, if not the binary itself.
const (
	doomedEnv = "AGENTCLI_DOOMED"
	doomedCLI = "AGENTCLI_DOOMED_CLI"
)

func runDoomed() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if cli := os.Getenv(doomedCLI); cli != "" {
		self = cli
	}
	environ := append(os.Environ(), agentsim.ScriptEnv+"="+os.Getenv(doomedEnv), doomedEnv+"=")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // nobody may come to kill it
	listen(ctx, New(Config{Binary: self, Environ: environ}), hello(), nil)
	cancel()
	os.Exit(3) // the turn was not to end
}

// TestRS4_ChildDiesWithTheProgram kills the whole program in the middle of a run
// whose process ignores gentle signals, and so does what that has started.
func TestRS4_ChildDiesWithTheProgram(t *testing.T) {
	silent := agentsim.Script{Mode: agentsim.Stream, OpenTool: time.Minute, IgnoreTerm: true}
	talking := agentsim.Script{Mode: agentsim.Stream, Count: 100000, Interval: 10 * time.Millisecond, IgnoreTerm: true}
	family := talking
	family.Grandchild = true
	t.Run("talking", func(t *testing.T) { killProgram(t, talking, "", 1, t.TempDir()) })
	t.Run("silent", func(t *testing.T) { killProgram(t, silent, "", 1, t.TempDir()) })
	t.Run("with a grandchild", func(t *testing.T) { killProgram(t, family, "", 2, t.TempDir()) })
}

// killProgram runs the program, whose folders lie in temp, until its CLI has that
// many processes, kills it and waits for theirs to end.
func killProgram(t *testing.T, script agentsim.Script, cli string, processes int, temp string) {
	t.Helper()
	pids := t.TempDir()
	_, text, _ := strings.Cut(script.Environ(), "=")
	program := exec.Command(self(t))
	program.Env = append(os.Environ(), doomedEnv+"="+text, doomedCLI+"="+cli, agentsim.PidsEnv+"="+pids, "TMPDIR="+temp, "TEMP="+temp)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Process.Kill() }) // if the test fails early
	r := &rig{pids: pids}
	// Version, status and the run itself.
	eventually(t, 20*time.Second, "the run has begun", func() bool { return r.starts(t) >= 2+processes && r.live(t) == processes })
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	program.Wait() // "killed" is what is wanted
	eventually(t, 5*time.Second, "the children of a killed program are gone", func() bool { return r.live(t) == 0 })
}
