package cursor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Fields in all the spellings that proto3 JSON and other decoders allow.
func TestDecodeAvailableIsLenient(t *testing.T) {
	got, err := decodeAvailable([]byte(`{"model_names":["a"],"futureField":{"x":1},"models":[
		null, 7, "text", {"clientDisplayName":"no name"}, {"name":"bad id"}, {"name":""},
		{"name":"a","client_display_name":"A <b>bold</b> &amp; (new) \"one\"\u200b","supports_agent":"true","supportsImages":1,
		 "supports_thinking":false,"supports_max_mode":null,"supports_non_max_mode":"false",
		 "context_token_limit":"300000","context_token_limit_for_max_mode":1e6,"id_aliases":["a1",5,"a1","b d"],"legacySlugs":["a2"],
		 "vendor":{"id":"MODEL_VENDOR_ID_OPENAI"},"isHidden":"no",
		 "parameter_definitions":[{"id":"effort","parameter_type":{"enum_parameter":{"values":[{"value":"low"},{"displayName":"x"}]}}},
			{"id":"fast","parameterType":{"booleanParameter":{}}},{"id":"plain","values":[{"value":"v"}]},{"name":"no id"}],
		 "variants":[{"parameter_values":[{"id":"fast","value":true},{"id":"effort","value":"low"},{"id":"","value":"x"}],"legacy_slug":"a-low",
			"is_default_non_max_config":true,"is_max_mode":"1"},
			{"variantStringRepresentation":"a[effort=low,fast=false]","displayNameOutsidePicker":"Outside"}]},
		{"name":"a","clientDisplayName":"again"},
		{"name":"b","supportsAgent":{},"contextTokenLimit":99999999999,"variants":"none","vendorName":"Some Vendor","supports_agent":false,"supportsAgent":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []modelRow{
		{
			Name: "a", Label: "A bold new one", Vendor: "openai",
			Agent: new(true), Images: new(true), Thinking: new(false), NormalMode: new(false),
			Window: 300_000, MaxWindow: 1_000_000, Aliases: []string{"a1", "a2"},
			Parameters: []parameterRow{{"effort", []string{"low"}}, {"fast", []string{"false", "true"}}, {"plain", []string{"v"}}},
			Variants: []variantRow{
				{Slug: "a-low", Parameters: []Parameter{{"fast", "true"}, {"effort", "low"}}, Max: true, DefaultNormal: true},
				{Label: "Outside", Parameters: []Parameter{{"effort", "low"}, {"fast", "false"}}},
			},
		},
		{Name: "b", Vendor: "some vendor", Agent: new(true)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeUsableAndDefault(t *testing.T) {
	got, err := decodeUsable([]byte(`{"models":[
		{"model_id":"a-low","display_model_id":"A","display_name":"A  Low","thinking_details":{},"aliases":["a"],"max_mode":true,
		 "apiKeyCredentials":{"apiKey":"sk-secret"}},
		{"modelId":"b","displayNameShort":"B","thinkingDetails":null},{"modelId":"b"},{"displayName":"none"}]}`))
	want := []usableRow{
		{ID: "a-low", DisplayID: "A", Label: "A Low", Aliases: []string{"a"}, Thinking: true, Max: true},
		{ID: "b", Label: "B"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if id, err := decodeDefault([]byte(`{"model":{"model_id":"b"}}`)); id != "b" || err != nil {
		t.Errorf("default %q, %v", id, err)
	}
	if id, err := decodeDefault([]byte(`{}`)); err == nil {
		t.Errorf("no default gave %q", id)
	}
}

// MU-1: a list without a row is a failure and never replaces another one.
func TestMU1_NoRowsIsAFailure(t *testing.T) {
	for _, text := range []string{``, `null`, `[]`, `<html>log in</html>`, `{}`, `{"models":[]}`, `{"models":null}`, `{"models":[{}]}`, `{"models":[{"name":"a"}`, `"text"`} {
		if rows, err := decodeAvailable([]byte(text)); err == nil {
			t.Errorf("available %q: %v", text, rows)
		}
		if rows, err := decodeUsable([]byte(text)); err == nil {
			t.Errorf("usable %q: %v", text, rows)
		}
		if c, err := ParseCatalog([]byte(text), nil, nil, fixtureTime, CatalogConfig{}); err == nil {
			t.Errorf("catalogue of %q: %v", text, c.Models())
		}
	}
	// Nothing but hidden models is nothing.
	if _, err := ParseCatalog([]byte(`{"models":[{"name":"a","isHidden":true}]}`), nil, nil, fixtureTime, CatalogConfig{}); err == nil {
		t.Error("a catalogue of hidden models")
	}
}

func TestCleanLabel(t *testing.T) {
	for in, want := range map[string]string{
		`Claude Opus 5.5 <span style="color:var(--x)">Low</span> <span>Fast</span>`: "Claude Opus 5.5 Low Fast",
		"Grok 4.7  Extra High Fast\u200b\u200b":                                     "Grok 4.7 Extra High Fast",
		"GPT (NO ZDR)":                                                              "GPT NO ZDR",
		"a &lt;b&gt;bold&lt;/b&gt; &amp;amp; c":                                     "a bold amp; c",
		"x <5B & y> 3 <!-- hidden -->":                                              "x 5B y 3",
		"`one` 'two' \"three\"\n\tfour\x00five":                                     "one two three four five",
		"<script>alert(1)</script>":                                                 "alert1",
		"":                                                                          "",
		"<b></b>":                                                                   "",
		"left\u202eright\u2066":                                                     "leftright",
	} {
		if got := cleanLabel(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestThinkingTagOnlyWhereItTellsApart(t *testing.T) {
	c := mustParse(t, []byte(`{"models":[{"name":"a","clientDisplayName":"Same","supportsThinking":true},{"name":"b","clientDisplayName":"Same"},
		{"name":"c","clientDisplayName":"Other","supportsThinking":true},{"name":"d","clientDisplayName":"Twin"},{"name":"e","clientDisplayName":"Twin"}]}`), nil, nil, CatalogConfig{})
	got := map[string]string{}
	for _, e := range c.Entries() {
		got[e.ID] = e.Label
	}
	want := map[string]string{"a": "Same Thinking", "b": "Same", "c": "Other", "d": "Twin", "e": "Twin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{"200k": 200_000, "1m": 1_000_000, "1M": 1_000_000, "1.5m": 1_500_000, "": 0, "k": 0, "-1k": 0, "200": 0, "999999999m": 0} {
		if got := parseSize(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{
		"**M**\n\n300k context window": 300_000, "1M token context window": 1_000_000, "**1m** context window.": 1_000_000,
		"costs 5k\nno window": 0, "context window": 0, "x300k context window": 0,
	} {
		if got := tooltipWindow(text); got != want {
			t.Errorf("tooltip %q is %d, want %d", text, got, want)
		}
	}
}

// FuzzDecodeModels: whatever the services answer, what comes out can be listed
// and each listed id can be called.
func FuzzDecodeModels(f *testing.F) {
	f.Add([]byte(`{"models":[{"name":"gpt-5.5","supportsAgent":true,"supportsThinking":true,"contextTokenLimit":"272000","clientDisplayName":"GPT <b>5.5</b>",
		"idAliases":["G"],"parameterDefinitions":[{"id":"fast","parameterType":{"booleanParameter":{}}},{"id":"thinking","values":[{"value":"true"}]}],
		"variants":[{"legacySlug":"gpt-5.5-low","isDefaultNonMaxConfig":true,"parameterValues":[{"id":"context","value":"272k"},{"id":"effort","value":"low"}]},
		{"legacySlug":"gpt-5.5-low","isMaxMode":true,"isDefaultMaxConfig":true,"parameterValues":[{"id":"context","value":"1m"},{"id":"thinking","value":"true"}]}]},
		{"name":"default","tooltipData":{"markdownContent":"1M context window"},"supportsNonMaxMode":false}]}`),
		[]byte(`{"models":[{"modelId":"gpt-5.5-low","displayModelId":"g"},{"modelId":"gpt-5.5-high-thinking-1m","maxMode":true}]}`), []byte(`{"model":{"modelId":"gpt-5.5-low"}}`))
	f.Add([]byte(`{"models":[{"name":"a@1m"},{"name":"a","contextTokenLimitForMaxMode":1000000,"variants":[{"legacySlug":"b"},{"legacySlug":"a-high-fast"}]},{"name":"b"}]}`),
		[]byte(`{"models":[{"modelId":"c-1m-fast"},{"modelId":"c"},{"modelId":"a-low","aliases":["b"]}]}`), []byte(`{"model":{"modelId":"c"}}`))
	table := builtIn(f)
	f.Fuzz(func(t *testing.T, available, usable, standard []byte) {
		c, err := ParseCatalog(available, usable, standard, fixtureTime, CatalogConfig{Prices: table})
		if err != nil {
			return
		}
		seen := map[string]bool{}
		defaults := 0
		for _, m := range c.Models() {
			s, err := c.Resolve(m.ID, "")
			if err != nil || s.ID == "" || s.Window != m.ContextWindow || s.Model.ID != m.Group {
				t.Fatalf("%q: %s with %d of %q, %v; listed with %d in %q", m.ID, shown(s), s.Window, s.Model.ID, err, m.ContextWindow, m.Group)
			}
			if seen[m.ID] || m.Name == "" || !validID(m.ID) {
				t.Fatalf("%q, named %q, listed before %v", m.ID, m.Name, seen[m.ID])
			}
			seen[m.ID] = true
			if m.Default {
				defaults++
			}
		}
		if defaults != 1 {
			t.Fatalf("%d defaults", defaults)
		}
	})
}
