package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if k, v, _ := strings.Cut(pair, "="); k == name {
				return v
			}
		}
		return ""
	}
}

func writeSettings(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func texts(warnings []Warning) []string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	return lines
}

func TestDefaults(t *testing.T) {
	_, got, warnings := Open(filepath.Join(t.TempDir(), "none.toml"), environment())
	want := Settings{
		Addr: "127.0.0.1:8765", Backend: "auto", TokenStore: "keychain", StartProxy: true, Notifications: NotificationKinds(),
		CLI:   CLI{MaxRuns: 3, StartTimeout: time.Minute, IdleTimeout: 2 * time.Minute, ToolTimeout: 10 * time.Minute, RunTimeout: 30 * time.Minute},
		Agent: Agent{KeepConversations: true, NativeTools: true, MaxRuns: 24},
		Spend: Spend{All: SpendLimits{RunsHour: 600}, LedgerDays: 400, LedgerMegabytes: 64},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Errorf("settings (-want +got):\n%s\nwarnings: %v", diff, warnings)
	}
}

func TestPrecedence(t *testing.T) {
	path := writeSettings(t, "backend = 'cli'\naddr = '127.0.0.1:1'\nlog_level = 'error'\n")
	_, s, warnings := Open(path, environment("CURSORTRAY_ADDR=127.0.0.1:2", "CURSORTRAY_LOG_LEVEL=debug"))
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if err := s.Override("log_level", "warn"); err != nil {
		t.Fatal(err)
	}
	if s.Backend != "cli" || s.Addr != "127.0.0.1:2" || s.LogLevel.String() != "WARN" || s.TokenStore != "keychain" {
		t.Errorf("got %+v, want backend of the file, addr of the environment, level of the override", s)
	}
}

// Every row takes its value from the file and from its variable.
func TestEverySetting(t *testing.T) {
	values := map[string][2]string{ // spelling in TOML, in the environment
		"addr":               {`"[::1]:99"`, "[::1]:99"},
		"backend":            {`"cli"`, "CLI"},
		"api_key":            {`"ct-abc"`, "ct-abc"},
		"cursor_agent":       {`'/opt/my agent'`, "/opt/my agent"},
		"log_level":          {`"debug"`, "debug"},
		"start_proxy":        {"false", "off"},
		"token_store":        {`"file"`, "file"},
		"notifications":      {`["login", "port"]`, "Login, port"},
		"client_version":     {`"cli-2026.01.02-abc"`, "cli-2026.01.02-abc"},
		"telemetry":          {"true", "yes"},
		"allow_remote":       {"true", "1"},
		"allowed_hosts":      {`["a.test", "b.test"]`, "a.test, b.test"},
		"allowed_origins":    {`["https://a.test"]`, "https://a.test"},
		"keep_conversations": {"false", "no"},
		"system_in_front":    {"true", "yes"},
		"native_tools":       {"false", "no"},
		"limit_tokens":       {"true", "yes"},
		"default_model":      {`"gpt-5.5"`, "gpt-5.5"},
		"spend_runs_hour":    {"7", "7"},
		"spend_runs_day":     {"7", "7"},
		"spend_money_hour":   {"0.75", "$0.75"},
		"spend_money_day":    {`"20"`, "20.00"},
		"spend_editors":      {`["codex:runs_hour=7", "*:money_day=1.5"]`, "codex:runs_hour=7,*:money_day=1.5"},
		"ledger_days":        {"7", "7"},
		"ledger_megabytes":   {"7", "7"},
		"agent_max_runs":     {"7", "7"},
		"agent_url":          {`"https://agent.cursor.sh"`, "https://agent.cursor.sh"},
		"cli_max_runs":       {"7", "7"},
		"cli_resume":         {"true", "yes"},
		"cli_start_timeout":  {`"90s"`, "90"},
		"cli_idle_timeout":   {"90", "1m30s"},
		"cli_tool_timeout":   {`"90s"`, "90s"},
		"cli_run_timeout":    {`"90s"`, "90s"},
	}
	for _, row := range Table() {
		t.Run(row.Key, func(t *testing.T) {
			spelling, ok := values[row.Key]
			if !ok {
				t.Fatal("this test has no value for the setting")
			}
			fileOnly := writeSettings(t, row.Key+" = "+spelling[0]+"\n")
			_, fromFile, w1 := Open(fileOnly, environment())
			_, fromEnv, w2 := Open(writeSettings(t, ""), environment(row.Env()+"="+spelling[1]))
			if len(w1)+len(w2) > 0 {
				t.Fatal(w1, w2)
			}
			if diff := cmp.Diff(fromFile, fromEnv); diff != "" {
				t.Errorf("file and environment differ:\n%s", diff)
			}
			if cmp.Equal(fromFile, Default()) {
				t.Error("the value was not used")
			}
			if row.Doc == "" || row.Values == "" {
				t.Error("not documented")
			}
		})
	}
}

