package config

import "path/filepath"

// Folders returns the folders that Windows has for such files: settings roam
// with the user, the rest stays on the machine.
func Folders(env func(string) string) (Dirs, error) {
	roaming, local := base(env, "APPDATA", ""), base(env, "LOCALAPPDATA", "")
	if roaming == "" || local == "" {
		return Dirs{}, errNoHome
	}
	local = filepath.Join(local, "cursortray")
	return Dirs{
		Config:  filepath.Join(roaming, "cursortray"),
		State:   filepath.Join(local, "state"),
		Cache:   filepath.Join(local, "cache"),
		Runtime: filepath.Join(local, "run"),
	}, nil
}
