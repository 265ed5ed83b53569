//go:build e2e

package e2e

import "testing"

// claudeContext needs a terminal that a program can play, which is elsewhere.
func (s *suite) claudeContext(*testing.T, *server) {}
