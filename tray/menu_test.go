package tray

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cursortray/app"
	"cursortray/assets"
	"cursortray/proxy/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func base() app.Snapshot {
	return app.Snapshot{
		Version: "1.2.3",
		Proxy:   app.ProxyStatus{State: app.Running, Addr: "127.0.0.1:8765", BaseURL: "http://127.0.0.1:8765/v1"},
		Backend: app.BackendStatus{Name: "cursor-agent", Choice: "auto", Reason: "found in PATH"},
	}
}

func with(change func(*app.Snapshot)) app.Snapshot {
	s := base()
	change(&s)
	return s
}

func proxyIn(state app.ProxyState, active int) app.Snapshot {
	return with(func(s *app.Snapshot) { s.Proxy.State, s.Proxy.Active = state, active })
}

func failing(kind chat.Kind, message string) app.Snapshot {
	return with(func(s *app.Snapshot) { s.Backend.Problem = chat.Errorf(kind, "%s", message) })
}

// goldenStates has every state that the menu tells apart.
func goldenStates() map[string]app.Snapshot {
	return map[string]app.Snapshot{
		"running":         base(),
		"busy":            proxyIn(app.Running, 2),
		"busy-one":        proxyIn(app.Running, 1),
		"starting":        proxyIn(app.Starting, 0),
		"stopping":        proxyIn(app.Stopping, 0),
		"stopping-active": proxyIn(app.Stopping, 2),
		"stopped":         proxyIn(app.Stopped, 0),
		"stopped-no-port": with(func(s *app.Snapshot) {
			s.Proxy = app.ProxyStatus{State: app.Stopped, Addr: "127.0.0.1:0"}
		}),
		"port-busy": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Owner = app.Blocked, "nginx (pid 812)"
			s.Proxy.Problem = "port 8765 is used by nginx (pid 812)"
		}),
		"port-busy-unknown": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Problem = app.Blocked, "port 8765 is used by another program"
		}),
		"address-refused": with(func(s *app.Snapshot) {
			s.Proxy.State, s.Proxy.Addr = app.Blocked, "0.0.0.0:8765"
			s.Proxy.Problem = `the address "0.0.0.0:8765" can be reached from other machines, which could then use this Cursor account; ` +
				`listen on 127.0.0.1, or set allow_remote = true if that is what you want`
		}),
		"login-required": failing(chat.LoginRequired, "not logged in to Cursor; run `cursor-agent login` in a terminal"),
		"not-installed":  failing(chat.Unavailable, "cursor-agent was not found; install it from cursor.com/cli or set cursor_agent in the settings"),
		"quota":          failing(chat.QuotaSpent, "the plan's allowance is used up until 3 December"),
		"not-in-plan":    failing(chat.NotInPlan, "the plan does not include this model"),
		"offline":        failing(chat.BadGateway, "cursor.com did not answer"),
		"key-locked":     with(func(s *app.Snapshot) { s.KeyProblem = "the keychain is locked; unlock it and check again" }),
		"demo": with(func(s *app.Snapshot) {
			s.Demo, s.Backend = true, app.BackendStatus{Name: "simulated Cursor", Choice: "demo"}
		}),
		"notice": with(func(s *app.Snapshot) { s.Notice = app.Notice{Text: "Base URL copied", N: 1} }),
		"long-reason": with(func(s *app.Snapshot) {
			s.Backend.Reason = "the only way to reach Cursor in this version"
		}),
		"plain-backend": with(func(s *app.Snapshot) { s.Backend = app.BackendStatus{Name: "cursor-agent"} }),
	}
}

func TestMenuGolden(t *testing.T) {
	for name, s := range goldenStates() {
		t.Run(name, func(t *testing.T) {
			got := fmt.Sprintf("icon: %s\ntooltip: %s\n\n%s", icon(s), tooltip(s), picture(Menu(s), ""))
			file := filepath.Join("testdata", "menu", name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("menu differs (-want +got); -update rewrites it:\n%s", d)
			}
		})
	}
}

// picture writes the menu as a user sees it, with keys and actions.
func picture(items []Item, indent string) string {
	var b strings.Builder
	for _, item := range items {
		if item.Separator {
			b.WriteString(indent + "----\n")
			continue
		}
		line := fmt.Sprintf("%s%-12s %s", indent, item.Key, item.Title)
		if item.Action != nil {
			line += fmt.Sprintf("   -> %T", item.Action)
		} else if !item.Enabled {
			line += "   (text)"
		}
		if item.Hidden {
			line = fmt.Sprintf("%s%-12s (hidden)", indent, item.Key)
		}
		b.WriteString(line + "\n" + picture(item.Items, indent+"    "))
	}
	return b.String()
}

