package config

import "path/filepath"

// Folders returns the folders of the XDG base directory specification.
func Folders(env func(string) string) (Dirs, error) {
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return Dirs{}, errNoHome
	}
	state := filepath.Join(base(env, "XDG_STATE_HOME", filepath.Join(home, ".local", "state")), "cursortray")
	run := filepath.Join(state, "run")
	if dir := base(env, "XDG_RUNTIME_DIR", ""); dir != "" {
		run = filepath.Join(dir, "cursortray")
	}
	return Dirs{
		Config:  filepath.Join(base(env, "XDG_CONFIG_HOME", filepath.Join(home, ".config")), "cursortray"),
		State:   state,
		Cache:   filepath.Join(base(env, "XDG_CACHE_HOME", filepath.Join(home, ".cache")), "cursortray"),
		Runtime: run,
	}, nil
}
