package autostart

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Program returns the path by which this process can be started again. arg0 is
// how it was called.
func Program(arg0 string, env func(string) string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return program(arg0, self, env)
}

// program keeps symbolic links, which self has lost on some systems: packages
// and version managers point them at the next version. An AppImage is mounted
// at another place at each start, and names the file that stays.
func program(arg0, self string, env func(string) string) (string, error) {
	if image := env("APPIMAGE"); filepath.IsAbs(image) {
		if _, err := os.Stat(image); err == nil {
			return image, nil
		}
	}
	called := arg0
	if filepath.Base(called) == called {
		found, err := exec.LookPath(called)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return companion(self), nil
		}
		called = found
	}
	called, err := filepath.Abs(called)
	if err != nil {
		return "", err
	}
	// arg0 can be anything.
	if !sameFile(called, self) {
		called = self
	}
	return companion(called), nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
