package app

import (
	"errors"

	"cursortray/keychain"
)

// Keyring is what keeps secrets from being read.
type Keyring int

const (
	KeyringFine    Keyring = iota // nothing, or not known yet
	KeyringLocked                 // it waits for its password
	KeyringAbsent                 // the desktop has none
	KeyringFailing                // it, or the file in its place, cannot be used
	KeyringDamaged                // what was saved makes no sense
)

var keyringNames = [...]string{"fine", "locked", "absent", "failing", "damaged"}

func (k Keyring) String() string {
	if k < 0 || int(k) >= len(keyringNames) {
		return "unknown"
	}
	return keyringNames[k]
}

// keyringState tells what err, which came from a store of that kind, means.
func keyringState(err error, storage string) Keyring {
	switch {
	case err == nil:
		return KeyringFine
	case errors.Is(err, keychain.ErrLocked):
		return KeyringLocked
	case errors.Is(err, keychain.ErrCorrupt):
		return KeyringDamaged
	case errors.Is(err, keychain.ErrUnavailable) && storage == "keychain":
		return KeyringAbsent
	default:
		return KeyringFailing
	}
}
