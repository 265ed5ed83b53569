package autostart

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestPlace(t *testing.T) {
	for config, want := range map[string]string{
		"":         "/home/ada/.config/autostart/cursortray.desktop",
		"relative": "/home/ada/.config/autostart/cursortray.desktop",
		"/c":       "/c/autostart/cursortray.desktop",
	} {
		at, err := system(func(name string) string {
			return map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": config}[name]
		})
		if err != nil || at.where() != want {
			t.Errorf("%v, %v; want %s", at, err, want)
		}
	}
	if _, err := system(func(string) string { return "" }); err == nil {
		t.Error("without a home")
	}
}

// The judgement of the desktop's own tool.
func TestDesktopEntryIsValid(t *testing.T) {
	for _, program := range oddPrograms {
		path := filepath.Join(t.TempDir(), "cursortray.desktop")
		i := Item{program: program, at: file{path, desktopEntry{}}}
		if err := i.Set(true); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("desktop-file-validate", "--warn-kde", path).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v, %s\n%s", program, err, out, i.text(t))
		}
	}
}
