package keychain

const (
	remedyLocked = "log in to Windows again, then try again"
	remedyAbsent = "check that the service \"Credential Manager\" is running, or choose another token_store"
)

// reachNative has nothing to ask: the Credential Manager is part of the system.
func reachNative() (locked bool, err error) { return false, nil }

// isLocked is never true: credentials are open for as long as the user is
// logged in.
func isLocked(error) bool { return false }
