package autostart

import (
	"errors"
	"fmt"
	"strings"
)

// What the Run key of Windows holds is a command line; these functions read and
// write it.

// maxRunValue is how long a command line in the Run key may be, by Microsoft's
// documentation.
const maxRunValue = 260

// runValue writes a command line. A path on Windows has no quotation marks.
func runValue(command []string) (string, error) {
	if strings.ContainsAny(command[0], "\"\x00\r\n") {
		return "", errors.New("the program's path has characters that no path has")
	}
	line := `"` + command[0] + `"`
	for _, word := range command[1:] {
		line += " " + word
	}
	if n := len([]rune(line)); n > maxRunValue {
		return "", fmt.Errorf("the program's path is too long: Windows starts %d characters at login, this has %d", maxRunValue, n)
	}
	return line, nil
}

// runProgram returns the program of a command line. Without quotation marks it
// ends where .exe does, because installers forget them.
func runProgram(line string) string {
	line = strings.TrimSpace(line)
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		program, _, _ := strings.Cut(quoted, `"`)
		return program
	}
	if i := strings.Index(strings.ToLower(line), ".exe"); i >= 0 {
		return line[:i+len(".exe")]
	}
	program, _, _ := strings.Cut(line, " ")
	return program
}

// approved reads a value of StartupApproved, in which the Task Manager notes
// what the user has switched off: the lowest bit of the first byte is set, and
// the moment follows. Without a value everything is on.
func approved(value []byte) bool { return len(value) == 0 || value[0]&1 == 0 }
