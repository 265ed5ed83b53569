//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// mark stands in the first line of the file that clients are asked to read, and
// nowhere else: an answer that holds it came through a tool loop.
const mark = "MARK-q7Zk41"

// client is an agent from npm that answers one prompt and exits, over one
// dialect. To add one takes a folder of testdata with its package, a function
// that writes its settings, and a row in clients().
type client struct {
	name    string
	install string // folder of testdata that lists its package
	// configure writes the client's settings into its home and returns its
	// command line without the prompt, and its environment.
	configure func(*testing.T, target) (argv, env []string)
	// picture returns what stands in place of the prompt, and on standard input,
	// to send a picture along; nil where the client cannot, or where one of its
	// other dialects is enough.
	picture func(prompt, file string) (args []string, stdin string)
	// extra are dialects that the client speaks beside its own.
	extra bool
	limit time.Duration
}

// clients lists every client once for each dialect, its own one first.
func clients() []client {
	return []client{
		{name: "opencode", install: "opencode", configure: openCodeOver("@ai-sdk/openai-compatible"), picture: openCodePicture, limit: 2 * time.Minute},
		{name: "opencode over Responses", install: "opencode", configure: openCodeOver("@ai-sdk/openai"), picture: openCodePicture, extra: true, limit: 2 * time.Minute},
		{name: "opencode over Messages", install: "opencode", configure: openCodeOver("@ai-sdk/anthropic"), picture: openCodePicture, extra: true, limit: 2 * time.Minute},
		{name: "pi", install: "pi", configure: piOver("openai-completions", "/v1"), picture: piPicture, limit: time.Minute},
		{name: "pi over Responses", install: "pi", configure: piOver("openai-responses", "/v1"), picture: piPicture, extra: true, limit: time.Minute},
		{name: "pi over Messages", install: "pi", configure: piOver("anthropic-messages", ""), picture: piPicture, extra: true, limit: time.Minute},
		{name: "codex", install: "codex", configure: configureCodex, picture: codexPicture, limit: time.Minute},
		{name: "claude", install: "claude", configure: configureClaude, picture: claudePicture, limit: time.Minute},
		// It has no way to send a picture without a terminal.
		{name: "continue", install: "continue", configure: continueOver("openai"), limit: time.Minute},
		{name: "continue over Messages", install: "continue", configure: continueOver("anthropic"), extra: true, limit: time.Minute},
		{name: "qwen", install: "qwen", configure: qwenOver("openai"), picture: qwenPicture, limit: 90 * time.Second},
		{name: "qwen over Responses", install: "qwen", configure: qwenOver("openai-responses"), extra: true, limit: 90 * time.Second},
		{name: "qwen over Messages", install: "qwen", configure: qwenOver("anthropic"), extra: true, limit: 90 * time.Second},
		{name: "copilot", install: "copilot", configure: copilotOver("/v1"), picture: copilotPicture, limit: time.Minute},
		{name: "copilot over Responses", install: "copilot", configure: copilotOver("/v1", "COPILOT_PROVIDER_WIRE_API=responses"), picture: copilotPicture, extra: true, limit: time.Minute},
		{name: "copilot over Messages", install: "copilot", configure: copilotOver("", "COPILOT_PROVIDER_TYPE=anthropic"), picture: copilotPicture, extra: true, limit: time.Minute},
	}
}

// everything tells whether the client meets all that can go wrong over this
// dialect, too: those that most people use do.
func (c client) everything() bool {
	return !c.extra || c.install == "pi" || c.install == "opencode"
}

// named returns the client of that name.
func named(t *testing.T, name string) client {
	t.Helper()
	for _, c := range clients() {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("no client is named %q", name)
	return client{}
}

// port is a server as clients are told of it.
type port struct {
	url    string // without /v1
	key    string
	models [2]string // for answers, and for titles and the like
}

// through is the port with something between it and the client.
func (p port) through(between *recorder) port {
	p.url = between.url
	return p
}

// target is a port and where a client of it lives.
type target struct {
	port
	install, home string
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

// offline leads clients that heed it nowhere but to this machine; whatever they
// look up beside the port fails at once, and must not matter.
var offline = [...]string{
	"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9",
	"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
}

// ask is a command for one prompt in the project of home.
func (s *suite) ask(t *testing.T, c client, home string, at port, prompt ...string) command {
	t.Helper()
	argv, env := c.configure(t, target{port: at, install: s.installs[c.install], home: home})
	return command{argv: append(argv, prompt...), dir: filepath.Join(home, "proj"), env: cleanEnv(home, append(env, offline[:]...)...), limit: c.limit}
}
