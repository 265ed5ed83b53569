package cursor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// builtIn is the table that comes with the program.
func builtIn(t testing.TB) *Prices {
	t.Helper()
	p, err := ParsePrices(builtInText(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func builtInText(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("../../assets/prices.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// counts are those of a record whose input does not have the cache in it.
func counts(input, read, write, output int) chat.Usage {
	return chat.Usage{Input: input, CacheRead: read, CacheWrite: write, Output: output}
}

// TestWorkedExamples has 20 records of the kinds that Cursor's services and its
// CLI write, priced by hand.
func TestWorkedExamples(t *testing.T) {
	tests := []struct {
		n      int
		charge Charge
		split  chat.Usage // what the record comes to
		want   string     // dollars, "" if there is no price
	}{
		{1, Charge{Model: "claude-opus-5-5-medium", Usage: counts(9, 0, 27007, 44)}, counts(9, 0, 27007, 44), "$0.135951"},
		{2, Charge{Model: "gpt-5.6-terra-medium", Usage: SplitUsage(42563, 27392, 0, 1141, 801)},
			chat.Usage{Input: 15171, CacheRead: 27392, Output: 1141, Reasoning: 801}, "$0.0495124"},
		{3, Charge{Model: "claude-sonnet-5-thinking-high", Usage: SplitUsage(50000, 20000, 5000, 2000, 0)}, counts(25000, 20000, 5000, 2000), "$0.0865"},
		{4, Charge{Model: "gpt-5.5", Usage: SplitUsage(272000, 0, 0, 1000, 0)}, counts(272000, 0, 0, 1000), "$1.39"},
		{5, Charge{Model: "gpt-5.5", Usage: SplitUsage(272001, 0, 0, 1000, 0)}, counts(272001, 0, 0, 1000), "$2.75001"},
		{6, Charge{Model: "claude-sonnet-4-20250514", Usage: SplitUsage(250000, 180000, 40000, 3000, 0)}, counts(30000, 180000, 40000, 3000), "$0.6555"},
		{7, Charge{Model: "composer-2.5", Usage: counts(12000, 60000, 0, 1500)}, counts(12000, 60000, 0, 1500), "$0.02175"},
		{8, Charge{Model: "composer-2.5-fast", Usage: counts(12000, 60000, 0, 1500)}, counts(12000, 60000, 0, 1500), "$0.0885"},
		{9, Charge{Model: "grok-4.7-high-fast", Usage: SplitUsage(300000, 250000, 0, 4000, 0)}, counts(50000, 250000, 0, 4000), "$0.747"},
		{10, Charge{Model: "auto", Usage: counts(8000, 30000, 2000, 1200)}, counts(8000, 30000, 2000, 1200), "$0.0272"},
		{11, Charge{Model: "Opus 5 (Auto Balanced)", Usage: counts(1000, 40000, 3000, 500)}, counts(1000, 40000, 3000, 500), "$0.05625"},
		{12, Charge{Model: "claude-opus-5-high", Usage: counts(10000, 80000, 9000, 1000), Team: true}, counts(10000, 80000, 9000, 1000), "$0.19625"},
		{13, Charge{Model: "claude-sonnet-4-6", Usage: counts(20000, 100000, 0, 1000), LegacyMax: true}, counts(20000, 100000, 0, 1000), "$0.126"},
		{14, Charge{Model: "gemini-3.1-pro", Usage: counts(5000, 0, 15000, 700)}, counts(5000, 0, 15000, 700), "$0.0484"},
		{15, Charge{Model: "claude-opus-4-8", Usage: SplitUsage(1000, 1500, 200, 10, 0)}, counts(0, 1000, 0, 10), "$0.00075"},
		{16, Charge{Model: "claude-haiku-5-5-thinking-low", Usage: SplitUsage(100001, 90000, 0, 1000, 0)}, counts(10001, 90000, 0, 1000), "$0.0120005"},
		{17, Charge{Model: "claude-fable-5-1-max", Usage: counts(3000, 197000, 0, 2500)}, counts(3000, 197000, 0, 2500), "$0.20425"},
		{18, Charge{Model: "gpt-5.6-luna-none", Usage: SplitUsage(1234, 0, 0, 56, 0)}, counts(1234, 0, 0, 56), "$0.000314"},
		{19, Charge{Model: "claude-opus-5-5-high-fast", Usage: counts(2000, 10000, 4000, 1000)}, counts(2000, 10000, 4000, 1000), "$0.10"},
		{20, Charge{Model: "gpt-6-sol", Usage: SplitUsage(1000, 0, 0, 1000, 0)}, counts(1000, 0, 0, 1000), ""},
	}
	p := builtIn(t)
	for _, tt := range tests {
		if tt.charge.Usage != tt.split {
			t.Errorf("%d: split into %+v, want %+v", tt.n, tt.charge.Usage, tt.split)
		}
		cost, ok := p.Cost(tt.charge)
		if got := cost.Money.String(); ok != (tt.want != "") || ok && got != tt.want || cost.Rough {
			t.Errorf("%d %s: %s, %v, want %s", tt.n, tt.charge.Model, got, ok, tt.want)
		}
	}
}

func TestCostRules(t *testing.T) {
	p := builtIn(t)
	long := counts(300_000, 0, 0, 0)
	tests := []struct {
		name   string
		charge Charge
		want   string // "" is no price
		rough  bool
	}{
		{"fast by the variant, not by the name", Charge{Model: "composer-2.5", Fast: true, Usage: counts(1_000_000, 0, 0, 0)}, "$3.00", false},
		{"fast without a price is no price", Charge{Model: "claude-sonnet-5-fast", Usage: long}, "", false},
		{"known, but unpriced", Charge{Model: "grok-code-fast-1", Usage: long}, "", false},
		{"unknown", Charge{Model: "llama-7", Usage: long}, "", false},
		{"no name", Charge{Usage: long}, "", false},
		{"costs as much as another", Charge{Model: "gpt-5.1-codex-max", Usage: counts(1_000_000, 0, 0, 0)}, "$1.25", false},
		{"several calls, prompts not known", Charge{Model: "gpt-5.5", Summed: true, Usage: long}, "$1.50", true},
		{"several calls, all short anyway", Charge{Model: "gpt-5.5", Summed: true, Usage: counts(1000, 0, 0, 0)}, "$0.005", false},
		{"several calls, none long", Charge{Model: "gpt-5.5", Summed: true, Prompt: 150_000, Usage: long}, "$1.50", false},
		{"several calls, a long one", Charge{Model: "gpt-5.5", Summed: true, Prompt: 272_001, Usage: long}, "$3.00", false},
		{"no fee for Auto", Charge{Model: "auto", Team: true, Usage: counts(1_000_000, 0, 0, 0)}, "$1.25", false},
		{"no fee for a model that Auto chose", Charge{Model: "Opus 5 (Auto Balanced)", Team: true, Usage: counts(100_000, 0, 0, 0)}, "$0.50", false},
		{"provider, date and window around the name", Charge{Model: "anthropic/claude-opus-4-5-20251101[1m]", Usage: counts(100_000, 0, 0, 0)}, "$0.50", false},
		{"name with a label's spaces", Charge{Model: "GPT-5.6 Sol", Usage: counts(100_000, 0, 0, 0)}, "$0.40", false},
		{"nothing used", Charge{Model: "auto"}, "$0.00", false},
		{"counts below zero", Charge{Model: "auto", Usage: counts(-5, -5, -5, -5)}, "$0.00", false},
		{"out of reach", Charge{Model: "auto", Usage: counts(1<<62, 1<<62, 1<<62, 1<<62)}, "", false},
	}
	for _, tt := range tests {
		cost, ok := p.Cost(tt.charge)
		if got := cost.Money.String(); ok != (tt.want != "") || ok && got != tt.want || cost.Rough != tt.rough {
			t.Errorf("%s: %s, %v, rough %v, want %s, %v", tt.name, got, ok, cost.Rough, tt.want, tt.rough)
		}
	}
}

// FuzzCost: a cost is never below zero and never falls when there is more.
func FuzzCost(f *testing.F) {
	p := builtIn(f)
	f.Add(byte(3), 100, 2000, 30, 4, 50, false, true)
	f.Add(byte(20), 272_000, 0, 0, 1, 1, true, false)
	f.Fuzz(func(t *testing.T, model byte, input, read, write, output, more int, fast, team bool) {
		row := p.rows[int(model)%len(p.rows)]
		charge := Charge{Model: row.figures.ID, Fast: fast, Team: team, Usage: counts(input, read, write, output)}
		before, ok := p.Cost(charge)
		if before.Money.Pico() < 0 {
			t.Fatalf("%+v costs %s", charge, before.Money)
		}
		if !ok {
			return
		}
		add := func(n *int) {
			if *n >= 0 && more > 0 && *n+more > *n {
				*n += more
			}
		}
		for _, n := range []*int{&charge.Usage.Input, &charge.Usage.CacheRead, &charge.Usage.CacheWrite, &charge.Usage.Output} {
			add(n)
			after, ok := p.Cost(charge)
			if !ok {
				return // out of reach
			}
			if after.Money.Compare(before.Money) < 0 {
				t.Fatalf("%+v costs %s, less than %s", charge, after.Money, before.Money)
			}
			before = after
		}
	})
}

func FuzzSplitUsage(f *testing.F) {
	f.Add(1000, 1500, 200, 10, 20)
	f.Fuzz(func(t *testing.T, input, read, write, output, reasoning int) {
		u := SplitUsage(input, read, write, output, reasoning)
		if u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || u.Reasoning < 0 || u.Reasoning > u.Output ||
			u.Input+u.CacheRead+u.CacheWrite != max(0, input) {
			t.Errorf("%+v", u)
		}
	})
}

// TestPricesForModelLists is the table as the list of models reads it.
func TestPricesForModelLists(t *testing.T) {
	p := builtIn(t)
	if p.AsOf() != "2026-10-10" {
		t.Errorf("as of %s", p.AsOf())
	}
	tests := []struct {
		name    string
		fast    bool
		figures Figures
		price   chat.Price // zero is none
	}{
		{"claude-opus-5.5", false, Figures{ID: "claude-opus-5-5", Window: 300_000, MaxWindow: 1_000_000, Images: true},
			chat.Price{Input: "0.000004", Output: "0.00002", CacheRead: "0.0000002", CacheWrite: "0.000005"}},
		{"auto", false, Figures{ID: "default", Window: 200_000, CursorPool: true},
			chat.Price{Input: "0.00000125", Output: "0.000006", CacheRead: "0.00000025", CacheWrite: "0.00000125"}},
		{"grok-4.7", true, Figures{ID: "grok-4.7", Window: 256_000, MaxWindow: 500_000, CursorPool: true},
			chat.Price{Input: "0.000004", Output: "0.000012", CacheRead: "0.000001"}},
		{"gpt-5.1-codex", false, Figures{ID: "gpt-5.1", PriceOnly: true, Window: 272_000, Images: true},
			chat.Price{Input: "0.00000125", Output: "0.00001", CacheRead: "0.000000125"}},
		{"gemini-3-pro", false, Figures{ID: "gemini-3-pro", Images: true}, chat.Price{}},
		{"kimi-k3", true, Figures{ID: "kimi-k3", Window: 200_000, MaxWindow: 1_000_000, Images: true}, chat.Price{}},
		{"llama-7", false, Figures{}, chat.Price{}},
	}
	for _, tt := range tests {
		figures, _ := p.Figures(tt.name)
		if figures != tt.figures {
			t.Errorf("%s: figures %+v, want %+v", tt.name, figures, tt.figures)
		}
		price, ok := p.Price(figures.ID, tt.fast)
		if price != tt.price || ok != (tt.price != chat.Price{}) {
			t.Errorf("%s: price %+v, want %+v", tt.name, price, tt.price)
		}
	}
}

const smallTable = `{"format":1,"as_of":"2026-12-01","team_fee":"0.5","legacy_max_mode_factor":"1.2","models":[
	{"id":"auto","pool":"cursor","rates":[{"input":2,"output":"7.5","cache_read":null}]}]}`

func TestNewerPriceFile(t *testing.T) {
	tests := []struct {
		name, file string
		problem    string // part of the error; "" means that the file is used
	}{
		{"newer", smallTable, ""},
		{"fields for people", strings.Replace(smallTable, `"format"`, `"note":"mine","format"`, 1), ""},
		{"as old", strings.Replace(smallTable, "2026-12-01", "2026-10-10", 1), "no newer"},
		{"older", strings.Replace(smallTable, "2026-12-01", "2025-01-01", 1), "no newer"},
		{"no date", strings.Replace(smallTable, "2026-12-01", "soon", 1), "no date"},
		{"empty", "", "not the JSON"},
		{"cut", smallTable[:100], "not the JSON"},
		{"another format", strings.Replace(smallTable, `"format":1`, `"format":2`, 1), "format is 2"},
		{"free of charge", strings.Replace(smallTable, `"input":2`, `"input":0`, 1), "input"},
		{"no input price", strings.Replace(smallTable, `"input":2,`, ``, 1), "input"},
		{"price below zero", strings.Replace(smallTable, `"7.5"`, `"-7.5"`, 1), "output"},
		{"five decimals", strings.Replace(smallTable, `"7.5"`, `"7.50001"`, 1), "output"},
		{"no models", strings.Replace(smallTable, smallTable[strings.Index(smallTable, "["):], "[]}", 1), "no models"},
		{"name twice", strings.Replace(smallTable, `"pool"`, `"names":["auto"],"pool"`, 1), "two models"},
		{"no name", strings.Replace(smallTable, `"id":"auto"`, `"id":""`, 1), "no id"},
		{"capital letters", strings.Replace(smallTable, `"id":"auto"`, `"id":"Auto"`, 1), "no id"},
		{"unknown pool", strings.Replace(smallTable, `"pool":"cursor"`, `"pool":"sea"`, 1), "pool"},
		{"steps that do not grow", strings.Replace(smallTable, `{"input":2`, `{"input":2,"output":3},{"input":2`, 1), "above"},
		{"too large", smallTable + strings.Repeat(" ", maxPrices), "too large"},
	}
	base := builtIn(t)
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "prices.json")
		if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := base.OrFile(path)
		if tt.problem == "" {
			if err != nil || p.AsOf() != "2026-12-01" {
				t.Errorf("%s: as of %s, %v", tt.name, p.AsOf(), err)
			}
			continue
		}
		if p != base || err == nil || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.problem)
		}
	}
	if p, err := base.OrFile(filepath.Join(t.TempDir(), "prices.json")); p != base || err != nil {
		t.Errorf("no file: %v", err)
	}
	if p, err := base.OrFile(t.TempDir()); p != base || err == nil {
		t.Errorf("a folder: %v", err)
	}
}

func FuzzParsePrices(f *testing.F) {
	f.Add([]byte(smallTable))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePrices(text)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v, %v", p, err)
		}
		if err != nil {
			return
		}
		for name := range p.names {
			figures, _ := p.Figures(name)
			if price, ok := p.Price(figures.ID, false); ok && (price.Input == "0" || price.Output == "0" || price.Input == "") {
				t.Errorf("%s: %+v", name, price)
			}
			p.Cost(Charge{Model: name, Usage: counts(1, 2, 3, 4)})
		}
	})
}
