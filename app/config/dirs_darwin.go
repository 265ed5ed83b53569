package config

import "path/filepath"

// Folders returns the folders that macOS has for such files.
func Folders(env func(string) string) (Dirs, error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return Dirs{}, errNoHome
	}
	library := filepath.Join(home, "Library")
	support := filepath.Join(library, "Application Support", "cursortray")
	return Dirs{
		Config:  support,
		State:   support,
		Cache:   filepath.Join(library, "Caches", "cursortray"),
		Runtime: filepath.Join(support, "run"),
	}, nil
}
