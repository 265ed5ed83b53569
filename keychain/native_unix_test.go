//go:build unix && !darwin

package keychain

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestHaveSessionBus(t *testing.T) {
	socket := func(path string) error {
		l, err := net.Listen("unix", path)
		if err == nil {
			t.Cleanup(func() { l.Close() })
		}
		return err
	}
	tests := []struct {
		name, address string
		make          func(path string) error
		want          bool
	}{
		{"nothing", "", nil, false},
		{"address", "unix:path=/somewhere", nil, true},
		{"socket", "", socket, true},
		{"no socket", "", func(path string) error { return os.WriteFile(path, nil, 0o600) }, false},
		{"would be launched", "autolaunch:", nil, false},
		{"would be launched, socket", "autolaunch:", socket, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runUser, err := os.MkdirTemp("", "kc") // t.TempDir is too long for a socket on some machines
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(runUser) })
			dir := filepath.Join(runUser, fmt.Sprint(os.Getuid()))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.make != nil {
				if err := tt.make(filepath.Join(dir, "bus")); err != nil {
					t.Fatal(err)
				}
			}
			if got := haveSessionBus(func(string) string { return tt.address }, runUser); got != tt.want {
				t.Errorf("haveSessionBus = %v", got)
			}
		})
	}
}

func TestErrorsOfTheSecretService(t *testing.T) {
	tests := []struct {
		err  error
		want error
	}{
		{keyring.ErrNotFound, ErrNotFound},
		{errors.New("failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'"), ErrLocked},
		{errors.New("Cannot get secret of a locked object"), ErrLocked},
		{errors.New("The name org.freedesktop.secrets was not provided by any .service files"), ErrUnavailable},
		{errors.New("operation blocked"), ErrUnavailable},
		{keyring.ErrUnsupportedPlatform, ErrUnavailable},
	}
	for _, tt := range tests {
		err := native{}.errorOf(tt.err)
		for _, known := range []error{ErrNotFound, ErrLocked, ErrUnavailable} {
			if errors.Is(err, known) != (known == tt.want) {
				t.Errorf("%v became %v", tt.err, err)
			}
		}
	}
}
