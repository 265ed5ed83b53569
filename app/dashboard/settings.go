package dashboard

import (
	"slices"
	"strings"
)

func settingsPage() *page {
	return &page{
		name: "settings", title: "Settings",
		parts: []string{"settings.state", "settings.form"},
		view:  (*Dashboard).settingsOf,
	}
}

// Settings is the settings file, with the environment that wins over it.
type Settings interface {
	// List reads the file anew.
	List() []Setting
	// Set changes one setting and nothing else in the file. A value that makes
	// no sense is refused.
	Set(key, value string) error
	Path() string
}

// Setting is one row of the table of settings.
type Setting struct {
	Key, Doc string
	Values   string   // what it takes, in words
	Choices  []string // all values that it takes; nil: there are others
	Value    string   // what the file and the environment say; never that of a Secret
	Default  string
	Secret   bool
	Has      bool   // of a Secret: it has a value
	Env      string // the variable that sets it, "" when none does
	Pending  bool   // the running program still uses another value
}

// settingsGroups orders the settings for people; what is not named here comes
// in the last group.
var settingsGroups = []struct {
	title, text string
	keys        []string
}{
	{"General", "", []string{"backend", "default_model", "start_proxy", "notifications", "addr", "log_level"}},
	{"Spend limits and ledger", "The ledger says what each request used, and never what was said.", []string{"spend_runs_hour", "spend_runs_day", "spend_money_hour", "spend_money_day", "spend_editors", "ledger_days", "ledger_megabytes"}},
	{"Privacy and secrets", "", []string{"token_store", "telemetry", "keep_conversations", "api_key"}},
	{"Who may call the port", "", []string{"allow_remote", "allowed_hosts", "allowed_origins"}},
	{"Cursor's protocol", "Of the back-end “agent”.", []string{"native_tools", "system_in_front", "limit_tokens", "agent_max_runs", "agent_url", "client_version"}},
	{"Cursor's command line", "Of the back-end “cli”.", []string{"cursor_agent", "cli_max_runs", "cli_resume", "cli_start_timeout", "cli_idle_timeout", "cli_tool_timeout", "cli_run_timeout"}},
}

type settingsView struct {
	Known   bool
	Path    string
	Pending []string
	Groups  []settingsGroup
}

type settingsGroup struct {
	Title, Text string
	Rows        []settingRow
}

type settingRow struct {
	Setting
	Kind string // switch, choice, kinds or text
}

// Notification is a kind of notifications, and whether it is shown.
type notification struct {
	Name, Title string
	On          bool
}

// Notifications are the kinds that there are, in words.
func (r settingRow) Notifications() []notification {
	chosen := strings.FieldsFunc(r.Value, func(c rune) bool { return c == ',' || c == ' ' })
	kinds := []notification{
		{Name: "login", Title: "Somebody has to log in"}, {Name: "signed-in", Title: "A login is done"},
		{Name: "port", Title: "The port is busy"}, {Name: "proxy", Title: "The proxy broke"},
		{Name: "plan", Title: "The plan is used up"}, {Name: "limit", Title: "A limit is reached"},
		{Name: "tray", Title: "Nothing shows the icon"},
	}
	for i := range kinds {
		kinds[i].On = slices.Contains(chosen, kinds[i].Name) || slices.Contains(chosen, "all")
	}
	return kinds
}

func (d *Dashboard) settingsOf(*visit) any {
	s := settingsView{Known: d.cfg.Settings != nil}
	if !s.Known {
		return s
	}
	s.Path = d.cfg.Settings.Path()
	rest := map[string]settingRow{}
	var order []string
	for _, row := range d.cfg.Settings.List() {
		rest[row.Key] = settingRow{row, kindOfSetting(row)}
		order = append(order, row.Key)
		if row.Pending {
			s.Pending = append(s.Pending, row.Key)
		}
	}
	for _, g := range settingsGroups {
		group := settingsGroup{Title: g.title, Text: g.text}
		for _, key := range g.keys {
			if row, ok := rest[key]; ok {
				group.Rows = append(group.Rows, row)
				delete(rest, key)
			}
		}
		s.add(group)
	}
	others := settingsGroup{Title: "More"}
	for _, key := range order {
		if row, ok := rest[key]; ok {
			others.Rows = append(others.Rows, row)
		}
	}
	s.add(others)
	return s
}

func (s *settingsView) add(g settingsGroup) {
	if len(g.Rows) > 0 {
		s.Groups = append(s.Groups, g)
	}
}

func kindOfSetting(s Setting) string {
	switch {
	case s.Key == "notifications":
		return "kinds"
	case len(s.Choices) == 2 && s.Choices[0] == "true" && s.Choices[1] == "false":
		return "switch"
	case len(s.Choices) > 0:
		return "choice"
	}
	return "text"
}
