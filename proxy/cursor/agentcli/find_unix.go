//go:build unix

package agentcli

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func candidates(m machine, setting string) ([]command, []passedOver) {
	return unixCandidates(m, setting)
}

// foldNames says whether case is left out when names of variables are compared.
const foldNames = false

// programTrouble says why path is no program that may be run, "" if it is one.
func programTrouble(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case err != nil:
		return systemReason(err)
	case info.IsDir():
		return "it is a folder; name the program in it"
	case !info.Mode().IsRegular():
		return "it is no program"
	case info.Mode()&0o111 == 0:
		return "it is not executable; chmod +x makes it so"
	}
	return ""
}

const homeVariable = "HOME"

// shortage says whether a process could not start for want of something that
// the whole system is short of.
func shortage(errno syscall.Errno) bool {
	return errno == syscall.EAGAIN || errno == syscall.ENOMEM || errno == syscall.EMFILE || errno == syscall.ENFILE || errno == syscall.ENOSPC
}
