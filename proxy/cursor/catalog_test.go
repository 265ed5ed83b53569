package cursor

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cursortray/proxy/chat"
)

// The whole list, as clients and the menu see it.
func TestGoldenModelList(t *testing.T) {
	var b strings.Builder
	for _, m := range fixture(t, CatalogConfig{}).Models() {
		fmt.Fprintf(&b, "%s | %s | %d", m.ID, m.Name, m.ContextWindow)
		if m.MaxContextWindow > 0 {
			fmt.Fprintf(&b, " / %d", m.MaxContextWindow)
		}
		if m.Price != nil {
			fmt.Fprintf(&b, " | %s %s", m.Price.Input, m.Price.Output)
		}
		for _, flag := range []struct {
			name string
			on   bool
		}{{"images", m.Images}, {"reasoning", m.Reasoning}, {"default", m.Default}} {
			if flag.on {
				b.WriteString(" | " + flag.name)
			}
		}
		if m.Group != m.ID {
			b.WriteString(" | of " + m.Group)
		}
		if len(m.Aliases) > 0 {
			b.WriteString(" | also " + strings.Join(m.Aliases, " "))
		}
		b.WriteString("\n")
	}
	checkGolden(t, "list.golden", b.String())
}

// What is sent for each listed id.
func TestGoldenSelections(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	var b strings.Builder
	for _, m := range c.Models() {
		s, err := c.Resolve(m.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s -> %s\n", m.ID, shown(s))
	}
	checkGolden(t, "selections.golden", b.String())
}

// entryOf returns the one entry of a list with one model.
func entryOf(t *testing.T, model string, cfg CatalogConfig) *Entry {
	t.Helper()
	c := mustParse(t, []byte(`{"models":[`+model+`]}`), nil, nil, cfg)
	return c.Entries()[0]
}

func resolve(t *testing.T, c *Catalog, name, effort string) string {
	t.Helper()
	s, err := c.Resolve(name, effort)
	if err != nil {
		if e := (*chat.Error)(nil); !errors.As(err, &e) || e.Kind != chat.NotFound {
			t.Fatalf("%q: %v", name, err)
		}
		return ""
	}
	return shown(s)
}

// MU-2: whatever an account has, each of its ids is called as the list has it.
func TestMU2_EveryUsableIDIsSentAsItIs(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	usable, err := decodeUsable(loadAnswers(t).Usable)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range c.Models() {
		if listed[m.ID] {
			t.Errorf("%s is listed twice", m.ID)
		}
		listed[m.ID] = true
	}
	for _, row := range usable {
		s, err := c.Resolve(row.ID, "")
		if err != nil || s.ID != row.ID || !listed[row.ID] {
			t.Errorf("%s: sends %q, %v; listed %v", row.ID, s.ID, err, listed[row.ID])
		}
		// An id with an effort in it stands against the effort of the request.
		if again, _ := c.Resolve(row.ID, "low"); namesEffort(row.ID) && shown(again) != shown(s) {
			t.Errorf("%s with effort low sends %s, not %s", row.ID, shown(again), shown(s))
		}
	}
}

// MU-2: a missing "fast" means fast at the server, for money.
func TestMU2_FastIsOffUnlessAskedFor(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	for _, m := range c.Models() {
		s, err := c.Resolve(m.ID, "high")
		if err != nil {
			t.Fatal(err)
		}
		want := strings.HasSuffix(m.ID, "-fast")
		if s.Fast != want {
			t.Errorf("%s: fast is %v", m.ID, s.Fast)
		}
		if s.Model.has("fast") && !slices.Contains(s.Parameters, Parameter{"fast", onOff(want)}) {
			t.Errorf("%s sends %v", m.ID, s.Parameters)
		}
	}
	// Variants that do not name the setting, or none at all.
	for _, variants := range []string{``, `,"variants":[{"legacySlug":"m-high","parameterValues":[{"id":"effort","value":"high"}]}]`} {
		e := entryOf(t, `{"name":"m","parameterDefinitions":[
			{"id":"effort","parameterType":{"enumParameter":{"values":[{"value":"low"},{"value":"high"}]}}},
			{"id":"fast","parameterType":{"booleanParameter":{}}}]`+variants+`}`, CatalogConfig{})
		if s := e.pick(wish{}); !slices.Contains(s.Parameters, Parameter{"fast", "false"}) {
			t.Errorf("sends %v", s.Parameters)
		}
		if s := e.pick(wish{fast: On}); !slices.Contains(s.Parameters, Parameter{"fast", "true"}) || !s.Fast {
			t.Errorf("asked for fast, sends %v", s.Parameters)
		}
	}
}

func TestModelsThatAreHidden(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	for _, m := range c.Models() {
		for _, hidden := range []string{"internal-preview-9", "cmdk-small", "claude-haiku-4-5", "claude-4.5-haiku"} {
			if strings.HasPrefix(m.ID, hidden) {
				t.Errorf("%s is listed", m.ID)
			}
		}
	}
	if got := resolve(t, c, "max-only-1", ""); got != "max-only-1 MAX" {
		t.Errorf("a model with Max Mode only sends %q", got)
	}
	if got := resolve(t, c, "my-own-model", ""); got != "my-own-model" {
		t.Errorf("the user's own model sends %q", got)
	}
}

// A plan without the top levels, and a model that the usable list does not
// mention at all.
func TestUsableListDropsVariants(t *testing.T) {
	model := func(name string) string {
		var variants []string
		for _, effort := range []string{"low", "medium", "high"} {
			variants = append(variants, fmt.Sprintf(
				`{"legacySlug":"%s-%s","isDefaultNonMaxConfig":%v,"parameterValues":[{"id":"effort","value":"%[2]s"}]}`, name, effort, effort == "high"))
		}
		return fmt.Sprintf(`{"name":%q,"variants":[%s]}`, name, strings.Join(variants, ","))
	}
	c := mustParse(t, []byte(`{"models":[`+model("a")+`,`+model("b")+`]}`),
		[]byte(`{"models":[{"modelId":"a-low"},{"modelId":"a-medium"},{"modelId":"c-low"},{"modelId":"c-low-fast"}]}`), nil, CatalogConfig{})
	for name, want := range map[string]string{
		"a": "a-medium effort=medium", "a-high": "a-medium effort=medium", "b": "b-high effort=high", "b-low": "b-low effort=low",
		// Only the usable list has c, so only its ids say what it can do.
		"c": "c-low", "c-low-fast": "c-low-fast", "c-high": "c-low",
	} {
		if got := resolve(t, c, name, ""); got != want {
			t.Errorf("%s sends %q, want %q", name, got, want)
		}
	}
	for _, m := range c.Models() {
		if m.ID == "a-high" {
			t.Error("a-high is listed")
		}
	}
}

// Without AvailableModels the usable list alone makes a catalogue: ids are
// sent as they are, without parameters.
func TestUsableListAlone(t *testing.T) {
	c := mustParse(t, []byte("<html>"), loadAnswers(t).Usable, nil, CatalogConfig{})
	for name, want := range map[string]string{
		"claude-opus-5-5": "claude-opus-5-5-medium", "claude-opus-5": "claude-opus-5-thinking-high", "gpt-5.6-sol": "gpt-5.6-sol-medium",
		"claude-sonnet-4-5": "claude-4.5-sonnet", "claude-4.5-sonnet-thinking": "claude-4.5-sonnet-thinking",
		"composer-2.5": "composer-2.5", "composer-2.5-fast": "composer-2.5-fast", "grok-4.6": "cursor-grok-4.6-high",
		"gpt-5.3-codex": "gpt-5.3-codex", "auto": "default", "": "default",
	} {
		if got := resolve(t, c, name, ""); got != want {
			t.Errorf("%s sends %q, want %q", name, got, want)
		}
	}
	if got := resolve(t, c, "claude-opus-5", "none"); got != "claude-opus-5-high" {
		t.Errorf("without thinking, claude-opus-5 sends %q", got)
	}
	if got := resolve(t, c, "gpt-5.5", "max"); got != "gpt-5.5-extra-high" {
		t.Errorf("gpt-5.5 at most sends %q", got)
	}
	if got := len(c.Entries()); got != 26 {
		t.Errorf("%d models", got)
	}
}

func TestWindows(t *testing.T) {
	table := CatalogConfig{Prices: windowTable{}}
	variant := `{"isDefaultNonMaxConfig":true,"parameterValues":[{"id":"context","value":"272k"}]}`
	most := `{"isDefaultMaxConfig":true,"isMaxMode":true,"parameterValues":[{"id":"context","value":"1m"}]}`
	tooltip := `"tooltipData":{"markdownContent":"**M** is fast\n\n**300k** context window, 1M context window in Max Mode"}`
	for name, c := range map[string]struct {
		model        string
		normal, most int
	}{
		"default variants first":      {`"contextTokenLimit":1,"contextTokenLimitForMaxMode":2,"variants":[` + variant + `,` + most + `]`, 272_000, 1_000_000},
		"then the limits":             {`"contextTokenLimit":"250000","contextTokenLimitForMaxMode":500000.0,` + tooltip, 250_000, 500_000},
		"then the tooltip":            {tooltip, 300_000, 700_000},
		"then the table":              {`"supportsMaxMode":true`, 123_000, 700_000},
		"no Max Mode, says the list":  {`"supportsMaxMode":false`, 123_000, 0},
		"Max Mode that is no larger":  {`"contextTokenLimit":900000,"contextTokenLimitForMaxMode":900000`, 900_000, 0},
		"nonsense is like nothing":    {`"contextTokenLimit":-5,"contextTokenLimitForMaxMode":"NaN","tooltipData":[]`, 123_000, 700_000},
		"a window of another variant": {`"variants":[{"parameterValues":[{"id":"context","value":"1m"}]},` + variant + `]`, 272_000, 700_000},
	} {
		e := entryOf(t, `{"name":"m",`+c.model+`}`, table)
		if e.Window != c.normal || e.MaxWindow != c.most {
			t.Errorf("%s: %d and %d, want %d and %d", name, e.Window, e.MaxWindow, c.normal, c.most)
		}
	}
	if e := entryOf(t, `{"name":"m"}`, CatalogConfig{Prices: noPrices{}}); e.Window != 200_000 || e.MaxWindow != 0 {
		t.Errorf("known nowhere: %d and %d", e.Window, e.MaxWindow)
	}
}

// windowTable knows two windows, and pictures, of model m.
type windowTable struct{ noPrices }

func (windowTable) Figures(name string) (Figures, bool) {
	return Figures{ID: "m", Window: 123_000, MaxWindow: 700_000, Images: true}, name == "m"
}

func TestMaxMode(t *testing.T) {
	model := `{"name":"m","contextTokenLimit":200000,"contextTokenLimitForMaxMode":400000,"variants":[
		{"legacySlug":"m-low","isDefaultNonMaxConfig":true,"parameterValues":[{"id":"effort","value":"low"}]},
		{"legacySlug":"m-low","isMaxMode":true,"isDefaultMaxConfig":true,"parameterValues":[{"id":"effort","value":"low"},{"id":"big","value":"yes"}]},
		{"legacySlug":"m-huge","isMaxMode":true,"parameterValues":[{"id":"effort","value":"high"}]}]}`
	c := mustParse(t, []byte(`{"models":[`+model+`]}`), nil, nil, CatalogConfig{})
	for name, want := range map[string]string{
		"m": "m-low effort=low", "m@400k": "m-low MAX effort=low,big=yes", "m-low@400k": "m-low MAX effort=low,big=yes",
		"m[1m]": "m-low MAX effort=low,big=yes", // as much as there is
		"m[1k]": "m-low effort=low", "m-huge": "m-huge MAX effort=high",
	} {
		if got := resolve(t, c, name, ""); got != want {
			t.Errorf("%s sends %q, want %q", name, got, want)
		}
	}
	s, err := c.Resolve("m-huge", "")
	if err != nil || s.Window != 400_000 {
		t.Errorf("window %d, %v", s.Window, err)
	}
}

func TestEffort(t *testing.T) {
	c := fixture(t, CatalogConfig{})
	for _, x := range []struct{ name, effort, want string }{
		{"gpt-5.6-sol", "", "gpt-5.6-sol-medium"},
		{"gpt-5.6-sol", "none", "gpt-5.6-sol-none"},
		{"gpt-5.6-sol", "minimal", "gpt-5.6-sol-none"}, // the lower of two neighbours
		{"gpt-5.6-sol", "XHigh", "gpt-5.6-sol-xhigh"},
		{"gpt-5.6-sol", "ultra", "gpt-5.6-sol-medium"}, // no level that is known
		{"gpt-5.5", "xhigh", "gpt-5.5-extra-high"},
		{"gpt-5.5", "max", "gpt-5.5-extra-high"},
		{"kimi-k3", "medium", "kimi-k3-low"},
		{"kimi-k3", "xhigh", "kimi-k3-high"},
		{"glm-5.2", "low", "glm-5.2-high"},
		{"claude-opus-5", "none", "claude-opus-5-high"}, // does not think, at the usual effort
		{"claude-opus-5", "low", "claude-opus-5-thinking-low"},
		{"claude-opus-5", "on", "claude-opus-5-thinking-high"},
		{"claude-opus-5-5", "none", "claude-opus-5-5-low"}, // always thinks
		{"claude-sonnet-4-5", "", "claude-4.5-sonnet"},
		{"claude-sonnet-4-5", "high", "claude-4.5-sonnet-thinking"},
		{"claude-sonnet-4-5", "disabled", "claude-4.5-sonnet"},
		{"claude-sonnet-4-6", "max", "claude-4.6-sonnet-thinking-medium"},
		{"claude-4.5-sonnet-thinking", "none", "claude-4.5-sonnet-thinking"}, // chosen from the list
		{"gpt-5.3-codex", "high", "gpt-5.3-codex-high"},
		{"gpt-5.3-codex-fast", "high", "gpt-5.3-codex-high-fast"}, // the id has no effort in it
		{"composer-2.5", "high", "composer-2.5"},
		{"auto", "high", "default"},
		{"claude-opus-5@1m", "none", "claude-opus-5-high"},
	} {
		s, err := c.Resolve(x.name, x.effort)
		if err != nil || s.ID != x.want {
			t.Errorf("%s with effort %q sends %s, %v; want %s", x.name, x.effort, s.ID, err, x.want)
		}
	}
}

// The order of the list must not depend on that of the answer.
func TestModelListIsStable(t *testing.T) {
	a := loadAnswers(t)
	var answer map[string]json.RawMessage
	var rows []json.RawMessage
	if err := errors.Join(json.Unmarshal(a.Available, &answer), json.Unmarshal(answer["models"], &rows)); err != nil {
		t.Fatal(err)
	}
	want := fixture(t, CatalogConfig{}).Models()
	slices.Reverse(rows)
	reversed, err := json.Marshal(map[string]any{"models": rows})
	if err != nil {
		t.Fatal(err)
	}
	got := mustParse(t, reversed, a.Usable, a.Default, CatalogConfig{}).Models()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A model that lists its settings but no variants still takes them.
func TestSettingsWithoutVariants(t *testing.T) {
	c := mustParse(t, []byte(`{"models":[{"name":"m","contextTokenLimit":200000,"contextTokenLimitForMaxMode":1000000,"parameterDefinitions":[
		{"id":"reasoning_effort","values":[{"value":"low"},{"value":"extra-high"}]},{"id":"thinking","parameterType":{"booleanParameter":{}}},
		{"id":"context","values":[{"value":"200k"},{"value":"1m"}]},{"id":"tone","values":[{"value":"dry"}]}]}]}`), nil, nil, CatalogConfig{})
	for _, x := range []struct{ name, effort, want string }{
		{"m", "", "m"},
		{"m", "max", "m reasoning_effort=extra-high,thinking=true"},
		{"m", "none", "m thinking=false"},
		{"m", "enabled", "m thinking=true"},
		{"m@1m", "", "m MAX context=1m"},
		{"m-low[1m]", "high", "m MAX reasoning_effort=low,thinking=true,context=1m"}, // the name's effort stands
	} {
		if got := resolve(t, c, x.name, x.effort); got != x.want {
			t.Errorf("%s with effort %q sends %q, want %q", x.name, x.effort, got, x.want)
		}
	}
}
