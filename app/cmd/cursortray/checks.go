package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"cursortray/app"
	"cursortray/app/config"
	"cursortray/app/control"
	"cursortray/keychain"
	"cursortray/proxy/chat"
	"cursortray/tray"
)

func (p *process) checkSettings(_ context.Context, s *setup) []finding {
	f := finding{Name: "settings", State: good, Detail: s.file.Path()}
	info, err := os.Stat(s.file.Path())
	switch {
	case len(s.warnings) > 0:
		f.State, f.Detail = doubt, s.warnings[0].String()
		if n := len(s.warnings) - 1; n > 0 {
			f.Detail += fmt.Sprintf(" (and %d more, see above)", n)
		}
		f.Remedy = "cursortray help settings lists what can be set and how"
	case errors.Is(err, fs.ErrNotExist):
		f.Detail += " does not exist; the defaults and the environment are used"
	case err == nil && s.settings.APIKey != "" && readableByOthers(info):
		f.State = doubt
		f.Detail += " can be read by other users, and the local key may be in it"
		f.Remedy = "chmod 600 " + s.file.Path()
	}
	return []finding{f}
}

// checkInstance asks the running instance, and looks at the port itself if
// there is none.
func (p *process) checkInstance(ctx context.Context, s *setup) []finding {
	status, err := control.NewClient(s.dirs.Runtime).Status(ctx)
	if err != nil {
		instance := finding{Name: "instance", State: good, Detail: "no instance is running"}
		if !errors.Is(err, control.ErrNotRunning) {
			instance = finding{"instance", bad, err.Error(), "end the cursortray process and start it again"}
		}
		return []finding{instance, checkPort(ctx, s)}
	}
	instance := finding{Name: "instance", State: good, Detail: fmt.Sprintf("version %s runs as process %d", status.Version, status.PID)}
	if status.Version != buildVersion() {
		instance.State = doubt
		instance.Detail += ", this is " + buildVersion()
		instance.Remedy = "cursortray quit, then start it again"
	}
	port := finding{Name: "port", State: good, Detail: "the running instance listens on " + status.Proxy.Address}
	switch status.Proxy.State {
	case "running":
	case "blocked":
		port.State, port.Detail, port.Remedy = bad, status.Proxy.Problem, "end that program, or choose another port with the setting addr"
	default:
		port.State, port.Detail, port.Remedy = doubt, "the proxy is "+status.Proxy.State, "cursortray start"
	}
	return []finding{instance, port}
}

func checkPort(ctx context.Context, s *setup) finding {
	addr := s.settings.Addr
	if err := app.CheckPort(ctx, addr, s.settings.AllowRemote); err != nil {
		return finding{"port", bad, err.Error(), "end that program, or choose another address with CURSORTRAY_ADDR or the setting addr"}
	}
	f := finding{Name: "port", State: good, Detail: addr + " is free"}
	if config.CheckLoopback(addr) != nil {
		f.State, f.Detail = doubt, addr+" is free, and other machines can reach it"
		f.Remedy = "unless that is wanted, set addr = \"127.0.0.1:8765\""
	}
	return f
}

func (p *process) checkKey(ctx context.Context, s *setup) []finding {
	if s.settings.APIKey != "" {
		return []finding{{Name: "key", State: good, Detail: "the local key comes from CURSORTRAY_API_KEY or api_key"}}
	}
	store := newStore(s)
	const remedy = "set CURSORTRAY_API_KEY to a key of your own, or token_store = \"file\""
	// Without reading the secret itself there is no telling whether it works.
	_, err := store.Get(ctx, "local-key")
	switch {
	case store.Kind() == "memory":
		return []finding{{"key", doubt, "token_store is memory: the local key is a new one in each run", remedy}}
	case err == nil:
		return []finding{{Name: "key", State: good, Detail: "the local key is in the " + store.Kind() + " store"}}
	case errors.Is(err, keychain.ErrNotFound):
		return []finding{{Name: "key", State: good, Detail: "the " + store.Kind() + " store answers; the local key is made at the first start"}}
	case errors.Is(err, keychain.ErrUnavailable):
		return []finding{{"key", doubt, err.Error() + "; the local key is a new one in each run", remedy}}
	default:
		return []finding{{"key", bad, err.Error(), "unlock the keychain, or " + remedy}}
	}
}

func (p *process) checkDesktop(ctx context.Context, _ *setup) []finding {
	if err := tray.Probe(ctx); err != nil {
		return []finding{{"desktop", doubt, "no tray icon: " + err.Error() + "; the proxy runs without one", "cursortray status and cursortray quit do what the menu would"}}
	}
	return []finding{{Name: "desktop", State: good, Detail: "the desktop shows tray icons"}}
}

// checkCursor looks for the CLI and asks it for its login. A back-end's error
// names its remedy itself.
func (p *process) checkCursor(ctx context.Context, s *setup) []finding {
	if s.settings.Backend == "agent" {
		return []finding{{Name: "cursor-agent", State: good, Detail: "not needed: backend is agent"}}
	}
	cli := newCLI(s, p.briefLogger(s))
	defer cli.Close()
	about, err := cli.About(ctx)
	if about.Path == "" {
		return []finding{
			{"cursor-agent", bad, chat.AsError(err).Message, ""},
			{"login", doubt, "not checked: the login is asked of cursor-agent", ""},
		}
	}
	agent := finding{Name: "cursor-agent", State: good, Detail: about.Path + ", version " + about.Version}
	if about.Version == "" {
		agent.State, agent.Detail = doubt, about.Path+" does not tell its version; it may be something else"
	}
	if about.Passed != "" {
		agent.Detail += "; passed over: " + about.Passed
	}
	login := finding{Name: "login", State: good, Detail: "logged in"}
	switch {
	case err != nil:
		login = finding{"login", bad, chat.AsError(err).Message, ""}
	case p.env("CURSOR_API_KEY") != "":
		login.Detail = "CURSOR_API_KEY is set and is used instead of a login"
	}
	return []finding{agent, login}
}

// checkNetwork looks at the variables that send traffic through a proxy.
func (p *process) checkNetwork(_ context.Context, _ *setup) []finding {
	get := func(name string) string {
		if value := p.env(name); value != "" {
			return value
		}
		return p.env(strings.ToLower(name))
	}
	var through []string
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} {
		value := get(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" {
			return []finding{{"network", doubt, name + " is not a URL", "set it to a value such as http://proxy.example:3128"}}
		}
		through = append(through, name+" is "+u.Scheme+"://"+u.Host) // without user and password
	}
	if len(through) == 0 {
		return []finding{{Name: "network", State: good, Detail: "no proxy variables; cursor-agent talks to Cursor directly"}}
	}
	f := finding{Name: "network", State: good, Detail: strings.Join(through, ", ")}
	if exempt := get("NO_PROXY"); !strings.Contains(exempt, "127.0.0.1") && exempt != "*" {
		f.State = doubt
		f.Detail += "; NO_PROXY does not hold 127.0.0.1, so that some clients send their local requests there"
		f.Remedy = "NO_PROXY=127.0.0.1,localhost"
	}
	return []finding{f}
}
