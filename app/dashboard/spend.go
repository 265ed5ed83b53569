package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cursortray/proxy/ledger"
)

func spendPage() *page {
	return &page{
		name: "spend", title: "Plan and spend",
		parts: []string{"spend.limits", "spend.plan", "spend.days", "spend.models", "spend.editors"},
		view:  (*Dashboard).spendOf,
	}
}

// Ledger knows what requests used. *ledger.Ledger is one.
type Ledger interface {
	Sum(ctx context.Context, by ledger.By, since, until time.Time) ([]ledger.Row, error)
	Recent(ctx context.Context, n int) ([]ledger.Entry, error)
}

var spans = []int{7, 30, 90}

type spend struct {
	Kept     bool // there is a ledger
	Problem  string
	Plan     string
	Limits   []trouble
	RunsHour int
	SpentDay string
	Age      string
	Meters   []meter
	Days     int
	By       string
	Spans    []choice
	Kinds    []choice
	PlotPath string
	Unit     string // of the plot
	Newest   string // changes with the data of the plot
	Total    spendRow
	ByModel  []spendRow
	ByEditor []spendRow
	ByDay    []spendRow
}

// choice is a link that is one of several.
type choice struct {
	Label, Path string
	Current     bool
}

// spendRow is a sum for people.
type spendRow struct {
	Name                             string
	Requests, Failed                 int64
	Input, Output, CacheRead, Writes int64
	Cost                             string
	AtLeast                          bool // some have no price
}

func spendRowOf(r ledger.Row, name string) spendRow {
	row := spendRow{
		Name: name, Requests: r.Requests, Failed: r.Failed, Input: r.Input, Output: r.Output,
		CacheRead: r.CacheRead, Writes: r.CacheWrite, AtLeast: r.Unpriced > 0,
	}
	if !r.Cost.IsZero() || r.Unpriced == 0 {
		row.Cost = r.Cost.Short()
	}
	return row
}

func (d *Dashboard) spendOf(v *visit) any {
	days, by := spanOf(v.query.Get("days")), kindOf(v.query.Get("by"))
	s := spend{
		Kept: d.cfg.Ledger != nil, Limits: limits(v.snap.Guard), RunsHour: v.snap.Guard.RunsHour, SpentDay: v.snap.Guard.SpentDay, Plan: v.snap.Plan.Title, Age: v.snap.Plan.Age, Meters: metersOf(v.snap.Plan), Days: days, By: string(by),
		PlotPath: Root + "data/spend?days=" + strconv.Itoa(days) + "&by=" + string(by),
	}
	for _, n := range spans {
		s.Spans = append(s.Spans, choice{strconv.Itoa(n) + " days", spendPath(n, by), n == days})
	}
	for _, kind := range []ledger.By{ledger.Model, ledger.Editor} {
		s.Kinds = append(s.Kinds, choice{"By " + string(kind), spendPath(days, kind), kind == by})
	}
	if !s.Kept {
		return s
	}
	since, until := daysBack(v.now, days)
	sum := func(by ledger.By, name func(string) string) []spendRow {
		rows, err := d.cfg.Ledger.Sum(v.ctx, by, since, until)
		if err != nil && s.Problem == "" {
			s.Problem = "The ledger cannot be read; the log says why."
			d.cfg.Logger.Warn("the ledger cannot be read", "error", err)
		}
		var list []spendRow
		for _, r := range rows {
			list = append(list, spendRowOf(r, name(r.Key)))
		}
		if by == ledger.Day {
			s.Total = spendRowOf(ledger.Total(rows), "")
			if unit, _ := measured(rows); unit == "requests" {
				s.Unit = "Requests"
			}
			slices.Reverse(list)
		}
		return list
	}
	s.Unit = "Dollars"
	s.ByModel = sum(ledger.Model, modelName)
	s.ByEditor = sum(ledger.Editor, editorName)
	s.ByDay = sum(ledger.Day, func(day string) string { return day })
	s.Newest = strconv.FormatInt(s.Total.Requests, 10) + "-" + s.Total.Cost
	return s
}

func spendPath(days int, by ledger.By) string {
	return Root + "spend?days=" + strconv.Itoa(days) + "&by=" + string(by)
}

func spanOf(text string) int {
	if n, err := strconv.Atoi(text); err == nil && slices.Contains(spans, n) {
		return n
	}
	return spans[1]
}

func kindOf(text string) ledger.By {
	if text == string(ledger.Editor) {
		return ledger.Editor
	}
	return ledger.Model
}

func modelName(id string) string {
	if id == "" {
		return "not known"
	}
	return id
}

// editorName is the name of what has a key.
func editorName(id string) string {
	if id == "" {
		return "main key"
	}
	return id
}

// daysBack are the last days, today among them.
func daysBack(now time.Time, days int) (since, until time.Time) {
	y, m, d := now.Local().Date()
	return time.Date(y, m, d-days+1, 0, 0, 0, 0, time.Local), time.Date(y, m, d+1, 0, 0, 0, 0, time.Local)
}

// maxSeries is how many colours a plot has; what is left over is one more.
const maxSeries = 6

// measured returns what a plot of these rows shows: dollars, or the number of
// requests where nothing is known of what they cost.
func measured(rows []ledger.Row) (unit string, measure func(ledger.Row) float64) {
	if ledger.Total(rows).Cost.IsZero() {
		return "requests", func(r ledger.Row) float64 { return float64(r.Requests) }
	}
	return "dollars", func(r ledger.Row) float64 { return float64Of(r.Cost.String()) }
}

// spendData is what each day cost, by model or editor.
func (d *Dashboard) spendData(w http.ResponseWriter, r *http.Request, _ *session) {
	data := plot{Kind: "days", Unit: "dollars", X: []int64{}, Series: []plotSeries{}}
	if d.cfg.Ledger == nil {
		writeJSON(w, data)
		return
	}
	days, by := spanOf(r.URL.Query().Get("days")), kindOf(r.URL.Query().Get("by"))
	since, until := daysBack(d.cfg.Now(), days)
	rows, err := d.cfg.Ledger.Sum(r.Context(), by, since, until)
	if err != nil {
		http.Error(w, "The ledger cannot be read.", http.StatusInternalServerError)
		return
	}
	unit, measure := measured(rows)
	data.Unit = unit
	// The largest get a colour of their own.
	slices.SortStableFunc(rows, func(a, b ledger.Row) int { return cmp.Compare(measure(b), measure(a)) })
	at := map[string]int{}
	name := modelName
	if by == ledger.Editor {
		name = editorName
	}
	for i, row := range rows {
		at[row.Key] = min(i, maxSeries)
		if i <= maxSeries {
			data.Series = append(data.Series, plotSeries{Label: name(row.Key)})
		}
	}
	if len(rows) > maxSeries {
		data.Series[maxSeries].Label = "others"
	}
	for i := range days {
		day := since.AddDate(0, 0, i)
		sums := make([]float64, len(data.Series))
		rows, err := d.cfg.Ledger.Sum(r.Context(), by, day, day.AddDate(0, 0, 1))
		if err != nil {
			http.Error(w, "The ledger cannot be read.", http.StatusInternalServerError)
			return
		}
		for _, row := range rows {
			if n, known := at[row.Key]; known {
				sums[n] += measure(row)
			}
		}
		data.X = append(data.X, day.Unix())
		for n := range sums {
			data.Series[n].Values = append(data.Series[n].Values, &sums[n])
		}
	}
	writeJSON(w, data)
}

// float64Of is good enough to draw.
func float64Of(amount string) float64 {
	n := number(amount)
	if n != n {
		return 0
	}
	return n
}
