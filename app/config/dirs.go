package config

import (
	"errors"
	"path/filepath"
)

// Dirs are cursortray's own folders. They need not exist yet.
type Dirs struct {
	Config  string // the settings file
	State   string // what must outlast a restart and is not for editing
	Cache   string // what may be deleted at any time
	Runtime string // socket and lock of the running instance
}

// errNoHome is all that can go wrong with the folders.
var errNoHome = errors.New("the home folder is not known: set HOME (on Windows APPDATA and LOCALAPPDATA)")

// FilePath returns where the settings file is: CURSORTRAY_CONFIG, else
// config.toml in the configuration folder.
func (d Dirs) FilePath(env func(string) string) string {
	if path := env("CURSORTRAY_CONFIG"); path != "" {
		return path
	}
	return filepath.Join(d.Config, "config.toml")
}

// base returns the folder that the variable names, if it is absolute: the XDG
// rules tell to ignore others, and elsewhere they make no sense either.
func base(env func(string) string, name, fallback string) string {
	if dir := env(name); filepath.IsAbs(dir) {
		return dir
	}
	return fallback
}
