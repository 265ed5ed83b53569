//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// mark stands in the first line of the file that clients are asked to read, and
// nowhere else: an answer that holds it came through a tool loop.
const mark = "MARK-q7Zk41"

// client is an agent from npm that answers one prompt and exits.
type client struct {
	name string
	// install is the folder of testdata that lists its package; "" is name.
	install string
	// configure writes the client's settings into home and returns its command
	// line without the prompt, and its environment.
	configure configure
	limit     time.Duration
}

func agents() []client {
	return []client{
		{name: "opencode", configure: openCodeOver("@ai-sdk/openai-compatible"), limit: 2 * time.Minute},
		{name: "pi", configure: piOver("openai-completions", "/v1"), limit: time.Minute},
		{name: "codex", configure: configureCodex, limit: time.Minute},
		{name: "claude", configure: configureClaude, limit: time.Minute},
	}
}

// otherDialects are agents that speak more than the dialect they speak by
// default.
func otherDialects() []client {
	var all []client
	for npm, dialect := range map[string]string{"@ai-sdk/anthropic": "Messages", "@ai-sdk/openai": "Responses"} {
		all = append(all, client{name: "opencode over " + dialect, install: "opencode", configure: openCodeOver(npm), limit: 2 * time.Minute})
	}
	all = append(all,
		client{name: "pi over Messages", install: "pi", configure: piOver("anthropic-messages", ""), limit: time.Minute},
		client{name: "pi over Responses", install: "pi", configure: piOver("openai-responses", "/v1"), limit: time.Minute})
	return all
}

// project makes a fresh home and, in it, a folder with the file to read.
func project(t *testing.T) (home, file string) {
	t.Helper()
	home = t.TempDir()
	// OpenCode looks for the root of a repository to know what it may read.
	if err := os.MkdirAll(filepath.Join(home, "proj", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(home, "proj", "a.txt")
	writeFile(t, file, mark+" first line here\nsecond line\n")
	return home, file
}

// folder returns where the client is installed.
func (c client) folder(installs map[string]string) string {
	if c.install != "" {
		return installs[c.install]
	}
	return installs[c.name]
}

// ask starts a command for one prompt in a project of its own.
func (c client) ask(t *testing.T, install, home, url string, models [2]string, prompt string) command {
	t.Helper()
	argv, env := c.configure(t, install, home, url, models)
	return command{argv: append(argv, prompt), dir: filepath.Join(home, "proj"), env: cleanEnv(home, env...), limit: c.limit}
}

type configure = func(t *testing.T, install, home, url string, models [2]string) (argv, env []string)

// openCodeOver takes the dialect from the package, which OpenCode brings along.
func openCodeOver(npm string) configure {
	return func(t *testing.T, install, home, url string, models [2]string) (argv, env []string) {
		limit := object{"context": 200_000, "output": 32_000}
		writeJSON(t, filepath.Join(home, ".config", "opencode", "opencode.json"), object{
			"autoupdate": false, "share": "disabled",
			"model": "cursortray/" + models[0], "small_model": "cursortray/" + models[1],
			"enabled_providers": []string{"cursortray"},
			"provider": object{"cursortray": object{
				"npm": npm, "name": "cursortray",
				"options": object{"baseURL": url + "/v1", "apiKey": localKey},
				"models": object{
					models[0]: object{"name": "Large", "tool_call": true, "reasoning": true, "limit": limit},
					models[1]: object{"name": "Small"},
				},
			}},
		})
		return []string{binary(install, "opencode"), "run"}, []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	}
}

func piOver(api, version string) configure {
	return func(t *testing.T, install, home, url string, models [2]string) (argv, env []string) {
		writeJSON(t, filepath.Join(home, ".pi", "agent", "models.json"), object{"providers": object{"cursortray": object{
			"baseUrl": url + version, "api": api, "apiKey": localKey,
			"models": []object{{
				"id": models[0], "contextWindow": 200_000, "maxTokens": 32_000, "reasoning": false, "input": []string{"text", "image"},
				"cost": object{"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
			}},
		}}})
		return []string{binary(install, "pi"), "--provider", "cursortray", "--model", models[0], "-p"}, []string{"PI_OFFLINE=1"}
	}
}

func configureCodex(t *testing.T, install, home, url string, models [2]string) (argv, env []string) {
	dir := filepath.Join(home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "config.toml"), fmt.Sprintf(`
model = %q
model_provider = "cursortray"
model_context_window = 200000
check_for_update_on_startup = false
[model_providers.cursortray]
name = "cursortray"
base_url = %q
wire_api = "responses"
experimental_bearer_token = %q
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[feedback]
enabled = false
`, models[0], url+"/v1", localKey))
	return []string{binary(install, "codex"), "exec", "--skip-git-repo-check", "--ephemeral"}, nil
}

// object is a piece of a client's settings file.
type object map[string]any

func writeJSON(t *testing.T, name string, value any) {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, string(text))
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
