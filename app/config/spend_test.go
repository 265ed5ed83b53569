package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/money"
)

func TestSpendSettings(t *testing.T) {
	usd := func(text string) money.Amount {
		amount, err := money.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return amount
	}
	for _, c := range []struct {
		name, key string
		value     any
		want      Spend // besides the defaults
		limits    map[string]SpendLimits
	}{
		{"defaults", "", nil, Spend{}, nil},
		{"more runs", "spend_runs_hour", int64(1000), Spend{All: SpendLimits{RunsHour: 1000}}, nil},
		{"money as text", "spend_money_day", " $2.50 ", Spend{All: SpendLimits{MoneyDay: usd("2.5")}}, nil},
		{"money as a number", "spend_money_hour", 0.75, Spend{All: SpendLimits{MoneyHour: usd("0.75")}}, nil},
		{"whole dollars", "spend_money_hour", int64(20), Spend{All: SpendLimits{MoneyHour: usd("20")}}, nil},
		{"editors", "spend_editors", "codex:runs_hour=100, codex:money_day=5,*:runs_day=7,main : money_hour = 0.5",
			Spend{Editors: []string{"codex:runs_hour=100", "codex:money_day=5", "*:runs_day=7", "main : money_hour = 0.5"}},
			map[string]SpendLimits{
				"codex": {RunsHour: 100, MoneyDay: usd("5")}, "*": {RunsDay: 7}, "main": {MoneyHour: usd("0.5")},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Default()
			if c.key != "" {
				row, _ := find(c.key)
				if err := row.apply(&s, c.value); err != nil {
					t.Fatal(err)
				}
			}
			want := c.want
			want.LedgerDays, want.LedgerMegabytes = 400, 64
			if want.All.RunsHour == 0 {
				want.All.RunsHour = 600
			}
			if diff := cmp.Diff(want, s.Spend); diff != "" {
				t.Error(diff)
			}
			if c.limits == nil {
				c.limits = map[string]SpendLimits{}
			}
			if diff := cmp.Diff(c.limits, s.Spend.EditorLimits()); diff != "" {
				t.Error(diff)
			}
		})
	}
	for key, values := range map[string][]any{
		"spend_runs_hour":  {"-1", "many", 1.5, "1000001"},
		"spend_money_hour": {"-1", "much", true, "1e3", 1e300},
		"spend_editors":    {"codex", "codex:runs_hour", "codex:colour=5", "Codex:runs_hour=5", ":runs_hour=5", "codex:runs_hour=x", "codex:money_day=x", 5},
		"ledger_days":      {"-1", "4000"},
	} {
		for _, value := range values {
			s := Default()
			if row, _ := find(key); row.apply(&s, value) == nil {
				t.Errorf("%s takes %v", key, value)
			}
		}
	}
}

func FuzzEditorLimit(f *testing.F) {
	f.Add("codex:runs_hour=100")
	f.Add("*:money_day=$5.5")
	f.Add("a:b=c:d")
	f.Fuzz(func(t *testing.T, item string) {
		items, err := editorLimits(item)
		if err != nil {
			return
		}
		if n := len(Spend{Editors: items}.EditorLimits()); n > len(items) || n == 0 && len(items) > 0 {
			t.Errorf("%q gave %d limits", items, n)
		}
	})
}
