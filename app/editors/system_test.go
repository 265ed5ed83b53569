package editors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The paths of all editors on all systems, for review by eye.
func TestPaths(t *testing.T) {
	var got strings.Builder
	for _, system := range []struct {
		name string
		env  Env
	}{
		{"Linux", environment(Linux, "/home/me")},
		{"Linux with variables", environment(Linux, "/home/me", "XDG_CONFIG_HOME=/cfg", "CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "CONTINUE_GLOBAL_DIR=/cont", "PI_CODING_AGENT_DIR=/pi")},
		{"macOS", environment(MacOS, "/Users/me")},
		{"Windows", environment(Windows, `C:\Users\me`, `APPDATA=C:\Users\me\AppData\Roaming`)},
	} {
		got.WriteString("=== " + system.name + "\n")
		for _, e := range all() {
			if e.targets == nil {
				continue
			}
			for _, target := range e.targets(system.env) {
				for _, v := range target.variants {
					got.WriteString(e.id + " " + v.path + "\n")
				}
			}
		}
		for _, e := range all() {
			if e.traces != nil {
				got.WriteString(e.id + " is found by " + strings.Join(e.traces(system.env), ", ") + "\n")
			}
		}
	}
	path := filepath.Join("testdata", "paths.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got.String() {
		t.Errorf("paths differ (%v); got\n%s", err, got.String())
	}
}

func environment(system OS, home string, vars ...string) Env {
	return Env{OS: system, Home: home, Get: func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

func TestRelativeFoldersAreNone(t *testing.T) {
	for _, tt := range []struct {
		os         OS
		dir        string
		isAbsolute bool
	}{
		{Linux, "/x", true}, {Linux, "x", false}, {Linux, "./x", false}, {Linux, "", false}, {MacOS, "~/x", false},
		{Windows, `C:\x`, true}, {Windows, "d:/x", true}, {Windows, `\\server\share`, true}, {Windows, `x\y`, false}, {Windows, "C:x", false}, {Windows, "", false},
	} {
		want := "/home"
		if tt.isAbsolute {
			want = tt.dir
		}
		if got := environment(tt.os, "/home", "CODEX_HOME="+tt.dir).folder("CODEX_HOME", "/home"); got != want {
			t.Errorf("%s %q: %q", tt.os, tt.dir, got)
		}
	}
}
