package agentcli

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// TestMain lets the test binary be the CLI that the tests start, and the
// program that one test kills.
func TestMain(m *testing.M) {
	if os.Getenv(doomedEnv) != "" {
		runDoomed()
	}
	if os.Getenv(agentsim.ScriptEnv) != "" {
		os.Exit(agentsim.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}
