package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/money"
)

// Settings are the values in force, all of them valid.
type Settings struct {
	Addr           string // HOST:PORT; port 0 picks a free one
	AllowRemote    bool
	AllowedHosts   []string
	AllowedOrigins []string
	APIKey         Secret // the local key; "" = the one in the token store
	TokenStore     string // keychain, file or memory
	Backend        string // auto, agent or cli
	DefaultModel   string // for requests that leave the choice open; "" is Cursor's automatic choice
	CursorAgent    string // path of the CLI; "" = search
	CLI            CLI
	Agent          Agent
	Spend          Spend
	LogLevel       slog.Level
	StartProxy     bool
	Notifications  []string // kinds, none or all of them
	ClientVersion  string   // of Cursor's CLI, as told to Cursor; "" = the installed one's, or a known one
	Telemetry      bool     // Cursor may keep prompts
}

// CLI are the settings of the cursor-agent back-end.
type CLI struct {
	MaxRuns      int
	Resume       bool
	StartTimeout time.Duration
	IdleTimeout  time.Duration
	ToolTimeout  time.Duration
	RunTimeout   time.Duration
}

// Agent are the settings of the back-end that speaks Cursor's own protocol.
type Agent struct {
	URL               string // the agent host; "" = the one that Cursor names
	KeepConversations bool   // on disk, for a day
	SystemInFront     bool   // the system text stands before the user's, too
	NativeTools       bool   // Cursor's own kinds of work are done by tools of the client
	LimitTokens       bool   // max_tokens ends an answer
	MaxRuns           int
}

// Secret is a text that no print verb and no log shows.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// Format writes a stand-in, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	if s != "" {
		f.Write([]byte("[secret]"))
	}
}

// LogValue returns the stand-in for structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }

// MarshalText returns the stand-in, so that JSON does not show the text either.
func (s Secret) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(s)), nil }

// Setting is one row of the table.
type Setting struct {
	Key     string // in the settings file
	Default string // in the spelling of the environment variable; "" is empty or off
	Values  string // what it takes, for people
	Doc     string // one or two sentences
	Secret  bool   // the value is never printed

	apply func(s *Settings, value any) error
	get   func(s *Settings) any
}

// Env returns the name of the setting's environment variable.
func (s Setting) Env() string { return "CURSORTRAY_" + strings.ToUpper(s.Key) }

// Show returns the value that is in force in the spelling of the environment
// variable, or a stand-in for a secret.
func (s Setting) Show(in *Settings) string {
	switch v := s.get(in).(type) {
	case time.Duration:
		return shortDuration(v)
	case slog.Level:
		return strings.ToLower(v.String())
	case []string:
		return strings.Join(v, ",")
	case money.Amount:
		return strings.TrimPrefix(v.String(), "$")
	default:
		return fmt.Sprint(v)
	}
}

// row builds one row; parse takes a text or what TOML made of the value.
func row[T any](key, def, values, doc string, field func(*Settings) *T, parse func(any) (T, error)) Setting {
	return Setting{
		Key: key, Default: def, Values: values, Doc: doc,
		apply: func(s *Settings, value any) error {
			v, err := parse(value)
			if err == nil {
				*field(s) = v
			}
			return err
		},
		get: func(s *Settings) any { return *field(s) },
	}
}

// Table returns every setting in the order in which `help settings` and the
// documentation show them.
func Table() []Setting {
	key := row("api_key", "", "text", "The local key that clients send. Empty: the key that was made at the first start and lies in the token store.",
		func(s *Settings) *Secret { return &s.APIKey }, secret)
	key.Secret = true
	return append([]Setting{
		row("addr", "127.0.0.1:8765", "HOST:PORT", "Where the proxy listens. Port 0 picks a free port. Only loopback hosts unless allow_remote is true.",
			func(s *Settings) *string { return &s.Addr }, address),
		row("backend", "auto", "auto, agent or cli", "How to reach Cursor: its agent protocol, the cursor-agent program, or whichever works.",
			func(s *Settings) *string { return &s.Backend }, oneOf("auto", "agent", "cli")),
		row("default_model", "", "id of a model", "The model of requests for auto or default. Empty: Cursor chooses.",
			func(s *Settings) *string { return &s.DefaultModel }, text),
		key,
		row("cursor_agent", "", "path", "The cursor-agent program. Empty: it is searched for.",
			func(s *Settings) *string { return &s.CursorAgent }, text),
		row("log_level", "info", "debug, info, warn or error", "How much is written to the log, which is a file and, except after a start at login, standard error.",
			func(s *Settings) *slog.Level { return &s.LogLevel }, level),
		row("start_proxy", "true", "true or false", "Start the proxy when cursortray starts.",
			func(s *Settings) *bool { return &s.StartProxy }, boolean),
		row("notifications", "all", "all, none, or some of "+strings.Join(NotificationKinds(), ", "), "Which notifications are shown: somebody has to log in or has done so, the port is busy, the proxy broke, the plan is used up, a limit of yours is reached, nothing shows the tray icon.",
			func(s *Settings) *[]string { return &s.Notifications }, notifications),
		row("token_store", "keychain", "keychain, file or memory", "Where secrets are kept. file: readable by every program that runs as you; memory: until cursortray ends.",
			func(s *Settings) *string { return &s.TokenStore }, oneOf("keychain", "file", "memory")),
		row("client_version", "", "text such as cli-2026.08.25-3e8eec8", "The version of Cursor's CLI that is told to Cursor. Empty: that of the newest installed one, else one that is known to work.",
			func(s *Settings) *string { return &s.ClientVersion }, text),
		row("telemetry", "false", "true or false", "Let Cursor keep what is sent. false asks it for privacy.",
			func(s *Settings) *bool { return &s.Telemetry }, boolean),
		row("allow_remote", "false", "true or false", "Accept an addr that other machines can reach. They still need the key.",
			func(s *Settings) *bool { return &s.AllowRemote }, boolean),
		row("allowed_hosts", "", "host names, separated by commas", "Names, besides the loopback ones, under which the proxy may be called.",
			func(s *Settings) *[]string { return &s.AllowedHosts }, list),
		row("allowed_origins", "", "origins, separated by commas", "Web origins that may call the proxy. None by default.",
			func(s *Settings) *[]string { return &s.AllowedOrigins }, list),
	}, slices.Concat(spendTable(), agentTable(), cliTable())...)
}

