package agentcli

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ownerFile lies in the folder of a back-end, which holds it in a way that the
// system undoes when the program ends, however that happens. So nobody removes
// the folders of a program that has been idle for days, and those of a killed one
// go at the next start.
const ownerFile = "owner"

// owner says what is known of the program that a folder belongs to.
type owner int

const (
	ownerUnknown owner = iota // the folder cannot be held here, or is just being made
	ownerLives
	ownerGone
)

// staleAge is when folders go whose owner is not known.
const staleAge = 24 * time.Hour

// sweep removes the folders of programs that were killed.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), rootPrefix) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		switch ownerOf(dir) {
		case ownerLives:
			continue
		case ownerUnknown:
			if info, err := entry.Info(); err != nil || time.Since(info.ModTime()) < staleAge {
				continue
			}
		}
		os.RemoveAll(dir)
	}
}
