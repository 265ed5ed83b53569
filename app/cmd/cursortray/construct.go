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
	backend              chat.Backend
	name, choice, reason string
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
	choice := s.settings.Backend
	switch {
	case demo: // the menu has a line of its own for what that means
		return chosen{cursorsim.NewBackend(cursorsim.Config{Pace: cursorsim.NaturalPace}), "simulated Cursor", "demo", ""}
	case choice == "agent":
		return chosen{newMissing(), "agent", choice, "set by the user"}
	case choice == "cli":
		return chosen{newCLI(s, logger), "cursor-agent", choice, "set by the user"}
	default:
		return chosen{newCLI(s, logger), "cursor-agent", choice, "the only way to reach Cursor in this version"}
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

func newKeys(s *setup, store keychain.Store, logger *slog.Logger) *localkey.Keys {
	return localkey.New(localkey.Config{Fixed: s.settings.APIKey.Reveal(), Store: store, Logger: logger})
}

// instance is a cursortray that runs: the App with what it needs.
type instance struct {
	app     *app.App
	keys    *localkey.Keys
	account *account
	holder  *control.Holder // nil when another instance has the control socket
	logger  *slog.Logger
}

// newInstance constructs everything; failFast as in app.Config.
func (p *process) newInstance(s *setup, demo, failFast bool) (*instance, error) {
	logger := p.logger(s.settings.LogLevel)
	store := newStore(s)
	cfg := app.Config{
		Addr:        s.settings.Addr,
		AllowRemote: s.settings.AllowRemote,
		FailFast:    failFast,
		Proxy:       proxy.Config{Hosts: s.settings.AllowedHosts, Origins: s.settings.AllowedOrigins, Logger: logger},
		Demo:        demo,
		Open:        openPage,
		Copy:        copyText,
		Logger:      logger,
		Version:     buildVersion(),
	}
	i := &instance{keys: newKeys(s, store, logger), logger: logger}
	if !demo { // the demo has no account
		var err error
		if i.account, err = p.newAccount(s, store, logger); err != nil {
			return nil, err
		}
		cfg.Account, cfg.Prices = app.CursorAccount{Account: i.account.cursor}, i.account.prices
		cfg.AccountChanged, cfg.ModelsChanged = i.account.changed, i.account.modelsChanged
	}
	with := p.backend(s, demo, logger)
	cfg.Backend, cfg.BackendName, cfg.BackendChoice, cfg.BackendReason = with.backend, with.name, with.choice, with.reason
	cfg.Keys = i.keys
	i.app = app.New(cfg)
	silenceBrowser()
	return i, nil
}

// copyText puts text on the clipboard. The program that does it on
// Linux cannot be stopped by ctx; the App waits no longer than ctx for it.
func copyText(_ context.Context, text string) error {
	if clipboard.Unsupported {
		return errors.New("no clipboard program found; install wl-clipboard, xclip or xsel")
	}
	return clipboard.WriteAll(text)
}
