package control

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is what every system takes: Linux and Windows have room for
// 107 bytes, macOS for 103.
const maxSocketPath = 103

// socketPath returns where the socket of the folder dir is: in it, or, when
// that path is too long for a socket, in a short folder of the user's own
// whose name is derived from dir.
func socketPath(dir string) string {
	path := filepath.Join(dir, "control")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(shortDir(), "cursortray-"+hex.EncodeToString(sum[:8]), "control")
}

// privateDir makes sure that dir is a folder that only this user can enter.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the runtime folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the runtime folder: %w", err)
	}
	if !info.IsDir() || !ownedByUs(info) {
		return fmt.Errorf("%s is not a folder of this user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("protect the runtime folder: %w", err)
		}
	}
	return nil
}
