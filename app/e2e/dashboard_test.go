//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDashboard does with the dashboard in a real browser what a person does,
// with a mouse, a keyboard, on a telephone, in the dark and without scripts, and
// lets axe-core look at every page.
func TestDashboard(t *testing.T) {
	t.Parallel()
	cursortray, _ := buildPrograms(t)
	install := installNPM(t, "dashboard")
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	demo := serve(t, cursortray, nil, "--demo")
	env, err := json.Marshal(environment(demo.cmd.Env))
	if err != nil {
		t.Fatal(err)
	}
	// Modules are found from where the script lies.
	dir, err := os.MkdirTemp(install, "run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	script := filepath.Join(dir, "dashboard.mjs")
	if err := copyFile(filepath.Join("testdata", "dashboard", "dashboard.mjs"), script); err != nil {
		t.Fatal(err)
	}
	home, _ := project(t)
	got := command{
		argv: []string{"node", script}, dir: home, limit: 8 * time.Minute,
		env: cleanEnv(home, "URL="+demo.url, "API_KEY="+localKey, "CURSORTRAY="+cursortray, "SERVER_ENV="+string(env), "CHROMIUM="+chromium, "SHOTS="+artifacts(t)),
	}.run(t)
	if got.err != nil {
		t.Errorf("the script ended with %v\n%s\n%s", got.err, tail(got.stdout), tail(got.stderr))
	}
	t.Logf("it took %v", got.took.Round(time.Second))
}

// environment is an environment by names.
func environment(pairs []string) map[string]string {
	byName := map[string]string{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		byName[name] = value
	}
	return byName
}
