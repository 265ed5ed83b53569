package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cursortray/app"
	"cursortray/proxy/chat"
)

// states are Snapshots of all kinds, by what they are about.
func states() map[string]app.Snapshot {
	all := map[string]app.Snapshot{"healthy": healthy(), "nothing": {}}
	add := func(name string, change func(*app.Snapshot)) {
		s := healthy()
		change(&s)
		all[name] = s
	}
	add("starting", func(s *app.Snapshot) { s.Proxy = app.ProxyStatus{State: app.Starting} })
	add("port busy", func(s *app.Snapshot) {
		s.Proxy = app.ProxyStatus{State: app.Blocked, Problem: "127.0.0.1:8765 is used by nginx"}
	})
	add("logged out", func(s *app.Snapshot) {
		s.Account, s.Plan, s.Models = app.AccountStatus{State: app.LoggedOut}, app.PlanStatus{}, app.ModelsStatus{}
		s.Backend.Problem = chat.Errorf(chat.LoginRequired, "nobody is logged in to Cursor; log in from the tray")
	})
	add("logging in", func(s *app.Snapshot) {
		s.Account = app.AccountStatus{State: app.LoginPending, Login: app.LoginStatus{N: 1, URL: "https://cursor.com/secret-login-link"}}
	})
	add("login failed", func(s *app.Snapshot) {
		s.Account = app.AccountStatus{State: app.LoggedOut, Login: app.LoginStatus{N: 1, Failure: chat.Errorf(chat.LoginRequired, "the login was refused")}}
	})
	add("login ended", func(s *app.Snapshot) {
		s.Account = app.AccountStatus{State: app.LoginEnded, Problem: chat.Errorf(chat.LoginRequired, "Cursor has ended the login")}
	})
	add("login will not last", func(s *app.Snapshot) {
		s.Account.Warning, s.Account.Storage = "the login lasts until cursortray ends", "memory"
	})
	add("no account", func(s *app.Snapshot) { s.Account = app.AccountStatus{} })
	add("unread", func(s *app.Snapshot) { s.Account = app.AccountStatus{State: app.Unread} })
	add("key locked", func(s *app.Snapshot) { s.KeyProblem = "the keychain is locked" })
	add("quota", func(s *app.Snapshot) {
		s.Backend.Problem = chat.Errorf(chat.QuotaSpent, "the included usage is used up")
		s.Plan.Lines[1].Value = "$20.00 of $20.00"
	})
	add("offline", func(s *app.Snapshot) {
		s.Backend.Problem = chat.Errorf(chat.Unavailable, "Cursor does not answer")
		s.Models.Problem, s.Models.Age = s.Backend.Problem, "3 days ago"
		s.Plan.Problem, s.Plan.Age = s.Backend.Problem, "2 hours ago"
	})
	add("guard reached", func(s *app.Snapshot) {
		s.Guard = app.GuardStatus{Reached: "600 requests in an hour", Until: noon.Add(time.Hour), RunsHour: 600}
	})
	add("guard lifted", func(s *app.Snapshot) { s.Guard = app.GuardStatus{AllowedUntil: noon.Add(time.Hour), SpentDay: "$1.39"} })
	add("busy", func(s *app.Snapshot) { s.Proxy.Active, s.Notice = 3, app.Notice{Text: "Base URL copied", N: 1} })
	add("demo", func(s *app.Snapshot) { s.Demo, s.Backend.Fixed = true, true })
	add("autostart", func(s *app.Snapshot) {
		s.Autostart, s.Recording = app.AutostartStatus{Known: true, On: true, Problem: "no"}, app.RecordingStatus{Waiting: true, N: 2, Path: "/x/y", Problem: "full"}
	})
	add("hostile", func(s *app.Snapshot) {
		const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
		s.Account.Email, s.Backend.Name, s.Backend.Reason, s.Plan.Title, s.Notice.Text = evil, evil, evil, evil, evil
		s.Backend.Problem = chat.Errorf(chat.Unavailable, evil)
		s.Plan.Lines[0] = app.PlanLine{Label: evil, Value: evil}
		s.Models.List = &app.ModelList{Families: []app.Family{{ModelEntry: app.ModelEntry{ID: evil, Name: evil, Price: evil}, Variants: []app.ModelEntry{{ID: evil, Name: evil}}}}}
		s.Conversations = &app.ConversationList{All: []app.Conversation{{N: 1, Model: evil, Context: &chat.Context{Used: 1 << 40, Max: -1, Parts: []chat.ContextPart{{ID: evil, Label: evil, Tokens: -5}}}}}}
		s.Editors = &app.EditorList{All: []app.EditorStatus{{ID: evil, Name: evil, State: evil, Found: true, Keyed: true}}}
	})
	return all
}

