//go:build !darwin && !windows

package agentrpc

const (
	systemName  = "linux"
	systemShell = "bash"
)
