package agentsim

import (
	"bytes"
	"os"
	"strconv"
)

// zombie says whether a process has ended and waits to be collected.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // gone in between
	}
	// The state follows the name, which stands in brackets and may hold any byte.
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] == 'Z'
}
