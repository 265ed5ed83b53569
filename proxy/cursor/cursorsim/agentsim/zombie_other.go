//go:build unix && !linux

package agentsim

// zombie cannot be told from a live process without a system tool here.
func zombie(int) bool { return false }
