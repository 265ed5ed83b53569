package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/atotto/clipboard"

	"cursortray/app"
	"cursortray/app/autostart"
	"cursortray/app/control"
	"cursortray/app/localkey"
	"cursortray/keychain"
	"cursortray/proxy"
	"cursortray/proxy/choice"
	"cursortray/proxy/cursor"
	"cursortray/proxy/cursor/agentcli"
	"cursortray/proxy/cursor/agentrpc"
	"cursortray/proxy/cursor/cursorsim/simserver"
	"cursortray/proxy/ledger"
)

func (p *process) logger(level slog.Level) *slog.Logger {
	out := p.stderr
	if p.log != nil {
		out = p.log
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
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

// newBackend makes the back-end, which starts nothing yet: the ways to Cursor,
// and the choice between them.
func newBackend(s *setup, a *account, logger *slog.Logger) *choice.Backend {
	agent := newAgent(s, a, logger)
	a.loggedOut = agent.Forget
	cli := newCLI(s, logger)
	return choice.New(choice.Config{Setting: s.settings.Backend, Ways: []choice.Way{
		{
			ID: "agent", Name: "Cursor protocol", Backend: agent,
			Ready: a.cursor.Tokens().SignedIn, Reason: "logged in to Cursor",
		},
		{
			ID: "cli", Name: "cursor-agent", Backend: cli,
			// Asking starts a process, which nobody is to wait for at each request.
			Ready: cli.Check, Trust: cliTrust, Reason: "only cursor-agent is logged in",
		},
	}})
}

const cliTrust = 5 * time.Minute

// newAgent makes the back-end that speaks Cursor's protocol. Its connections
// are apart from those for other calls, because runs need HTTP/2.
func newAgent(s *setup, a *account, logger *slog.Logger) *agentrpc.Backend {
	set := s.settings.Agent
	return agentrpc.New(agentrpc.Config{
		Transport:     &cursor.Transport{Base: a.runs, Tokens: a.cursor.Tokens(), Identity: a.identity, Hosts: a.hosts},
		Login:         a.cursor.Tokens(),
		Host:          a.cursor.AgentHost(),
		Catalog:       a.cursor.Catalog,
		Folder:        a.dirs.conversations,
		MemoryOnly:    !set.KeepConversations,
		TimeZone:      cursor.TimeZone(),
		MaxRuns:       set.MaxRuns,
		SystemInFront: set.SystemInFront,
		RejectNative:  !set.NativeTools,
		LimitTokens:   set.LimitTokens,
		RawUsage:      true, // what turns cost; the dialects make it fit the window
		Notice:        func(text string) { logger.Info("Cursor announces something", "text", text) },
		Logger:        logger,
	})
}

func newCLI(s *setup, logger *slog.Logger) *agentcli.Backend {
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
		return fileStore(s)
	case "memory":
		return keychain.Memory()
	default:
		return keychain.System("cursortray")
	}
}

// otherStores are those of other choices of token_store, one of which may come
// to be the one in use.
func otherStores(s *setup, chosen keychain.Store) []cursor.Store {
	var others []cursor.Store
	for _, setting := range []string{"file", "keychain"} {
		with := *s
		with.settings.TokenStore = setting
		store := newStore(&with)
		if setting == "keychain" && chosen.Kind() == setting {
			store = chosen // two of one keychain would confuse each other's prompts
			if movable, ok := chosen.(*keychain.Movable); ok {
				store = movable.Behind()
			}
		}
		others = append(others, elsewhere{store, chosen})
	}
	return others
}

// elsewhere is a store as long as it is not the one in use.
type elsewhere struct {
	keychain.Store
	used keychain.Store
}

func (e elsewhere) Delete(ctx context.Context, name string) error {
	if e.Kind() == e.used.Kind() {
		return nil
	}
	return e.Store.Delete(ctx, name)
}

func newKeys(s *setup, store keychain.Store, logger *slog.Logger) *localkey.Keys {
	return localkey.New(localkey.Config{Fixed: s.settings.APIKey.Reveal(), Store: store, Logger: logger})
}

func newEditorKeys(s *setup, store keychain.Store, main *localkey.Keys, logger *slog.Logger) *localkey.Editors {
	return localkey.NewEditors(localkey.Config{Fixed: s.settings.APIKey.Reveal(), Store: store, Logger: logger}, main)
}

// instance is a cursortray that runs: the App with what it needs.
type instance struct {
	app       *app.App
	keys      *localkey.Keys
	account   *account
	editors   *localkey.Editors
	demo      *simserver.Demonstration // nil: this is no demo
	holder    *control.Holder          // nil when another instance has the control socket
	logger    *slog.Logger
	autostart *autostart.Item // nil: there is no system for it
	ledger    *ledger.Ledger  // nil: nothing is kept
}

// newInstance constructs everything; failFast as in app.Config.
func (p *process) newInstance(s *setup, demo, failFast bool) (*instance, error) {
	i := &instance{logger: p.logger(s.settings.LogLevel)}
	store := keychain.NewMovable(newStore(s))
	i.keys = newKeys(s, store, i.logger)
	i.editors = newEditorKeys(s, store, i.keys, i.logger)
	cfg := app.Config{
		Addr:        s.settings.Addr,
		AllowRemote: s.settings.AllowRemote,
		FailFast:    failFast,
		Proxy:       proxy.Config{Hosts: s.settings.AllowedHosts, Origins: s.settings.AllowedOrigins, Logger: i.logger},
		Keys:        i.keys,
		Demo:        demo,
		Open:        openPage,
		Copy:        copyText,
		Logger:      i.logger,
		Version:     buildVersion(),
	}
	cfg.SettingsFile, cfg.StartProxy = s.file.Path(), s.settings.StartProxy
	cfg.SaveSetting = s.file.Set
	var err error
	if demo {
		err = i.simulate(s, &cfg)
	} else if i.account, err = p.newAccount(s, store, i.logger); err == nil {
		backend := newBackend(s, i.account, i.logger)
		cfg.Backend, cfg.Chooser = backend, backend
		cfg.SaveBackend = func(setting string) error { return s.file.Set("backend", setting) }
		cfg.KeepInFile = func(ctx context.Context) error { return i.keepInFile(ctx, s, store) }
		cfg.SaveDefaultModel = func(id string) error { return s.file.Set("default_model", id) }
	}
	if err != nil {
		return nil, err
	}
	cfg.Account, cfg.Prices, cfg.Costs = app.CursorAccount{Account: i.account.cursor}, i.account.prices, i.account.prices
	cfg.AccountChanged, cfg.LoginStored, cfg.ModelsChanged = i.account.changed, i.account.stored, i.account.modelsChanged
	if i.autostart, err = p.autostart(); err == nil {
		cfg.Autostart = i.autostart
	} else {
		i.logger.Debug("no start at login", "reason", err)
	}
	if p.log != nil {
		cfg.LogFile, cfg.OpenFile = logPath(s), openPage
	}
	cfg.DefaultModel, cfg.Wake = i.account.standard, i.account.wake
	if err := i.addEditors(p, s, &cfg); err != nil {
		return nil, errors.Join(err, i.close())
	}
	i.addSpending(s, &cfg)
	if err := i.addDashboard(p, s, &cfg); err != nil {
		return nil, errors.Join(err, i.close())
	}
	cfg.Recorder = p.recorder(s)
	cfg.Notifications = strings.Join(s.settings.Notifications, ",")
	i.app = app.New(cfg)
	silenceBrowser()
	return i, nil
}

// close ends what the App does not end itself.
func (i *instance) close() error {
	i.keys.Close()
	i.editors.Close()
	err := i.account.close()
	if i.ledger != nil {
		err = errors.Join(err, i.ledger.Close())
	}
	if i.demo != nil {
		err = errors.Join(err, i.demo.Close())
	}
	return err
}

// copyText puts text on the clipboard. The program that does it on
// Linux cannot be stopped by ctx; the App waits no longer than ctx for it.
func copyText(_ context.Context, text string) error {
	if clipboard.Unsupported {
		return errors.New("no clipboard program found; install wl-clipboard, xclip or xsel")
	}
	return clipboard.WriteAll(text)
}
