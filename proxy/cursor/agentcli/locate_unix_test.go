//go:build unix

package agentcli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/cursorsim/agentsim"
)

// place writes a file that may be run.
func place(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// foreignProgram is the head of a program for another kind of processor.
func foreignProgram() string {
	machine := byte(0xf3) // RISC-V
	if runtime.GOARCH == "riscv64" {
		machine = 0x3e
	}
	return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00" + string([]byte{machine}) + "\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
}

// TestPL2_WrongSettingIsNamed: the user reads which path is wrong, and why,
// whatever is asked of the back-end.
func TestPL2_WrongSettingIsNamed(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "bin")
	for _, tt := range []struct {
		name, setting string
		want          []string
	}{
		{"missing", filepath.Join(home, "gone"), []string{"~/gone", "no such file"}},
		{"missing below the home folder", "~/gone", []string{"~/gone", "no such file"}},
		{"a folder", folder, []string{"~/bin ", "folder"}},
		{"not executable", place(t, filepath.Join(folder, "plain"), "#!/bin/sh\n", 0o600), []string{"~/bin/plain", "not executable"}},
		{"empty", place(t, filepath.Join(folder, "empty"), "", 0o700), []string{"~/bin/empty", "format error"}},
		{"text without its first line", place(t, filepath.Join(folder, "text"), "echo 2026.07.20-8cc9c0b\n", 0o700), []string{"~/bin/text", "format error"}},
		{"for another processor", place(t, filepath.Join(folder, "elf"), foreignProgram(), 0o700), []string{"~/bin/elf", "format error"}},
		{"no interpreter", place(t, filepath.Join(folder, "orphan"), "#!/gone/node\n", 0o700), []string{"~/bin/orphan", "first line"}},
		{"relative", "bin/agent", []string{"bin/agent", "whole path"}},
		{"in the folder below", "./agent", []string{"./agent", "whole path"}},
		{"not on the PATH", "cursor-agent-of-mine", []string{"cursor-agent-of-mine", "PATH"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, agentsim.Script{}, setEnv("HOME="+home), func(c *Config) { c.Binary = tt.setting })
			_, askErr := r.ask(t, hello())
			_, modelsErr := r.Models(t.Context())
			for what, err := range map[string]error{"Check": r.Check(t.Context()), "Chat": askErr, "Models": modelsErr} {
				got := chat.AsError(err)
				if got == nil || got.Kind != chat.Unavailable || got.Code != "cursor_cli_not_found" {
					t.Errorf("%s: %v", what, err)
					continue
				}
				for _, part := range append(tt.want, "cursor_agent", "CURSORTRAY_CURSOR_AGENT") {
					if !strings.Contains(got.Message, part) || strings.Contains(got.Message, home) {
						t.Errorf("%s: the message does not hold %q: %s", what, part, got.Message)
					}
				}
			}
		})
	}
}

// TestSettingBelowTheHomeFolder is followed.
func TestSettingBelowTheHomeFolder(t *testing.T) {
	home := t.TempDir()
	install(t, filepath.Join(home, "my tools"), "agent")
	r := newRig(t, agentsim.Script{}, setEnv("HOME="+home), func(c *Config) { c.Binary = "~/my tools/agent" })
	r.answer(t, hello())
}

// TestPassedOverIsTold: a program that looked like the CLI and was not used is in
// the error and, once, in the log.
func TestPassedOverIsTold(t *testing.T) {
	var log lockedBuffer
	home := t.TempDir()
	install(t, filepath.Join(home, "bin"), "agent")
	place(t, filepath.Join(home, "bin", "cursor-agent"), "", 0o700)
	r := searching(t, agentsim.Script{Version: "Agent of another kind 2.0"}, home)
	r.Backend.log = slog.New(slog.NewTextHandler(&log, nil))
	r.Check(t.Context())
	err := chat.AsError(r.Check(t.Context()))
	for _, part := range []string{"nstall", "~/bin/agent (its answer to --version is not", "~/bin/cursor-agent (", "format error"} {
		if !strings.Contains(err.Message, part) {
			t.Errorf("the message does not hold %q: %s", part, err.Message)
		}
	}
	if text := log.String(); strings.Count(text, "~/bin/agent") != 1 {
		t.Errorf("log:\n%s", text)
	}
}

// TestVariableInVain: a variable of the user's that is wrong does not keep the CLI
// from being found, but is told.
func TestVariableInVain(t *testing.T) {
	var log lockedBuffer
	home := t.TempDir()
	install(t, filepath.Join(home, "bin"), "cursor-agent")
	r := newRig(t, agentsim.Script{}, func(c *Config) {
		c.Binary = ""
		c.Environ = append(c.Environ, "HOME="+home, "PATH="+filepath.Join(home, "bin"), "CURSOR_AGENT_BIN=~/gone", "CURSOR_AGENT_EXECUTABLE=", "CURSOR_AGENT_PATH=")
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	r.answer(t, hello())
	if text := log.String(); !strings.Contains(text, "CURSOR_AGENT_BIN=~/gone (there is no such file)") {
		t.Errorf("log:\n%s", text)
	}
}

// TestProgramThatBreaksLater: an update may leave something that cannot be run.
func TestProgramThatBreaksLater(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "agent")
	install(t, home, "agent")
	r := newRig(t, agentsim.Script{}, setEnv("HOME="+home), func(c *Config) { c.Binary = path })
	r.answer(t, hello())
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	place(t, path, "", 0o700)
	if err := r.refused(t, hello()); err.Code != "cursor_cli_not_found" || !strings.Contains(err.Message, "~/agent") || !strings.Contains(err.Message, "format error") {
		t.Errorf("error %v", err)
	}
	if _, err := r.Models(t.Context()); err == nil || chat.AsError(err).Code != "cursor_cli_not_found" {
		t.Errorf("Models: %v", err)
	}
}

// TestProbeThatIsGivenUp: who leaves while the CLI is asked for its version has
// learnt nothing about it.
func TestProbeThatIsGivenUp(t *testing.T) {
	for name, end := range map[string]func(r *rig, cancel func()){
		"the request ends":    func(_ *rig, cancel func()) { cancel() },
		"the back-end closes": func(r *rig, _ func()) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			r := newRig(t, agentsim.Script{Boot: time.Minute}, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			checked := make(chan error)
			go func() { checked <- r.Check(ctx) }()
			eventually(t, 10*time.Second, "the version is asked for", func() bool { return r.live(t) == 1 })
			end(r, cancel)
			if err := chat.AsError(<-checked); err == nil || err.Kind != chat.Canceled && err.Kind != chat.ShuttingDown {
				t.Errorf("Check: %v", err)
			}
			if log.String() != "" || r.found.Load() != nil {
				t.Errorf("log:\n%s", log.String())
			}
		})
	}
}

// TestSlowAnswersAreTold: no setting changes how long a sub-command may take, so
// the message does not speak of settings.
func TestSlowAnswersAreTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, agentsim.Script{MuteStatus: true})
	err := chat.AsError(r.Check(t.Context()))
	if err == nil || err.Kind != chat.Timeout || !strings.Contains(err.Message, "cursor-agent status") || !strings.Contains(err.Message, "5 seconds") || strings.Contains(err.Message, "settings") {
		t.Errorf("Check: %v", err)
	}
}
