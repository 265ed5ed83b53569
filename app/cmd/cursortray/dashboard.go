package main

import (
	"context"
	"fmt"
	"net/http"
	"os/user"
	"regexp"
	"runtime"
	"strings"

	"cursortray/app"
	"cursortray/app/config"
	"cursortray/app/dashboard"
	"cursortray/app/editorsetup"
	"cursortray/proxy/chat"
)

// addDashboard gives the App its page.
func (i *instance) addDashboard(p *process, s *setup, cfg *app.Config) error {
	manuals, err := i.manuals(p, s)
	if err != nil {
		return err
	}
	config := dashboard.Config{
		App:      runningApp{i},
		Keys:     i.keys,
		Manuals:  manuals,
		Settings: p.newSettingsPage(s, cfg.Demo),
		Diagnose: func(ctx context.Context) dashboard.Report { return p.diagnose(ctx, s, cfg.Demo) },
		Logger:   i.logger,
	}
	if i.ledger != nil {
		config.Ledger = i.ledger
	}
	if book, ok := cfg.Ledger.(dashboard.Ledger); ok {
		config.Ledger = book
	}
	pages, err := dashboard.New(config)
	if err != nil {
		return fmt.Errorf("make the dashboard: %w", err)
	}
	cfg.Dashboard, cfg.Proxy.Pages = pages, http.Handler(pages)
	return nil
}

// runningApp is the App that is made after its page.
type runningApp struct{ i *instance }

func (r runningApp) Snapshot() app.Snapshot                        { return r.i.app.Snapshot() }
func (r runningApp) Watch(ctx context.Context) <-chan app.Snapshot { return r.i.app.Watch(ctx) }
func (r runningApp) Do(a app.Action)                               { r.i.app.Do(a) }

func (r runningApp) LoginWithKey(ctx context.Context, key string) error {
	return r.i.app.LoginWithKey(ctx, key)
}

// manualPages tells how editors are set up by hand, with keys or without.
type manualPages struct{ keyed, blank *editorsetup.Service }

func (i *instance) manuals(p *process, s *setup) (manualPages, error) {
	manager, err := p.newEditors(s)
	if err != nil {
		return manualPages{}, err
	}
	cfg := editorsetup.Config{
		Editors: manager, Keys: i.editors,
		BaseURL: func(context.Context) (string, error) { return known(i.app.Snapshot().Proxy.BaseURL) },
		Models:  func(ctx context.Context) ([]chat.Model, error) { return i.app.Models(ctx) },
	}
	m := manualPages{keyed: editorsetup.New(cfg)}
	cfg.Keys = standInKeys{i.editors}
	m.blank = editorsetup.New(cfg)
	return m, nil
}

func (m manualPages) ByHand(ctx context.Context, id string, key bool) (dashboard.ByHand, error) {
	service := m.blank
	if key {
		service = m.keyed
	}
	r, err := service.ByHand(ctx, id, editorsetup.Options{})
	told := dashboard.ByHand{Steps: r.Steps}
	for _, text := range r.Text {
		to := text.For
		if text.File != "" && text.File != text.For {
			to += ": " + text.File
		}
		told.Texts = append(told.Texts, dashboard.Text{For: to, Body: text.Text})
	}
	return told, err
}

// standInKeys gives a word that stands for a key, and makes none.
type standInKeys struct{ editorsetup.Keys }

func (standInKeys) Key(context.Context, string) (string, error) { return "YOUR-KEY", nil }

// settingsPage is the settings file for the page. Of what it holds it tells all
// but secrets.
type settingsPage struct {
	p    *process
	s    *setup
	demo bool
	// begun is what the file and the environment said when the program started.
	begun config.Settings
}

func (p *process) newSettingsPage(s *setup, demo bool) *settingsPage {
	page := &settingsPage{p: p, s: s, demo: demo}
	page.begun = p.reopened(s).settings
	return page
}

// reopened is the setup as the file says now.
func (p *process) reopened(s *setup) *setup {
	now := *s
	now.file, now.settings, now.warnings = config.Open(s.dirs.FilePath(p.env), p.env)
	return &now
}

func (page *settingsPage) Path() string { return page.s.file.Path() }

func (page *settingsPage) Set(key, value string) error { return page.s.file.Set(key, value) }

// live are the settings that the App follows at once, or that say nothing about
// the program that runs.
var live = map[string]bool{"backend": true, "start_proxy": true, "default_model": true, "notifications": true}

func (page *settingsPage) List() []dashboard.Setting {
	now := page.p.reopened(page.s).settings
	var list []dashboard.Setting
	for _, row := range config.Table() {
		s := dashboard.Setting{
			Key: row.Key, Doc: row.Doc, Values: row.Values, Choices: row.Choices(), Default: row.Default, Secret: row.Secret,
			Value:   row.Show(&now),
			Pending: row.Show(&now) != row.Show(&page.begun) && !live[row.Key],
		}
		if page.p.env(row.Env()) != "" {
			s.Env = row.Env()
		}
		if row.Secret {
			s.Has, s.Value = s.Value != "", ""
			s.Pending = now.APIKey != page.begun.APIKey
		}
		list = append(list, s)
	}
	return list
}

// diagnose makes the doctor's checks for the page. A demo asks nobody outside of
// it, and reads no keychain.
func (p *process) diagnose(ctx context.Context, s *setup, demo bool) dashboard.Report {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	now := p.reopened(s)
	r := report{OK: true, Version: buildVersion()}
	if demo {
		for _, check := range []func(context.Context, *setup) []finding{p.checkSettings, p.checkInstance, p.checkDesktop, p.checkNetwork} {
			r.Findings = append(r.Findings, check(ctx, now)...)
		}
	} else {
		r = p.examine(ctx, now)
	}
	told := dashboard.Report{OK: r.OK, Text: p.redacted(r)}
	for _, f := range r.Findings {
		told.OK = told.OK && f.State != bad
		told.Findings = append(told.Findings, dashboard.Finding{Name: f.Name, State: string(f.State), Detail: f.Detail, Remedy: f.Remedy})
	}
	return told
}

var (
	emailShape = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
	// A user and password in an address.
	userinfoShape = regexp.MustCompile(`://[^/\s@]+@`)
)

// redacted is a report for people who do not know this computer: without names
// of its users, their folders, e-mail addresses and secrets.
func (p *process) redacted(r report) string {
	var text strings.Builder
	fmt.Fprintf(&text, "cursortray %s, %s, %s/%s\n", r.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "%-4s  %-12s  %s\n", f.State, f.Name, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(&text, "%-4s  %-12s  -> %s\n", "", "", f.Remedy)
		}
	}
	return p.withoutPeople(text.String())
}

func (p *process) withoutPeople(text string) string {
	p.stderr.mu.Lock()
	masked := string(p.stderr.mask([]byte(text)))
	p.stderr.mu.Unlock()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := strings.TrimRight(p.env(name), `/\`); home != "" {
			masked = strings.ReplaceAll(masked, home, "~")
		}
	}
	masked = userinfoShape.ReplaceAllString(masked, "://[user]@")
	masked = emailShape.ReplaceAllString(masked, "[e-mail]")
	if me, err := user.Current(); err == nil && len(me.Username) > 2 && me.Username != "root" {
		masked = strings.ReplaceAll(masked, me.Username, "[user]")
	}
	return masked
}
