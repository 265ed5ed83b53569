package keychain

import (
	"errors"
	"os/exec"
)

const (
	remedyLocked = "unlock the login keychain in Keychain Access, then try again"
	remedyAbsent = "check the login keychain in Keychain Access, or choose another token_store"
)

// reachNative has nothing to ask: the keychain is part of the system.
func reachNative() (locked bool, err error) { return false, nil }

// isLocked knows the exit statuses of /usr/bin/security, the low byte of the
// Security framework's codes: 36 interaction not allowed (-25308), 51
// authentication failed (-25293), 128 cancelled by the user (-128).
func isLocked(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	switch exit.ExitCode() {
	case 36, 51, 128:
		return true
	}
	return false
}
