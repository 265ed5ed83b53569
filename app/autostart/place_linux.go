package autostart

import (
	"errors"
	"path/filepath"
)

func system(env func(string) string) (place, error) {
	folder := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) {
		home := env("HOME")
		if !filepath.IsAbs(home) {
			return nil, errors.New("the home folder is not known: HOME is not set")
		}
		folder = filepath.Join(home, ".config")
	}
	return file{filepath.Join(folder, "autostart", "cursortray.desktop"), desktopEntry{}}, nil
}

// companion returns the program that runs without a terminal; here it is the
// same one.
func companion(program string) string { return program }
