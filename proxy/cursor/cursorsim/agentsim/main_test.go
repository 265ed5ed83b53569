package agentsim

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be the program that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv(ScriptEnv) != "" {
		os.Exit(Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}