var (
	idShape     = regexp.MustCompile(`\sid="([^"]*)"`)
	forShape    = regexp.MustCompile(`\sfor="([^"]*)"`)
	labelShape  = regexp.MustCompile(`aria-(?:labelledby|describedby)="([^"]*)"`)
	inlineShape = regexp.MustCompile(`(?i)<[a-z][a-z0-9]*(?:\s+[a-z-]+(?:="[^"]*")?)*\s+(?:style|on[a-z]+)=|<style|<script>`)
	postShape   = regexp.MustCompile(`(?s)<form[^>]*method="post".*?</form>`)
	tagShape    = regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)[^>]*?(/?)>`)
)

// checkPage looks for what no page may have.
func checkPage(t *testing.T, where, html string) {
	t.Helper()
	for _, bad := range []string{localKey, "ZgotmplZ", "<no value>", "%!", "secret-login-link", "<script>alert", "<img src=x"} {
		if strings.Contains(html, bad) {
			t.Errorf("%s holds %q", where, bad)
		}
	}
	if found := inlineShape.FindString(html); found != "" {
		t.Errorf("%s has an inline style or script: %q", where, found)
	}
	var ids []string
	for _, m := range idShape.FindAllStringSubmatch(html, -1) {
		if slices.Contains(ids, m[1]) {
			t.Errorf("%s has the id %q twice", where, m[1])
		}
		ids = append(ids, m[1])
	}
	for _, m := range append(forShape.FindAllStringSubmatch(html, -1), labelShape.FindAllStringSubmatch(html, -1)...) {
		if !slices.Contains(ids, m[1]) {
			t.Errorf("%s refers to the id %q, which is not there", where, m[1])
		}
	}
	for _, form := range postShape.FindAllString(html, -1) {
		if !strings.Contains(form, `name="csrf" value="`) || !strings.Contains(form, `action="/dashboard/do"`) {
			t.Errorf("%s has a form without a token: %q", where, form)
		}
	}
	checkNesting(t, where, html)
}

// checkNesting looks whether every element is closed in its order.
func checkNesting(t *testing.T, where, html string) {
	t.Helper()
	alone := []string{"meta", "link", "input", "br"}
	var open []string
	for _, m := range tagShape.FindAllStringSubmatch(html, -1) {
		switch name := m[2]; {
		case slices.Contains(alone, name) || m[3] == "/":
		case m[1] == "":
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			t.Errorf("%s closes %s within %v", where, name, open)
			return
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%s does not close %v", where, open)
	}
}

func TestEveryPageInEveryState(t *testing.T) {
	r := newRig(t)
	r.enter("")
	for name, snap := range states() {
		r.app.publish(snap)
		for _, p := range r.pages {
			for _, query := range []string{"", "?n=1&q=gpt&sort=in&down=1&days=7&by=editor&show=failed&editor=codex"} {
				got := r.get(p.path() + query)
				where := fmt.Sprintf("%s%s, %s,", p.name, query, name)
				if got.status != 200 || !strings.Contains(got.body, "<h1>"+p.title+"</h1>") {
					t.Fatalf("%s has status %d", where, got.status)
				}
				checkPage(t, where, got.body)
			}
		}
	}
}

func TestPagesOfAProgramThatLacksParts(t *testing.T) {
	r := newRig(t, func(c *Config) { *c = Config{App: c.App, Now: c.Now} })
	r.enter("")
	for _, p := range r.pages {
		got := r.get(p.path())
		if got.status != 200 {
			t.Errorf("%s has status %d", p.name, got.status)
		}
		checkPage(t, p.name, got.body)
	}
	for _, action := range []string{"show-key", "examine", "set"} {
		if got := r.press("overview", action, nil); !strings.Contains(got.body, "runs without that") {
			t.Errorf("%s says nothing: %d", action, got.status)
		}
	}
	for _, path := range []string{"data/spend", "data/context"} {
		if got := r.get(Root + path); got.status != 200 || !strings.Contains(got.body, `"x":[]`) {
			t.Errorf("%s: status %d, %s", path, got.status, got.body)
		}
	}
}

func TestALedgerThatCannotBeRead(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ledger = book{err: errors.New("disk /home/ada is gone")} })
	r.enter("")
	for _, page := range []string{"spend", "requests"} {
		if got := r.get(Root + page); got.status != 200 || !strings.Contains(got.body, "The ledger cannot be read") || strings.Contains(got.body, "/home/ada") {
			t.Errorf("%s has status %d", page, got.status)
		}
	}
	if got := r.get(Root + "data/spend"); got.status != 500 {
		t.Errorf("the plot's figures have status %d", got.status)
	}
}

