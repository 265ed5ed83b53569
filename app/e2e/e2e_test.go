//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// suite is what all tests of this package share.
type suite struct {
	cursortray string            // the program
	useAgent   string            // for its environment: the fake cursor-agent
	installs   map[string]string // folders with node_modules, by the name below testdata
	turns      chan struct{}     // one element for each client that may run at once
}

// newSuite builds and installs what is missing.
func newSuite(t *testing.T) *suite {
	t.Helper()
	cursortray, agent := buildPrograms(t)
	s := &suite{cursortray: cursortray, useAgent: "CURSORTRAY_CURSOR_AGENT=" + agent, installs: map[string]string{}, turns: make(chan struct{}, 2)}
	names := []string{"sdk"}
	for _, c := range clients() {
		names = append(names, c.install)
	}
	for _, name := range names {
		if s.installs[name] == "" {
			s.installs[name] = installNPM(t, name)
		}
	}
	return s
}

// TestRealClients runs every client.
func TestRealClients(t *testing.T) {
	s := newSuite(t)
	t.Run("demo", func(t *testing.T) {
		demo := serve(t, s.cursortray, nil, "--demo")
		demo.models = [2]string{"demo-large", "demo-small"}
		s.runAll(t, demo, true)
	})
	t.Run("cli", func(t *testing.T) {
		script := agentsim.Script{Interval: 5 * time.Millisecond}
		cli := serve(t, s.cursortray, []string{s.useAgent, script.Environ()}, "--backend", "cli")
		cli.models = [2]string{"composer-2", "auto"}
		s.runAll(t, cli, false)
		s.checkRecords(t, cli)
	})
	t.Run("faults", func(t *testing.T) {
		for _, c := range clients() {
			for _, f := range faults() {
				if c.everything() || f.name == "plan used up" {
					s.parallel(t, c.name+", "+f.name, func(t *testing.T) { s.runFault(t, c, f) })
				}
			}
			if c.picture != nil {
				s.parallel(t, c.name+" sends a picture", func(t *testing.T) { s.runPicture(t, c) })
			}
			if c.everything() {
				s.parallel(t, c.name+" is cancelled", func(t *testing.T) { s.runCancel(t, c) })
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		for _, e := range wireErrors() {
			for dialect, name := range speakers {
				s.parallel(t, name+", "+e.name, func(t *testing.T) { s.runError(t, e, dialect) })
			}
		}
	})
	t.Run("codex errors", s.codexErrors)
	t.Run("claude errors", s.claudeErrors)
	t.Run("killed client", s.killClient)
}

// runAll returns when all clients are done, and none has left a child behind.
func (s *suite) runAll(t *testing.T, srv *server, demo bool) {
	t.Run("clients", func(t *testing.T) {
		scripts := []string{"openai.mjs", "responses.mjs", "anthropic.mjs", "ai.mjs"}
		if demo {
			scripts = append(scripts, "ablation.mjs")
			s.parallel(t, "claude counts its context", func(t *testing.T) { s.claudeContext(t, srv) })
			for name, gone := range strippers() {
				client, what, _ := strings.Cut(name, ", ")
				s.parallel(t, client+" without "+what, func(t *testing.T) { s.runWithout(t, srv, named(t, client), gone) })
			}
		}
		for _, script := range scripts {
			s.parallel(t, script, func(t *testing.T) { s.runScript(t, srv, script, demo) })
		}
		for _, c := range clients() {
			if demo && !c.extra {
				s.parallel(t, c.name+" answers", func(t *testing.T) { s.runPrompt(t, srv, c) })
			}
			if demo {
				s.parallel(t, c.name+" works on a file", func(t *testing.T) { s.runWork(t, srv, c) })
			} else if !c.extra {
				s.parallel(t, c.name+" reads a file", func(t *testing.T) { s.runLoop(t, srv, c) })
			}
		}
	})
	srv.checkNoAgents(t, "the end of all clients")
}

// parallel runs a test beside at most one other: the clients are heavy, and
// their time limits are their own.
func (s *suite) parallel(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		s.turns <- struct{}{}
		defer func() { <-s.turns }()
		test(t)
	})
}

// runScript runs one of the SDK scripts, which check for themselves.
func (s *suite) runScript(t *testing.T, srv *server, name string, structured bool) {
	home, file := project(t)
	// Modules are found from where the script lies.
	dir, err := os.MkdirTemp(s.installs["sdk"], "run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	script := filepath.Join(dir, name)
	if err := copyFile(filepath.Join("testdata", "sdk", name), script); err != nil {
		t.Fatal(err)
	}
	env := cleanEnv(home, "BASE_URL="+srv.url+"/v1", "API_KEY="+localKey, "MODEL="+srv.models[0], "FILE="+file, "MARK="+mark)
	if structured {
		env = append(env, "STRUCTURED=1")
	}
	got := command{argv: []string{"node", script}, dir: home, env: env, limit: 2 * time.Minute}.run(t)
	if got.err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, got.err, tail(got.stdout), tail(got.stderr))
	}
	if got.stderr != "" {
		t.Errorf("%s warns:\n%s", name, tail(got.stderr))
	}
	t.Logf("%s took %v", name, got.took.Round(100*time.Millisecond))
}

// checkRecords looks at the runs from the other side: the fake CLI got each
// prompt, and did not run in the project of a client, whose files it would see.
func (s *suite) checkRecords(t *testing.T, srv *server) {
	t.Helper()
	records, err := agentsim.ReadRecords(srv.records)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, r := range records {
		if r.Stdin == 0 {
			continue
		}
		runs++
		if filepath.Base(r.Cwd) == "proj" {
			t.Errorf("cursor-agent ran in a client's project: %+v", r)
		}
		if strings.Contains(strings.Join(r.Argv, " "), mark) {
			t.Errorf("a prompt in the arguments of cursor-agent: %q", r.Argv)
		}
	}
	if runs < 2*len(clients()) {
		t.Errorf("cursor-agent ran for %d prompts, fewer than the clients sent", runs)
	}
}

// killClient ends a client hard while its answer streams: the cursor-agent
// process of that answer must end with it.
func (s *suite) killClient(t *testing.T) {
	endless := agentsim.Script{Mode: agentsim.Stream, Count: 1 << 30, Size: 32, Interval: 5 * time.Millisecond}
	srv := serve(t, s.cursortray, []string{s.useAgent, endless.Environ()}, "--backend", "cli")
	srv.models = [2]string{"composer-2", "auto"}
	home, _ := project(t)
	pi := named(t, "pi")
	cmd, out := s.ask(t, pi, home, srv.port, "Say hello").prepare(t.Context())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running := eventually(pi.limit, func() bool { return srv.prompts(t) > 0 && srv.agents(t) > 0 })
	endGroup(cmd)
	if _, killed := cmd.Wait().(*exec.ExitError); !killed || !running {
		t.Fatalf("%s ended by itself, or no cursor-agent ran for it:\n%s", pi.name, tail(out.stderr.String()))
	}
	srv.checkNoAgents(t, "the client's end")
}

// prompts returns how many prompts reached the fake cursor-agent.
func (s *server) prompts(t *testing.T) int {
	t.Helper()
	records, err := agentsim.ReadRecords(s.records)
	if err != nil {
		t.Errorf("read the records: %v", err)
	}
	n := 0
	for _, r := range records {
		if r.Stdin > 0 {
			n++
		}
	}
	return n
}
