package cursor

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// tableNames returns every name of a model in the price data of 2026-10-10.
func tableNames(t *testing.T) []string {
	t.Helper()
	var file struct {
		Models []struct {
			ID               string
			Aliases          []string
			PriceOnlyAliases []string `json:"price_only_aliases"`
		}
	}
	readJSON(t, "table.json", &file)
	var names []string
	for _, m := range file.Models {
		names = append(append(append(names, m.ID), m.Aliases...), m.PriceOnlyAliases...)
	}
	return names
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
		cfg.Prices = builtIn(t)
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