func TestProblemsCarryTheirFix(t *testing.T) {
	fixes := map[string]string{
		"logged out": "sign-in", "login ended": "sign-in", "login failed": "sign-in", "key locked": "recheck", "offline": "recheck",
		"quota": "recheck", "port busy": "start", "guard reached": "allow-hour", "guard lifted": "hold-limits",
	}
	all := states()
	for name, action := range fixes {
		found := false
		for _, trouble := range troubles(all[name]) {
			if trouble.Title == "" || trouble.Text == "" || len(trouble.Fixes) == 0 {
				t.Errorf("%s: %+v", name, trouble)
			}
			for _, f := range trouble.Fixes {
				found = found || f.Action == action
			}
		}
		if !found {
			t.Errorf("%s has no button %q: %+v", name, action, troubles(all[name]))
		}
	}
	if list := troubles(all["healthy"]); len(list) > 0 {
		t.Errorf("a healthy state has %+v", list)
	}
}

func TestButtonsBecomeActions(t *testing.T) {
	r := newRig(t)
	r.enter("")
	tests := []struct {
		action, arg string
		want        app.Action
	}{
		{"sign-in", "", app.SignIn{}},
		{"sign-out", "", app.SignOut{}},
		{"recheck", "", app.Recheck{}},
		{"allow-hour", "", app.AllowSpending{For: time.Hour}},
		{"autostart-on", "", app.SetAutostart{On: true}},
		{"autostart-off", "", app.SetAutostart{}},
		{"record", "", app.RecordNext{}},
		{"backend", "cli", app.ChooseBackend{Setting: "cli"}},
		{"copy-model", "gpt-large", app.CopyModel{ID: "gpt-large"}},
		{"choose-model", "gpt-large-high", app.ChooseModel{ID: "gpt-large-high"}},
		{"choose-model", "auto", app.ChooseModel{ID: "auto"}},
		{"set-up-editor", "zed", app.SetUpEditor{ID: "zed"}},
		{"undo-editor", "codex", app.UndoEditor{ID: "codex"}},
		{"switch-editor-off", "codex", app.SwitchEditor{ID: "codex", Off: true}},
		{"switch-editor-on", "kilo", app.SwitchEditor{ID: "kilo"}},
	}
	for _, tt := range tests {
		got := r.press("overview", tt.action, func(v url.Values, q *http.Request) {
			v.Set("arg", tt.arg)
			q.Header.Set("X-Requested-With", "script")
		})
		if asked := r.app.actions(); got.status != 200 || len(asked) != 1 || asked[0] != tt.want {
			t.Errorf("%s: status %d, actions %#v", tt.action, got.status, asked)
		}
	}
	if got := r.press("models", "nonsense", nil); got.path != Root+"models" || !strings.Contains(got.body, "There is no such button.") || len(r.app.actions()) > 0 {
		t.Errorf("an unknown button leads to %s", got.path)
	}
}

