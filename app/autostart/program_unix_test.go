//go:build unix

package autostart

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProgram(t *testing.T) {
	folder := t.TempDir()
	self := filepath.Join(folder, "versions", "2", "cursortray")
	link := filepath.Join(folder, "bin", "cursortray")
	for _, path := range []string{self, link} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	image := filepath.Join(folder, "cursortray.AppImage")
	for _, path := range []string{self, image} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(link))
	t.Chdir(filepath.Dir(link))
	for _, test := range []struct{ name, arg0, appImage, want string }{
		{"a link stays a link", link, "", link},
		{"found on the PATH", "cursortray", "", link},
		{"relative", "./cursortray", "", link},
		{"called by a name that means nothing", "-sh", "", self},
		{"called by a path that is another program", image, "", self},
		{"an AppImage", self, image, image},
		{"an AppImage that is gone", self, image + "x", self},
	} {
		got, err := program(test.arg0, self, func(name string) string {
			return map[string]string{"APPIMAGE": test.appImage}[name]
		})
		if err != nil || got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}
