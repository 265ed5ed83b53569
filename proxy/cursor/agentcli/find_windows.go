package agentcli

import "os"

func candidates(m machine, setting string) []command { return windowsCandidates(m, setting) }

// foldNames says whether case is left out when names of variables are compared.
const foldNames = true

// executable says whether path is a file; the name's ending tells the rest.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

const homeVariable = "USERPROFILE"
