package dashboard

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cursortray/app"
)

func modelsPage() *page {
	return &page{
		name: "models", title: "Models and prices",
		parts: []string{"models.state", "models.filter", "models.table"},
		view:  func(_ *Dashboard, v *visit) any { return modelsOf(v) },
	}
}

type models struct {
	Age     string
	Prices  string // the date of their table; "" is not known
	Known   bool
	All     int // before searching
	Rows    []modelRow
	Chosen  string // the default model; "" is Cursor's own choice
	Query   string
	Columns []column
	Sort    string
	Down    bool
}

// modelRow is a model, with its variants below.
type modelRow struct {
	ID, Name        string
	In, Out         string // dollars per million tokens
	Window, Largest int
	Default         bool
	Open            bool // a request for it leaves the choice to others
	Variants        []modelRow
	in, out         float64 // NaN is not known
}

// column is a heading that sorts.
type column struct {
	Key, Title string
	Number     bool
	Path       string
	Order      string // ascending, descending, or none
}

func modelsOf(v *visit) models {
	m := models{Age: v.snap.Models.Age, Prices: v.snap.Models.PricesOf, Chosen: v.snap.Models.Chosen, Query: strings.TrimSpace(v.query.Get("q")), Sort: v.query.Get("sort"), Down: v.query.Get("down") == "1"}
	if list := v.snap.Models.List; list != nil {
		m.Known, m.All = true, list.IDs
		for _, f := range list.Families {
			row := modelRowOf(f.ModelEntry)
			for _, variant := range f.Variants {
				row.Variants = append(row.Variants, modelRowOf(variant))
			}
			if row.matches(m.Query) {
				m.Rows = append(m.Rows, row)
			}
		}
	}
	sortModels(m.Rows, m.Sort, m.Down)
	for _, c := range []column{
		{Key: "name", Title: "Model"}, {Key: "in", Title: "Input", Number: true}, {Key: "out", Title: "Output", Number: true},
		{Key: "window", Title: "Context", Number: true},
	} {
		m.Columns = append(m.Columns, m.heading(c))
	}
	return m
}

func modelRowOf(e app.ModelEntry) modelRow {
	row := modelRow{ID: e.ID, Name: e.Name, Window: e.Window, Largest: e.MaxWindow, Default: e.Default, Open: app.LeavesOpen(e.ID), in: math.NaN(), out: math.NaN()}
	in, out, ok := strings.Cut(e.Price, " / ")
	if ok {
		row.In, row.Out = in, out
		row.in, row.out = number(in), number(out)
	}
	return row
}

func number(price string) float64 {
	n, err := strconv.ParseFloat(strings.TrimPrefix(price, "$"), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// matches looks for every word in names and ids.
func (r modelRow) matches(query string) bool {
	text := strings.ToLower(r.Name + " " + r.ID)
	for _, variant := range r.Variants {
		text += " " + strings.ToLower(variant.Name+" "+variant.ID)
	}
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// sortModels leaves Cursor's own order unless a column is named. What is not
// known comes last either way.
func sortModels(rows []modelRow, by string, down bool) {
	value := func(r modelRow) float64 {
		switch by {
		case "in":
			return r.in
		case "out":
			return r.out
		}
		if w := max(r.Window, r.Largest); w > 0 {
			return float64(w)
		}
		return math.NaN()
	}
	sign := 1
	if down {
		sign = -1
	}
	switch by {
	case "name":
		slices.SortStableFunc(rows, func(a, b modelRow) int {
			return sign * strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		})
	case "in", "out", "window":
		slices.SortStableFunc(rows, func(a, b modelRow) int {
			x, y := value(a), value(b)
			switch {
			case math.IsNaN(x) && math.IsNaN(y):
				return 0
			case math.IsNaN(x):
				return 1
			case math.IsNaN(y):
				return -1
			}
			return sign * cmp.Compare(x, y)
		})
	}
}

// heading makes a column's link: to its order, and then to the opposite.
func (m models) heading(c column) column {
	query := url.Values{"sort": {c.Key}}
	if m.Query != "" {
		query.Set("q", m.Query)
	}
	c.Order = "none"
	if m.Sort == c.Key {
		c.Order = "ascending"
		if m.Down {
			c.Order = "descending"
		} else {
			query.Set("down", "1")
		}
	}
	c.Path = Root + "models?" + query.Encode()
	return c
}
