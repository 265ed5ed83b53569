package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

func (versionCmd) Run(p *process) error {
	_, err := fmt.Fprintf(p.stdout, "cursortray %s (%s)\n", buildVersion(), runtime.Version())
	return err
}

// buildVersion is what the linker was told, else what the Go tool knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
