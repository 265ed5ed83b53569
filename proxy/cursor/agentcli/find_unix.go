//go:build unix

package agentcli

import "os"

func candidates(m machine, setting string) []command { return unixCandidates(m, setting) }

// foldNames says whether case is left out when names of variables are compared.
const foldNames = false

// executable says whether path is a file that may be run.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

const homeVariable = "HOME"
