package config

import "testing"

func TestFolders(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want Dirs
	}{
		{"plain", []string{"HOME=/h"}, Dirs{"/h/.config/cursortray", "/h/.local/state/cursortray", "/h/.cache/cursortray", "/h/.local/state/cursortray/run"}},
		{"XDG", []string{"HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s", "XDG_CACHE_HOME=/k", "XDG_RUNTIME_DIR=/r"}, Dirs{"/c/cursortray", "/s/cursortray", "/k/cursortray", "/r/cursortray"}},
		{"relative ones are ignored", []string{"HOME=/h", "XDG_CONFIG_HOME=c", "XDG_RUNTIME_DIR=r"}, Dirs{"/h/.config/cursortray", "/h/.local/state/cursortray", "/h/.cache/cursortray", "/h/.local/state/cursortray/run"}},
	}
	for _, test := range tests {
		got, err := Folders(environment(test.env...))
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
	if _, err := Folders(environment()); err == nil {
		t.Error("no error without a home")
	}
	if got := (Dirs{Config: "/c"}).FilePath(environment("CURSORTRAY_CONFIG=/elsewhere.toml")); got != "/elsewhere.toml" {
		t.Errorf("CURSORTRAY_CONFIG is not used: %s", got)
	}
}