func TestMenuKeepsTheRules(t *testing.T) {
	for name, s := range goldenStates() {
		if err := brokenRule(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		s := randomSnapshot(rng)
		if err := brokenRule(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
}

// brokenRule names a rule of tray menus that the menu of s breaks.
func brokenRule(s app.Snapshot) error {
	items := Menu(s)
	keys := make(map[string]bool)
	visible := 0
	for _, item := range items {
		switch {
		case item.Key == "" || keys[item.Key]:
			return fmt.Errorf("the key %q is empty or taken", item.Key)
		case item.Separator && visible == 0:
			return fmt.Errorf("nothing is visible above %s", item.Key)
		case item.Separator:
			visible = 0
		case !item.Hidden:
			visible++
			if err := badTitle(item.Title); err != nil {
				return err
			}
		}
		keys[item.Key] = true
		if item.Enabled != (item.Action != nil) {
			return fmt.Errorf("%s: enabled is %v, but the action is %v", item.Key, item.Enabled, item.Action)
		}
	}
	if visible == 0 {
		return errors.New("nothing is visible in the last group")
	}
	if len(tooltip(s)) == 0 || len(utf16(tooltip(s))) > 127 {
		return fmt.Errorf("the tooltip %q has the wrong length", tooltip(s))
	}
	if (icon(s) == assets.Problem) != (len(s.Problems()) > 0) {
		return fmt.Errorf("the icon is %s with the problems %v", icon(s), s.Problems())
	}
	return nil
}

func badTitle(title string) error {
	if title == "" || utf8.RuneCountInString(title) > 60 || strings.ContainsAny(title, "\t\n\r") || !utf8.ValidString(title) {
		return fmt.Errorf("bad title %q", title)
	}
	for _, r := range title {
		if r >= 0x1f000 {
			return fmt.Errorf("emoji in %q", title)
		}
	}
	return nil
}

func utf16(s string) []rune {
	var units []rune
	for _, r := range s {
		units = append(units, r)
		if r > 0xffff {
			units = append(units, r)
		}
	}
	return units
}

func randomSnapshot(rng *rand.Rand) app.Snapshot {
	words := func() string {
		pieces := []string{"a", "nginx", "\t", "\n", "_", "&", "\U0001f600", "ü", "日本", "%", strings.Repeat("long", 9), "\x00", "\xff", "e\u0301", " "}
		var b strings.Builder
		for range rng.IntN(40) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	s := app.Snapshot{Version: words(), Demo: rng.IntN(2) == 0, Notice: app.Notice{Text: words()}}
	s.Proxy = app.ProxyStatus{State: app.ProxyState(rng.IntN(5)), Addr: words(), BaseURL: words(), Active: rng.IntN(3)}
	if s.Proxy.State == app.Blocked {
		s.Proxy.Owner, s.Proxy.Problem = words(), "p"+words()
	}
	s.Backend = app.BackendStatus{Name: words(), Choice: words(), Reason: words()}
	if rng.IntN(2) == 0 {
		s.Backend.Problem = chat.Errorf(chat.Kind(rng.IntN(15)), "%s", words())
	}
	if rng.IntN(4) == 0 {
		s.KeyProblem = words()
	}
	return s
}

func TestMenuHasTheSameRowsInEveryState(t *testing.T) {
	shape := func(s app.Snapshot) (keys []string) {
		each(Menu(s), func(item Item) { keys = append(keys, item.Key) })
		return keys
	}
	want := shape(base())
	for name, s := range goldenStates() {
		if d := cmp.Diff(want, shape(s)); d != "" {
			t.Errorf("%s: rows differ:\n%s", name, d)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want []string
	}{
		{"", 3, nil},
		{"one", 3, []string{"one"}},
		{strings.Repeat("abcd ", 13), 3, []string{strings.TrimSpace(strings.Repeat("abcd ", 12)), "abcd"}},
		{strings.Repeat("abcd ", 30), 2, []string{
			strings.TrimSpace(strings.Repeat("abcd ", 12)),
			strings.Repeat("abcd ", 11) + "ab...",
		}},
		{"line\nbreak\tand \U0001f600 tab", 3, []string{"line break and tab"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.in, c.n)); d != "" {
			t.Errorf("wrap(%q, %d):\n%s", c.in, c.n, d)
		}
	}
}

func FuzzClip(f *testing.F) {
	for _, s := range []string{"", "a", "\t", "\xff\xfe", strings.Repeat("日", 100), "a\u202eb", "\U0001f469\u200d\U0001f4bb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := clip(s); got != "" {
			if err := badTitle(got); err != nil {
				t.Error(err)
			}
		}
		for _, line := range wrap(s, 3) {
			if err := badTitle(clip(line)); err != nil && clip(line) != "" {
				t.Error(err)
			}
		}
	})
}