func TestSettingsAreSavedAndRefused(t *testing.T) {
	r := newRig(t)
	r.enter("settings")
	set := func(key, value string) answer {
		return r.press("settings", "set", func(v url.Values, _ *http.Request) {
			v.Set("key", key)
			if value != "" {
				v.Set("value", value)
			}
		})
	}
	if got := set("addr", "127.0.0.1:9000"); got.status != 200 || got.path != Root+"settings" || !strings.Contains(got.body, "Saved.") {
		t.Errorf("status %d at %s", got.status, got.path)
	}
	if got := set("addr", "nonsense"); !strings.Contains(got.body, "must be HOST:PORT") {
		t.Error("a value that makes no sense is not refused")
	}
	set("start_proxy", "") // a box that is not checked
	set("backend", "agent")
	set("nonsense", "x")
	set("default_model", "sonnet")
	if asked := r.app.actions(); len(asked) != 3 || asked[0] != (app.SetStartProxy{}) ||
		asked[1] != (app.ChooseBackend{Setting: "agent"}) || asked[2] != (app.ChooseModel{ID: "sonnet"}) {
		t.Errorf("actions %#v", asked)
	}
	if got := fmt.Sprint(r.drawer.set); got != "map[addr:127.0.0.1:9000 backend:agent start_proxy:false]" {
		t.Errorf("the file says %s", got)
	}
	if got := r.get(Root + "settings"); !strings.Contains(got.body, "brand_new") || !strings.Contains(got.body, "<code>start_proxy</code>. Quit") {
		t.Error("a new setting or what waits for a restart is not shown")
	}
}

// Kinds of notifications have a box each, and hold at once.
func TestNotificationsHaveBoxes(t *testing.T) {
	r := newRig(t)
	r.enter("settings")
	box := func(html, kind string) bool {
		if !strings.Contains(html, `value="`+kind+`"`) {
			t.Fatalf("no box for %q", kind)
		}
		return strings.Contains(html, `value="`+kind+`" checked`)
	}
	if got := r.get(Root + "settings").body; !box(got, "login") || !box(got, "port") || box(got, "plan") {
		t.Error("the boxes do not show the setting")
	}
	for _, kinds := range [][]string{{"plan", "tray"}, nil} {
		r.press("settings", "set", func(v url.Values, _ *http.Request) { v["key"], v["value"] = []string{"notifications"}, kinds })
		want := strings.Join(kinds, ",")
		if asked := r.app.actions(); len(asked) != 1 || asked[0] != (app.ChooseNotifications{Kinds: want}) || r.drawer.set["notifications"] != want {
			t.Errorf("%v: actions %#v, the file says %q", kinds, asked, r.drawer.set["notifications"])
		}
		got := r.get(Root + "settings").body
		if box(got, "login") || box(got, "plan") != (kinds != nil) {
			t.Errorf("%v: the boxes do not follow", kinds)
		}
		checkPage(t, "settings", got)
	}
}

func TestSecretsShowAfterAClickOnly(t *testing.T) {
	r := newRig(t)
	r.enter("")
	got := r.press("editors", "show-key", nil)
	if got.status != 200 || !strings.Contains(got.body, localKey) {
		t.Errorf("the key does not show: status %d", got.status)
	}
	got = r.press("editors", "show-text", func(v url.Values, _ *http.Request) {
		v.Set("arg", "codex")
		v.Set("query", "editor=codex")
	})
	if !strings.Contains(got.body, "api_key = "+localKey) {
		t.Error("the text does not show with the key")
	}
	if got := r.get(Root + "editors?editor=codex"); strings.Contains(got.body, localKey) || !strings.Contains(got.body, "api_key = YOUR_KEY") {
		t.Error("the next page still shows the key")
	}
}

func TestADiagnosisIsKept(t *testing.T) {
	r := newRig(t)
	r.enter("")
	if got := r.get(Root + "diagnosis"); strings.Contains(got.body, "to be mended") {
		t.Error("there are findings before a diagnosis")
	}
	r.press("diagnosis", "examine", nil)
	r.clock.pass(5 * time.Minute)
	got := r.get(Root + "diagnosis")
	for _, want := range []string{"off by 3m", "cursortray login", "1 to be mended, 1 to look at", "5 min ago", "Copy redacted report"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	checkPage(t, "diagnosis", got.body)
}

// A diagnosis that nobody waits for any more is no diagnosis.
func TestADiagnosisEndsWithItsVisitor(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Diagnose = func(ctx context.Context) Report { <-ctx.Done(); return Report{} }
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.examine(&form{ctx: ctx}); err == nil || !r.report.At.IsZero() {
		t.Errorf("error %v, report %+v", err, r.report)
	}
}
