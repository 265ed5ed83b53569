package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/atotto/clipboard"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/app/localkey"
	"cursortray/keychain"
	"cursortray/proxy"
	"cursortray/proxy/chat"
	"cursortray/proxy/cursor/agentcli"
	"cursortray/proxy/cursor/cursorsim"
)

// chosen is the back-end and why it is that one.
type chosen struct {
	backend      chat.Backend
	name, reason string
	demo         bool
}

func (p *process) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}

// briefLogger is for commands that only ask: what an instance tells at level
// info would stand between the answer and who reads it.
func (p *process) briefLogger(s *setup) *slog.Logger {
	level := s.settings.LogLevel
	if level == slog.LevelInfo {
		level = slog.LevelWarn
	}
	return p.logger(level)
}

// backend makes the back-end that the settings name; it starts nothing yet.
func (p *process) backend(s *setup, demo bool, logger *slog.Logger) chosen {
	switch {
	case demo:
		return chosen{cursorsim.NewBackend(cursorsim.Config{Pace: cursorsim.NaturalPace}), "demo", "a simulated Cursor; nothing is real", true}
	case s.settings.Backend == "agent":
		return chosen{newMissing(), "agent", "set by the user", false}
	case s.settings.Backend == "cli":
		return chosen{newCLI(s, logger), "cursor-agent", "set by the user", false}
	default:
		return chosen{newCLI(s, logger), "cursor-agent", "the only way to reach Cursor in this version", false}
	}
}

func newCLI(s *setup, logger *slog.Logger) chat.Backend {
	cli := s.settings.CLI
	return agentcli.New(agentcli.Config{
		Binary:  s.settings.CursorAgent,
		MaxRuns: cli.MaxRuns,
		Resume:  cli.Resume,
		Timeouts: agentcli.Timeouts{
			Start: cli.StartTimeout, Idle: cli.IdleTimeout, Tool: cli.ToolTimeout, Run: cli.RunTimeout,
		},
		Workspaces: filepath.Join(s.dirs.Cache, "workspaces"),
		Environ:    os.Environ(),
		Logger:     logger,
	})
}

func newStore(s *setup) keychain.Store {
	switch s.settings.TokenStore {
	case "file":
		return keychain.File(filepath.Join(s.dirs.State, "secrets"))
	case "memory":
		return keychain.Memory()
	default:
		return keychain.System("cursortray")
	}
}

func newKeys(s *setup, logger *slog.Logger) *localkey.Keys {
	return localkey.New(localkey.Config{Fixed: s.settings.APIKey.Reveal(), Store: newStore(s), Logger: logger})
}

// instance is a cursortray that runs: the App with what it needs.
type instance struct {
	app     *app.App
	keys    *localkey.Keys
	backend chat.Backend
	holder  *control.Holder // nil when another instance has the control socket
	logger  *slog.Logger
}

// newInstance constructs everything; failFast as in app.Config.
func (p *process) newInstance(s *setup, demo, failFast bool) *instance {
	logger := p.logger(s.settings.LogLevel)
	with := p.backend(s, demo, logger)
	keys := newKeys(s, logger)
	return &instance{
		app: app.New(app.Config{
			Addr:          s.settings.Addr,
			AllowRemote:   s.settings.AllowRemote,
			FailFast:      failFast,
			Proxy:         proxy.Config{Hosts: s.settings.AllowedHosts, Origins: s.settings.AllowedOrigins, Logger: logger},
			Backend:       with.backend,
			BackendName:   with.name,
			BackendChoice: s.settings.Backend,
			BackendReason: with.reason,
			Demo:          with.demo,
			Keys:          keys,
			Copy:          copyText,
			Logger:        logger,
			Version:       buildVersion(),
		}),
		keys:    keys,
		backend: with.backend,
		logger:  logger,
	}
}

// copyText puts text on the clipboard. The program that does it on
// Linux cannot be stopped by ctx; the App waits no longer than ctx for it.
func copyText(_ context.Context, text string) error {
	if clipboard.Unsupported {
		return errors.New("no clipboard program found; install wl-clipboard, xclip or xsel")
	}
	return clipboard.WriteAll(text)
}
