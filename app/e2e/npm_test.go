//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// installNPM installs the packages of testdata/name and returns the folder that
// holds node_modules. The folder appears under its name only when it is
// complete, so an interrupted run leaves nothing that a later one would trust,
// and two runs at once do not disturb each other.
func installNPM(t *testing.T, name string) string {
	t.Helper()
	dir, err := installed(t, name)
	if err != nil {
		t.Fatalf("install the npm packages of testdata/%s: %v", name, err)
	}
	return dir
}

func installed(t *testing.T, name string) (string, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	files := []string{"package.json", "package-lock.json"}
	key, err := cacheKey(filepath.Join("testdata", name), files)
	if err != nil {
		return "", err
	}
	final := filepath.Join(root, name+"-"+key)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	work, err := os.MkdirTemp(root, name+"-part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for _, file := range files {
		if err := copyFile(filepath.Join("testdata", name, file), filepath.Join(work, file)); err != nil {
			return "", err
		}
	}
	// Not "npm ci": a lock file written on one system lacks the optional
	// packages of others, and ci refuses it there.
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--no-update-notifier")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install (node 20 or newer and npm are needed): %w\n%s", err, out)
	}
	if err := os.Rename(work, final); err != nil {
		if _, there := os.Stat(final); there == nil {
			return final, nil // another run was faster
		}
		return "", err
	}
	return final, nil
}

func cacheRoot() (string, error) {
	root := os.Getenv("CURSORTRAY_E2E_CACHE")
	if root == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", errors.Join(errors.New("set CURSORTRAY_E2E_CACHE"), err)
		}
		root = filepath.Join(base, "cursortray-e2e")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	return root, os.MkdirAll(root, 0o755)
}

// cacheKey changes with the wanted packages and with the system they are for.
func cacheKey(dir string, files []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOOS, runtime.GOARCH)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return "", err
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
