package keychain

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// System returns the operating system's own store: the Secret Service on
// Linux, the Keychain on macOS, the Credential Manager on Windows. service
// names the program in it.
func System(service string) Store { return &system{service: service} }

type system struct{ service string }

func (s *system) Kind() string { return "keychain" }

func (s *system) Get(_ context.Context, name string) ([]byte, error) {
	value, err := keyring.Get(s.service, name)
	return []byte(value), wrap(err)
}

func (s *system) Set(_ context.Context, name string, value []byte) error {
	return wrap(keyring.Set(s.service, name, string(value)))
}

func (s *system) Delete(_ context.Context, name string) error {
	err := keyring.Delete(s.service, name)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return wrap(err)
}

func wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	}
	return fmt.Errorf("%w: %v", ErrUnavailable, err)
}
