package config

import (
	"errors"
	"fmt"
	"strings"

	"cursortray/proxy/money"
)

// Spend are the settings of the spend guard and of the ledger.
type Spend struct {
	All SpendLimits // for all editors together
	// Editors are limits of single editors, as the file spells them.
	Editors []string

	LedgerDays      int // how long requests are kept in the ledger; 0 is no ledger
	LedgerMegabytes int // how large it may be
}

// SpendLimits are bounds; zero is none.
type SpendLimits struct {
	RunsHour, RunsDay   int
	MoneyHour, MoneyDay money.Amount
}

// EveryEditor is the name, in what EditorLimits returns, of the limits of each
// editor that has none by its own name. MainKey is that of the main key.
const (
	EveryEditor = "*"
	MainKey     = "main"
)

// EditorLimits returns the limits of single editors by their ids.
func (s Spend) EditorLimits() map[string]SpendLimits {
	limits := map[string]SpendLimits{}
	for _, item := range s.Editors {
		editor, set, err := editorLimit(item)
		if err == nil { // they were checked when they were read
			l := limits[editor]
			set(&l)
			limits[editor] = l
		}
	}
	return limits
}

const maxRuns = 1_000_000

func spendTable() []Setting {
	return []Setting{
		row("spend_runs_hour", "600", "0 to 1000000", "How many requests for a model are let through in an hour, for all editors together. Further ones get status 429. 0: no limit.",
			func(s *Settings) *int { return &s.Spend.All.RunsHour }, integer(0, maxRuns)),
		row("spend_runs_day", "0", "0 to 1000000", "The same for 24 hours.",
			func(s *Settings) *int { return &s.Spend.All.RunsDay }, integer(0, maxRuns)),
		row("spend_money_hour", "0", "dollars such as 2.50", "How much requests may cost in an hour, by the table of prices, for all editors together. 0: no limit.",
			func(s *Settings) *money.Amount { return &s.Spend.All.MoneyHour }, dollars),
		row("spend_money_day", "0", "dollars such as 20", "The same for 24 hours.",
			func(s *Settings) *money.Amount { return &s.Spend.All.MoneyDay }, dollars),
		row("spend_editors", "", "EDITOR:LIMIT=VALUE, separated by commas", "Limits of single editors, for example codex:runs_hour=100,codex:money_day=5. LIMIT is runs_hour, runs_day, money_hour or money_day; EDITOR is an id of `cursortray setup --list`, main for the main key, or * for each that is not named.",
			func(s *Settings) *[]string { return &s.Spend.Editors }, editorLimits),
		row("ledger_days", "400", "0 to 3650", "For how many days it is kept what each request used (never what was said). 0: nothing is kept.",
			func(s *Settings) *int { return &s.Spend.LedgerDays }, integer(0, 3650)),
		row("ledger_megabytes", "64", "1 to 4096", "How large that file may be; beyond it the oldest requests go.",
			func(s *Settings) *int { return &s.Spend.LedgerMegabytes }, integer(1, 4096)),
	}
}

// dollars reads an amount; TOML may give it as a number.
func dollars(value any) (money.Amount, error) {
	wrong := errors.New("must be an amount of dollars such as 2.50")
	text, isText := value.(string)
	if !isText {
		switch v := value.(type) {
		case int64, int, float64:
			text = fmt.Sprint(v)
		case money.Amount:
			return v, nil
		default:
			return money.Amount{}, wrong
		}
	}
	amount, err := money.Parse(strings.TrimPrefix(strings.TrimSpace(text), "$"))
	if err != nil {
		return money.Amount{}, wrong
	}
	return amount, nil
}

func editorLimits(value any) ([]string, error) {
	items, err := list(value)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if _, _, err := editorLimit(item); err != nil {
			return nil, err
		}
	}
	return items, nil
}

var errEditorLimit = errors.New("must be limits such as codex:runs_hour=100 or *:money_day=5")

// editorLimit reads EDITOR:LIMIT=VALUE.
func editorLimit(item string) (editor string, set func(*SpendLimits), err error) {
	editor, rest, _ := strings.Cut(item, ":")
	limit, value, found := strings.Cut(rest, "=")
	editor, limit = strings.TrimSpace(editor), strings.TrimSpace(limit)
	if !found || editor != EveryEditor && !validEditor(editor) {
		return "", nil, errEditorLimit
	}
	switch limit {
	case "runs_hour", "runs_day":
		n, err := integer(0, maxRuns)(value)
		if err != nil {
			return "", nil, err
		}
		return editor, func(l *SpendLimits) {
			if limit == "runs_hour" {
				l.RunsHour = n
			} else {
				l.RunsDay = n
			}
		}, nil
	case "money_hour", "money_day":
		amount, err := dollars(value)
		if err != nil {
			return "", nil, err
		}
		return editor, func(l *SpendLimits) {
			if limit == "money_hour" {
				l.MoneyHour = amount
			} else {
				l.MoneyDay = amount
			}
		}, nil
	}
	return "", nil, errEditorLimit
}

func validEditor(id string) bool {
	const limit = 64
	return id != "" && len(id) <= limit && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