func TestRS2_NonsenseFallsBackToTheDefault(t *testing.T) {
	tests := []struct{ key, inFile, inEnv string }{
		{"cli_idle_timeout", `"abc"`, "abc"},
		{"cli_idle_timeout", `999999999999`, "999999999999"},
		{"cli_idle_timeout", `-5`, "-5s"},
		{"cli_idle_timeout", `1.5`, "0"},
		{"cli_max_runs", `"many"`, "0"},
		{"cli_max_runs", `99999999999999999`, "65"},
		{"cli_resume", `"perhaps"`, "perhaps"},
		{"addr", `8765`, "8765"},
		{"addr", `"127.0.0.1:99999"`, "127.0.0.1:http"},
		{"backend", `["cli"]`, "magic"},
		{"log_level", `"loud"`, "loud"},
		{"token_store", `true`, "usb"},
		{"allowed_hosts", `[1]`, "a\nb"},
		{"api_key", `12`, "with space"},
	}
	for _, test := range tests {
		row, _ := find(test.key)
		for source, open := range map[string]func() (*File, Settings, []Warning){
			"file": func() (*File, Settings, []Warning) {
				return Open(writeSettings(t, test.key+" = "+test.inFile), environment())
			},
			"environment": func() (*File, Settings, []Warning) {
				return Open(writeSettings(t, ""), environment(row.Env()+"="+test.inEnv))
			},
		} {
			_, s, warnings := open()
			if !cmp.Equal(s, Default()) {
				t.Errorf("%s in the %s: not the default: %+v", test.key, source, s)
			}
			if len(warnings) != 1 || warnings[0].Key != test.key || !strings.Contains(strings.ToLower(warnings[0].String()), test.key) {
				t.Errorf("%s in the %s: warnings %q do not name the key", test.key, source, texts(warnings))
			}
		}
	}
}

