package agentcli

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

func candidates(m machine, setting string) ([]command, []passedOver) {
	return windowsCandidates(m, setting)
}

// foldNames says whether case is left out when names of variables are compared.
const foldNames = true

// programTrouble says why path is no file, "" if it is one; the name's ending
// tells the rest.
func programTrouble(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case err != nil:
		return systemReason(err)
	case info.IsDir():
		return "Cursor's CLI is not in this folder"
	case !info.Mode().IsRegular():
		return "it is no program"
	}
	return ""
}

const homeVariable = "USERPROFILE"

// shortage says whether a process could not start for want of something that
// the whole system is short of.
func shortage(errno syscall.Errno) bool {
	switch errno {
	case windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_OUTOFMEMORY, windows.ERROR_TOO_MANY_OPEN_FILES,
		windows.ERROR_NO_SYSTEM_RESOURCES, windows.ERROR_COMMITMENT_LIMIT, windows.ERROR_DISK_FULL:
		return true
	}
	return false
}