func agentTable() []Setting {
	return []Setting{
		row("keep_conversations", "true", "true or false", "Keep Cursor's state of conversations on disk for a day, so that they go on after a restart. false keeps it in memory.",
			func(s *Settings) *bool { return &s.Agent.KeepConversations }, boolean),
		row("system_in_front", "false", "true or false", "Put the system prompt in front of the user's text, too, for models that do not mind it otherwise.",
			func(s *Settings) *bool { return &s.Agent.SystemInFront }, boolean),
		row("native_tools", "true", "true or false", "Let the model read, write and run by Cursor's own kinds of work, as far as tools of the client can do them.",
			func(s *Settings) *bool { return &s.Agent.NativeTools }, boolean),
		row("limit_tokens", "false", "true or false", "End an answer at the client's max_tokens, as far as Cursor tells how much it puts out.",
			func(s *Settings) *bool { return &s.Agent.LimitTokens }, boolean),
		row("agent_max_runs", "24", "1 to 256", "How many answers of the agent back-end may be open at once, with those that wait for a tool. Nobody knows how Cursor takes more than 24.",
			func(s *Settings) *int { return &s.Agent.MaxRuns }, integer(1, 256)),
		row("agent_url", "", "https://NAME.cursor.sh", "The host that runs the models. Empty: the one that Cursor names for the account.",
			func(s *Settings) *string { return &s.Agent.URL }, text),
	}
}

func cliTable() []Setting {
	return []Setting{
		row("cli_max_runs", "3", "1 to 64", "How many cursor-agent processes may run at once; further requests wait.",
			func(s *Settings) *int { return &s.CLI.MaxRuns }, integer(1, 64)),
		row("cli_resume", "false", "true or false", "Let cursor-agent continue its own chat instead of sending the whole conversation again.",
			func(s *Settings) *bool { return &s.CLI.Resume }, boolean),
		row("cli_start_timeout", "60s", "duration such as 90s or 5m", "How long cursor-agent may take to its first line.",
			func(s *Settings) *time.Duration { return &s.CLI.StartTimeout }, duration),
		row("cli_idle_timeout", "2m", "duration such as 90s or 5m", "How long cursor-agent may be silent while no tool is at work.",
			func(s *Settings) *time.Duration { return &s.CLI.IdleTimeout }, duration),
		row("cli_tool_timeout", "10m", "duration such as 90s or 5m", "How long cursor-agent may be silent while one of its tools is at work.",
			func(s *Settings) *time.Duration { return &s.CLI.ToolTimeout }, duration),
		row("cli_run_timeout", "30m", "duration such as 90s or 5m", "How long one answer of cursor-agent may take in all.",
			func(s *Settings) *time.Duration { return &s.CLI.RunTimeout }, duration),
	}
}

// Default returns the settings of a fresh machine.
func Default() Settings {
	var s Settings
	for _, row := range Table() {
		if err := row.apply(&s, row.Default); err != nil {
			panic("config: default of " + row.Key + ": " + err.Error()) // a test applies every default
		}
	}
	return s
}

// Override sets one value from the command line. The error says what is wrong
// with the value and names no setting.
func (s *Settings) Override(key, value string) error {
	row, ok := find(key)
	if !ok {
		return fmt.Errorf("there is no setting %q", key)
	}
	return row.apply(s, value)
}

func find(key string) (Setting, bool) {
	table := Table()
	i := slices.IndexFunc(table, func(row Setting) bool { return row.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return table[i], true
}