func TestUnknownKeysAreToldAndIgnored(t *testing.T) {
	path := writeSettings(t, "adr = '127.0.0.1:1'\n[future]\nx = 1\n")
	_, s, warnings := Open(path, environment())
	want := []string{path + ": adr: no such setting; ignored", path + ": future: no such setting; ignored"}
	if diff := cmp.Diff(want, texts(warnings)); diff != "" || !cmp.Equal(s, Default()) {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestBrokenFileIsMovedAside(t *testing.T) {
	const broken = "api_key = ct-not-quoted\naddr = \"127.0.0.1:1\"\n"
	path := writeSettings(t, broken)
	for n := 1; n <= 2; n++ {
		_, s, warnings := Open(path, environment())
		if !cmp.Equal(s, Default()) || len(warnings) != 1 {
			t.Fatalf("got %+v, warnings %q", s, texts(warnings))
		}
		aside := fmt.Sprintf("%s.broken-%d", path, n)
		line := warnings[0].String()
		if !strings.Contains(line, aside) || !strings.Contains(line, "line 1") || strings.Contains(line, "\n") || strings.Contains(line, "ct-") {
			t.Errorf("warning %q should name %s and the line, on one line, without the value", line, aside)
		}
		if kept, err := os.ReadFile(aside); err != nil || string(kept) != broken {
			t.Errorf("%s holds %q (%v), want the broken file", aside, kept, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there", path)
		}
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnreadableFileIsToldAndLeftAlone(t *testing.T) {
	path := t.TempDir() // a folder cannot be read as a file, not even by root
	f, s, warnings := Open(path, environment())
	if !cmp.Equal(s, Default()) || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "cannot be read") {
		t.Errorf("got %+v, warnings %q", s, texts(warnings))
	}
	if err := f.Set("addr", "127.0.0.1:1"); err == nil {
		t.Error("Set wrote over something that it could not read")
	}
}

func TestSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "not", "there", "config.toml")
	f, _, _ := Open(path, environment())
	for _, step := range []struct {
		key   string
		value any
	}{{"addr", "127.0.0.1:9"}, {"start_proxy", false}, {"cli_max_runs", 5}, {"cli_idle_timeout", 90 * time.Second}, {"allowed_hosts", []string{"a.test"}}, {"addr", "127.0.0.1:10"}} {
		if err := f.Set(step.key, step.value); err != nil {
			t.Fatal(err)
		}
	}
	_, s, warnings := Open(path, environment())
	if s.Addr != "127.0.0.1:10" || s.StartProxy || s.CLI.MaxRuns != 5 || s.CLI.IdleTimeout != 90*time.Second || !slices.Equal(s.AllowedHosts, []string{"a.test"}) || len(warnings) > 0 {
		t.Errorf("read back %+v, warnings %q", s, texts(warnings))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".config*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestSetRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text, key string
		value     any
	}{
		"a file that is broken":     {"addr = \n", "addr", "127.0.0.1:1"},
		"a value without sense":     {"# mine\n", "cli_max_runs", 0},
		"a setting that is unknown": {"# mine\n", "colour", "red"},
		"a name that is a table":    {"[addr]\nx = 1\n", "addr", "127.0.0.1:1"},
		"a name that is dotted":     {"addr.x = 1\n", "addr", "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeSettings(t, test.text)
			f := &File{path: path}
			if err := f.Set(test.key, test.value); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line", err)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != test.text {
				t.Errorf("the file is now %q (%v)", left, err)
			}
		})
	}
}

func TestSetKeepsALink(t *testing.T) {
	target := writeSettings(t, "# kept in a repository\n")
	link := filepath.Join(t.TempDir(), "config.toml")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	f, _, _ := Open(link, environment())
	if err := f.Set("backend", "cli"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(target); string(text) != "# kept in a repository\nbackend = \"cli\"\n" {
		t.Errorf("target holds %q", text)
	}
}

func TestSE2_SecretsAreNotPrinted(t *testing.T) {
	_, s, _ := Open(writeSettings(t, "api_key = 'ct-secret'"), environment())
	row, _ := find("api_key")
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s), fmt.Sprintf("%q %s %x", s.APIKey, s.APIKey, s.APIKey), row.Show(&s)} {
		if strings.Contains(shown, "ct-secret") || strings.Contains(shown, fmt.Sprintf("%x", "ct-secret")) {
			t.Errorf("printed: %s", shown)
		}
	}
	if s.APIKey.Reveal() != "ct-secret" {
		t.Errorf("Reveal gives %q", s.APIKey.Reveal())
	}
}

func TestCheckLoopback(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true, "LOCALHOST:0": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:1": false, ":1": false, "[::]:1": false, "192.168.1.2:1": false, "example.com:1": false, "localhost.example.com:1": false, "127.0.0.1.example.com:1": false,
	} {
		if err := CheckLoopback(addr); (err == nil) != ok {
			t.Errorf("CheckLoopback(%q) = %v", addr, err)
		}
	}
}
