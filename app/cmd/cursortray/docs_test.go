package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// The README and the manual page name every command.
func TestDocumentsNameEveryCommand(t *testing.T) {
	for file, shape := range map[string]string{
		"README.md":                    `cursortray (?:[a-z]+` + "`, `" + `)*NAME[ \x60]`,
		"packaging/linux/cursortray.1": `(?m)^\.B (?:[a-z]+\\fR, \\fB)*NAME(?:\\| |$)`,
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range reflect.TypeFor[commandLine]().NumField() {
			field := reflect.TypeFor[commandLine]().Field(i)
			name := strings.ToLower(field.Name)
			if _, ok := field.Tag.Lookup("cmd"); !ok || name == "tray" { // which needs no word
				continue
			}
			if !regexp.MustCompile(strings.ReplaceAll(shape, "NAME", name)).Match(text) {
				t.Errorf("%s does not name the command %s", file, name)
			}
		}
	}
}
