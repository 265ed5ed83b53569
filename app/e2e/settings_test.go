//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Windows of the models as clients are told; they ask nobody.
const (
	contextWindow = 200_000
	longestAnswer = 32_000
)

// openCodeOver takes the dialect from the package, which OpenCode brings along.
func openCodeOver(npm string) func(*testing.T, target) (argv, env []string) {
	return func(t *testing.T, to target) (argv, env []string) {
		limit := object{"context": contextWindow, "output": longestAnswer}
		writeJSON(t, filepath.Join(to.home, ".config", "opencode", "opencode.json"), object{
			"autoupdate": false, "share": "disabled",
			"model": "cursortray/" + to.models[0], "small_model": "cursortray/" + to.models[1],
			"enabled_providers": []string{"cursortray"},
			"provider": object{"cursortray": object{
				"npm": npm, "name": "cursortray",
				"options": object{"baseURL": to.url + "/v1", "apiKey": to.key},
				"models": object{
					to.models[0]: object{
						"name": "Large", "tool_call": true, "reasoning": true, "attachment": true, "limit": limit,
						"modalities": object{"input": []string{"text", "image"}, "output": []string{"text"}},
					},
					to.models[1]: object{"name": "Small"},
				},
			}},
		})
		return []string{binary(to.install, "opencode"), "run", "--auto"}, []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		}
	}
}

func openCodePicture(prompt, file string) ([]string, string) {
	return []string{"--file", file, "--", prompt}, ""
}

func piOver(api, version string) func(*testing.T, target) (argv, env []string) {
	return func(t *testing.T, to target) (argv, env []string) {
		writeJSON(t, filepath.Join(to.home, ".pi", "agent", "models.json"), object{"providers": object{"cursortray": object{
			"baseUrl": to.url + version, "api": api, "apiKey": to.key,
			"models": []object{{
				"id": to.models[0], "contextWindow": contextWindow, "maxTokens": longestAnswer, "reasoning": false, "input": []string{"text", "image"},
				"cost": object{"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
			}},
		}}})
		return []string{binary(to.install, "pi"), "--provider", "cursortray", "--model", to.models[0], "-p"}, []string{"PI_OFFLINE=1"}
	}
}

func piPicture(prompt, file string) ([]string, string) { return []string{"@" + file, prompt}, "" }

// configureCodex leaves out Codex's sandbox, which needs rights that a
// container may not give.
func configureCodex(t *testing.T, to target) (argv, env []string) {
	dir := filepath.Join(to.home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "config.toml"), fmt.Sprintf(`
model = %q
model_provider = "cursortray"
model_context_window = %d
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
`, to.models[0], contextWindow, to.url+"/v1", to.key))
	return []string{binary(to.install, "codex"), "exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox"}, nil
}

func codexPicture(prompt, file string) ([]string, string) {
	return []string{"--image=" + file, "--", prompt}, ""
}

// configureClaude sets Claude Code up by its environment alone. Its retries
// stay as they are by default: what a person waits for is part of the test.
func configureClaude(_ *testing.T, to target) (argv, env []string) {
	return []string{binary(to.install, "claude"), "--allowedTools=Read,Edit,Write,Bash", "-p"}, []string{
		"ANTHROPIC_BASE_URL=" + to.url, "ANTHROPIC_AUTH_TOKEN=" + to.key,
		"ANTHROPIC_MODEL=" + to.models[0], "ANTHROPIC_DEFAULT_HAIKU_MODEL=" + to.models[1], fmt.Sprintf("CLAUDE_CODE_MAX_CONTEXT_TOKENS=%d", contextWindow),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}
}

// claudePicture gives the message as other programs do that drive Claude Code.
func claudePicture(prompt, file string) ([]string, string) {
	picture, err := os.ReadFile(file)
	if err != nil {
		panic(err) // the test has just written it
	}
	line, _ := json.Marshal(object{"type": "user", "message": object{"role": "user", "content": []object{
		{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(picture)}},
		{"type": "text", "text": prompt},
	}}})
	return []string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}, string(line) + "\n"
}

func continueOver(provider string) func(*testing.T, target) (argv, env []string) {
	return func(t *testing.T, to target) (argv, env []string) {
		writeJSON(t, filepath.Join(to.home, ".continue", "config.yaml"), object{ // JSON is YAML
			"name": "cursortray", "version": "1.0.0", "schema": "v1",
			"models": []object{{
				"name": "Large", "provider": provider, "model": to.models[0], "apiBase": to.url + "/v1/", "apiKey": to.key,
				"roles": []string{"chat", "edit", "apply"}, "capabilities": []string{"tool_use", "image_input"},
				"defaultCompletionOptions": object{"contextLength": contextWindow, "maxTokens": longestAnswer},
			}},
		})
		return []string{binary(to.install, "cn"), "--auto", "-p"}, []string{"CONTINUE_TELEMETRY_ENABLED=0"}
	}
}

func qwenOver(auth string) func(*testing.T, target) (argv, env []string) {
	return func(t *testing.T, to target) (argv, env []string) {
		base := "/v1"
		if auth == "anthropic" {
			base = ""
		}
		provider := strings.ToUpper(strings.TrimSuffix(auth, "-responses"))
		writeJSON(t, filepath.Join(to.home, ".qwen", "settings.json"), object{
			// What it keeps for later it would ask a model for, after the answer.
			"memory":  object{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
			"general": object{"disableAutoUpdate": true}, "privacy": object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
			"security": object{"auth": object{"selectedType": auth}},
			// It judges by the name what a model can read, unless it is told.
			"model": object{"generationConfig": object{"modalities": object{"image": true}}},
		})
		writeFile(t, filepath.Join(to.home, ".qwen", ".env"), fmt.Sprintf("%[1]s_BASE_URL=%[2]s\n%[1]s_API_KEY=%[3]s\n%[1]s_MODEL=%[4]s\n",
			provider, to.url+base, to.key, to.models[0]))
		return []string{binary(to.install, "qwen"), "-y", "-p"}, nil
	}
}

func qwenPicture(prompt, file string) ([]string, string) {
	return []string{"@" + file + " " + prompt}, ""
}

func copilotOver(version string, more ...string) func(*testing.T, target) (argv, env []string) {
	return func(_ *testing.T, to target) (argv, env []string) {
		return []string{binary(to.install, "copilot"), "--allow-all-tools", "-p"}, append([]string{
			"COPILOT_PROVIDER_BASE_URL=" + to.url + version, "COPILOT_PROVIDER_API_KEY=" + to.key, "COPILOT_MODEL=" + to.models[0],
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		}, more...)
	}
}

func copilotPicture(prompt, file string) ([]string, string) {
	return []string{prompt, "--attachment", file}, ""
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
