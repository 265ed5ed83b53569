package cursor

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cursortray/proxy/chat"
)

// Names that tools send, against the account in testdata.
func TestNamesOfOtherTools(t *testing.T) {
	c := fixture(t, CatalogConfig{
		Names: map[string]string{
			"fast-one": "composer-2.5-fast", "My-Big": "claude-opus-5-5@1m", "gpt-5.1-codex-max": "gpt-5.3-codex-xhigh",
			"dead": "nothing-there", "composer-2.5": "default", "gpt-4o": "GPT-5.4-mini",
		},
		Default: func() string { return "claude-sonnet-5" }, Small: "gpt-5.4-mini",
	})
	for _, x := range []struct{ name, want string }{
		// 1: the live list.
		{"claude-opus-5-5", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-opus-4-8", "claude-opus-4-8-thinking-high thinking=true,context=300k,effort=high"},
		{"claude-5.5-opus", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"cursor-grok-4.7", "grok-4.7-medium context=256k,effort=medium,fast=false"},
		{"composer-2.5", "composer-2.5 fast=false"}, // before the user's own map
		// 2: what tools put around a name.
		{"claude-sonnet-4-5-20250929", "claude-4.5-sonnet thinking=false"},
		{"claude-sonnet-4-5-20250929-v1", "claude-4.5-sonnet thinking=false"},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-4.5-sonnet thinking=false"},
		{"claude-sonnet-4-5@20250929", "claude-4.5-sonnet thinking=false"},
		{"anthropic/Claude-Opus-5-5", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"bedrock/us.anthropic.claude-opus-5-5-20260901-v1:0", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-opus-5-5[1m]", "claude-opus-5-5-medium MAX context=1m,effort=medium,fast=false"},
		{"claude-opus-5-5-20260901[1m]", "claude-opus-5-5-medium MAX context=1m,effort=medium,fast=false"},
		{"claude-opus-5-5-high@1M", "claude-opus-5-5-high MAX context=1m,effort=high,fast=false"},
		{"claude-opus-5-5-high@300k", "claude-opus-5-5-high context=300k,effort=high,fast=false"},
		{"claude-sonnet-4-5[1m]", "claude-4.5-sonnet thinking=false"}, // has no larger one
		{"gemini-3.1-pro-preview", "gemini-3.1-pro context=200k"},
		{"openai/gpt-5.6-sol", "gpt-5.6-sol-medium context=272k,reasoning=medium,fast=false"},
		// 3: the table.
		{"sonnet-4.5", "claude-4.5-sonnet thinking=false"},
		{"claude-opus-5.5", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"grok-4-7", "grok-4.7-medium context=256k,effort=medium,fast=false"},
		{"cursor-composer-2-5", "composer-2.5 fast=false"},
		{"auto-cost", "default"},
		// 4: suffixes, in any order.
		{"sonnet-4.5-thinking", "claude-4.5-sonnet-thinking thinking=true"},
		{"claude-4.8-opus-high-thinking", "claude-opus-4-8-thinking-high thinking=true,context=300k,effort=high"},
		{"claude-opus-4-8-thinking-extra-high", "claude-opus-4-8-thinking-xhigh thinking=true,context=300k,effort=xhigh"},
		{"grok-4.7-1m-xhigh", "grok-4.7-xhigh MAX context=500k,effort=xhigh,fast=false"},
		{"openai/gpt-5.6-sol-fast-high", "gpt-5.6-sol-high-fast context=272k,reasoning=high,fast=true"},
		{"gpt-5.4-mini-max", "gpt-5.4-mini-xhigh reasoning=xhigh"},
		// 5: the user's own map.
		{"fast-one", "composer-2.5-fast fast=true"},
		{"My-Big", "claude-opus-5-5-medium MAX context=1m,effort=medium,fast=false"},
		{"gpt-5.1-codex-max", "gpt-5.3-codex-xhigh reasoning=xhigh,fast=false"},
		{"openai/gpt-4o", "gpt-5.4-mini-medium reasoning=medium"},
		{"dead", ""},
		// 6: families.
		{"claude-opus-4-5-20251101", "claude-opus-4-8-thinking-high thinking=true,context=300k,effort=high"},
		{"claude-opus-4-7-thinking-low", "claude-opus-4-8-thinking-low thinking=true,context=300k,effort=low"},
		{"claude-opus-4-9", "claude-opus-5-thinking-high thinking=true,context=300k,effort=high"},
		{"claude-opus-4-1-20250805", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-opus-4-20250514", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-3-opus-20240229", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-opus-7", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"opus", "claude-opus-5-5-medium context=300k,effort=medium,fast=false"},
		{"claude-sonnet-4-20250514", "claude-4.5-sonnet thinking=false"},
		{"claude-3-7-sonnet-latest", "claude-4.5-sonnet thinking=false"},
		{"claude-sonnet-4-20250514[1m]", "claude-4.5-sonnet thinking=false"},
		{"claude-haiku-4-5-20251001", "claude-haiku-5-5-thinking-medium thinking=true,effort=medium"},
		{"claude-haiku-4-5", "claude-haiku-5-5-thinking-medium thinking=true,effort=medium"},
		{"claude-3-5-haiku-20241022", "claude-haiku-5-5-thinking-medium thinking=true,effort=medium"},
		{"claude-fable-5", "claude-fable-5-1-thinking-high thinking=true,context=300k,effort=high"},
		{"gpt-5.2", "gpt-5.4-medium context=272k,reasoning=medium,fast=false"},
		{"gpt-5-mini", "gpt-5.4-mini-medium reasoning=medium"},
		{"gemini-3-pro", "gemini-3.1-pro context=200k"},
		{"composer-2-fast", "composer-2.5-fast fast=true"},
		{"gpt-5", "claude-sonnet-5-thinking-high thinking=true,context=200k,effort=high"},
		{"gpt-5-codex", "claude-sonnet-5-thinking-high thinking=true,context=200k,effort=high"},
		{"gpt-6-sol", "claude-sonnet-5-thinking-high thinking=true,context=200k,effort=high"},
		// Auto.
		{"auto", "default"}, {"default", "default"}, {"", "default"}, {" Auto ", "default"},
		// 7: nothing. The table knows some of them, but as other models.
		{"gpt-5.1-codex", ""}, {"gpt-5.2-codex", ""}, {"gpt-5.2-codex-high", ""}, {"gpt-5.1-codex-mini", ""}, {"composer", ""},
		{"gpt-4.1", ""}, {"o3", ""}, {"gpt-5.4-nano", ""}, {"claude-mythos-1", ""}, {"internal-preview-9", ""}, {"cmdk-small", ""},
		{"-", ""}, {"/", ""}, {"high", ""}, {"-high-fast", ""}, {"claude-", ""}, {"@1m", ""}, {"gpt-5.6-sol-high-high", ""},
	} {
		if got := resolve(t, c, x.name, ""); got != x.want {
			t.Errorf("%q sends %q, want %q", x.name, got, x.want)
		}
	}
}

// Without settings, Cursor's automatic choice stands in.
func TestNamesWithoutSettings(t *testing.T) {
	c := mustParse(t, []byte(`{"models":[{"name":"default","idAliases":["auto"]},{"name":"gpt-5.4"}]}`), nil, nil, CatalogConfig{Small: "also gone"})
	for name, want := range map[string]string{
		"gpt-5": "default", "claude-haiku-4-5-20251001": "default", "claude-opus-5": "", "gpt-5.2": "gpt-5.4", "gpt-5.5": "",
	} {
		if got := resolve(t, c, name, ""); got != want {
			t.Errorf("%q sends %q, want %q", name, got, want)
		}
	}
}

func TestUnknownNameTellsTheNearest(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	for name, want := range map[string]string{
		"gpt-5.6-sool":            `there is no model "gpt-5.6-sool" in this Cursor account; the nearest are gpt-5.6-sol, `,
		"\x1b[31mred\n":           `there is no model "\x1b[31mred\n" in this Cursor account; `,
		strings.Repeat("é", 1000): `there is no model "` + strings.Repeat("é", 64) + `..." in`,
	} {
		_, err := c.Resolve(name, "")
		var e *chat.Error
		if !errors.As(err, &e) || e.Kind != chat.NotFound || !strings.HasPrefix(e.Message, want) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

var cliLine = regexp.MustCompile(`(?m)^(\S+) - `)

// Every name in the data files, in one golden file to read through: what it
// sends, or "none".
func TestGoldenNames(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	names := map[string]bool{}
	for _, name := range tableNames(t) {
		names[name] = true
	}
	a := loadAnswers(t)
	for _, m := range cliLine.FindAllStringSubmatch(a.CLI, -1) {
		names[m[1]] = true
		if s, err := c.Resolve(m[1], ""); err != nil || m[1] != "auto" && s.ID != m[1] {
			t.Errorf("%s of the CLI sends %q, %v", m[1], s.ID, err)
		}
	}
	rows, err := decodeAvailable(a.Available)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, name := range append([]string{row.Name}, row.Aliases...) {
			names[name] = true
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		got := resolve(t, c, name, "")
		if got == "" {
			got = "none"
		}
		fmt.Fprintf(&b, "%s -> %s\n", name, got)
	}
	checkGolden(t, "names.golden", b.String())
}

// FuzzResolve: no name crashes, and what is found is in the list.
func FuzzResolve(f *testing.F) {
	c := fixture(f, CatalogConfig{Names: map[string]string{"a": "gpt-5.4-high"}, Default: func() string { return "gpt-5.5" }, Small: "b"})
	ids := map[string]bool{}
	for _, m := range c.Models() {
		ids[m.ID] = true
	}
	for _, name := range []string{"", "a", "auto", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "x/gpt-5.6-sol-extra-high-fast[1m]", "claude-3-5-haiku-latest@1m", "-1m-high-"} {
		f.Add(name, "high")
	}
	f.Fuzz(func(t *testing.T, name, effort string) {
		s, err := c.Resolve(name, effort)
		if err != nil {
			if e := (*chat.Error)(nil); !errors.As(err, &e) || e.Kind != chat.NotFound || len(e.Message) > 1000 {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := c.Resolve(name, effort)
		if !ids[s.ID] || s.Model == nil || s.Window <= 0 || err != nil || shown(again) != shown(s) {
			t.Fatalf("%s, then %s, %v", shown(s), shown(again), err)
		}
		if s.Max != (s.Window > s.Model.Window || s.Model.MaxOnly) {
			t.Fatalf("%s with a window of %d, usual %d", shown(s), s.Window, s.Model.Window)
		}
	})
}
