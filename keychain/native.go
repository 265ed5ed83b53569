package keychain

import (
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// native is the operating system's store as go-keyring offers it.
type native struct{ service string }

func (n native) get(name string) (string, error) {
	text, err := keyring.Get(n.service, name)
	return text, n.errorOf(err)
}

func (n native) set(name, text string) error {
	return n.errorOf(keyring.Set(n.service, name, text))
}

func (n native) delete(name string) error {
	return n.errorOf(keyring.Delete(n.service, name))
}

func (n native) errorOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	case isLocked(err):
		return fmt.Errorf("%w; %s", ErrLocked, remedyLocked)
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return fmt.Errorf("%w: this build has none; %s", ErrUnavailable, remedyAbsent)
	}
	return fmt.Errorf("%w: %w; %s", ErrUnavailable, err, remedyAbsent)
}
