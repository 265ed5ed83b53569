// Command cursor-agent is the simulated Cursor command-line program, for tests
// and benchmarks that need it as a file on the PATH. It starts no goroutine of
// its own; what it does and does not do is told in package agentsim.
package main

import (
	"os"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

func main() {
	os.Exit(agentsim.Main(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
