package cursor

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cursortray/proxy/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// answers are the services' answers about models, with invented values in the
// exact shape.
type answers struct {
	Available, Usable, Default json.RawMessage
	CLI                        string
}

func loadAnswers(t testing.TB) answers {
	t.Helper()
	type answer struct{ Body json.RawMessage }
	var file struct {
		Available answer `json:"available_models"`
		Usable    answer `json:"usable_models"`
		Default   answer `json:"default_model"`
		CLI       string `json:"cli_models_text"`
	}
	readJSON(t, "answers.json", &file)
	return answers{file.Available.Body, file.Usable.Body, file.Default.Body, file.CLI}
}

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "models", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// tableRow is a model of testdata/models/pricing.json.
type tableRow struct {
	ID               string
	Pool             string
	Aliases          []string
	PriceOnlyAliases []string `json:"price_only_aliases"`
	Prices           *tableRates
	Fast             *struct{ Prices *tableRates }
	Context          struct{ Default, Max *int }
	Capabilities     struct{ Images bool }
}

type tableRates struct {
	Input, Output string
	CacheWrite    *string `json:"cache_write"`
	CacheRead     *string `json:"cache_read"`
}

// testTable is a PriceTable.
type testTable []tableRow

func loadTable(t testing.TB) testTable {
	t.Helper()
	var file struct{ Models testTable }
	readJSON(t, "pricing.json", &file)
	return file.Models
}

func (table testTable) Figures(name string) (Figures, bool) {
	for _, r := range table {
		only := slices.Contains(r.PriceOnlyAliases, name)
		if r.ID != name && !slices.Contains(r.Aliases, name) && !only {
			continue
		}
		f := Figures{ID: r.ID, PriceOnly: only, Images: r.Capabilities.Images, CursorPool: r.Pool == "cursor"}
		if r.Context.Default != nil {
			f.Window = *r.Context.Default
		}
		if r.Context.Max != nil {
			f.MaxWindow = *r.Context.Max
		}
		return f, true
	}
	return Figures{}, false
}

// Price marks its rates instead of dividing them by a million.
func (table testTable) Price(id string, fast bool) (chat.Price, bool) {
	for _, r := range table {
		if r.ID != id {
			continue
		}
		rates := r.Prices
		if fast {
			if r.Fast == nil {
				return chat.Price{}, false
			}
			rates = r.Fast.Prices
		}
		if rates == nil {
			return chat.Price{}, false
		}
		p := chat.Price{Input: rates.Input + "/M", Output: rates.Output + "/M"}
		if rates.CacheRead != nil {
			p.CacheRead = *rates.CacheRead + "/M"
		}
		return p, true
	}
	return chat.Price{}, false
}

var fixtureTime = time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)

// fixture is the Catalog of the answers in testdata.
func fixture(t testing.TB, cfg CatalogConfig) *Catalog {
	t.Helper()
	a := loadAnswers(t)
	return mustParse(t, a.Available, a.Usable, a.Default, cfg)
}

func mustParse(t testing.TB, available, usable, standard []byte, cfg CatalogConfig) *Catalog {
	t.Helper()
	if cfg.Prices == nil {
		cfg.Prices = loadTable(t)
	}
	c, err := ParseCatalog(available, usable, standard, fixtureTime, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shown writes a selection in one line.
func shown(s Selection) string {
	text := s.ID
	if s.Max {
		text += " MAX"
	}
	var settings []string
	for _, p := range s.Parameters {
		settings = append(settings, p.ID+"="+p.Value)
	}
	return strings.TrimSpace(text + " " + strings.Join(settings, ","))
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "models", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range max(len(gotLines), len(wantLines)) {
			if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
				t.Fatalf("%s differs first in line %d:\n got %q\nwant %q", name, i+1, at(gotLines, i), at(wantLines, i))
			}
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(no more lines)"
}
