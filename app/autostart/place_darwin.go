package autostart

import (
	"errors"
	"path/filepath"
)

func system(env func(string) string) (place, error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return nil, errors.New("the home folder is not known: HOME is not set")
	}
	return file{filepath.Join(home, "Library", "LaunchAgents", agentLabel+".plist"), launchAgent{}}, nil
}

// companion returns the program that runs without a terminal; here it is the
// same one.
func companion(program string) string { return program }
