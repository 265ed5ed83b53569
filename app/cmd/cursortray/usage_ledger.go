package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"cursortray/app"
	"cursortray/app/control"
	"cursortray/proxy/ledger"
)

// ledgerFlags ask for what requests used, by the ledger.
type ledgerFlags struct {
	By    string `placeholder:"day|model|editor" help:"Say what requests used instead, by the ledger: by day, model or editor."`
	Since string `placeholder:"WHEN" help:"With --by: from when on, as 2026-11-01, 7d or 12h. Without it 30 days."`
	Until string `placeholder:"WHEN" help:"With --by: until when; a day is included."`
	CSV   bool   `name:"csv" help:"With --by: print CSV."`
}

const ledgerHelp = `

With --by and --json:

    {"by": text, "since": time, "until": time, "rows": [ROW], "total": ROW}

    ROW: {"key": day, id of the model, or id of the editor ("" is the main key),
      "requests", "failed", "cancelled", "refused": number,
      "input_tokens", "cache_read_tokens", "cache_write_tokens",
      "output_tokens", "reasoning_tokens": number,
      "cost_usd": dollars as text, by the table of prices,
      "unpriced": answers whose cost is not known, "seconds": number}`

// asked says whether the ledger is asked.
func (f *ledgerFlags) asked(asJSON bool) (bool, error) {
	if f.By == "" {
		if f.Since != "" || f.Until != "" || f.CSV {
			return false, &usageError{fmt.Errorf("--since, --until and --csv need --by")}
		}
		return false, nil
	}
	if f.CSV && asJSON {
		return false, &usageError{fmt.Errorf("--json and --csv can't be used together")}
	}
	return true, nil
}

// usageReport is what `usage --by` prints.
type usageReport struct {
	By    string     `json:"by"`
	Since time.Time  `json:"since"`
	Until *time.Time `json:"until,omitempty"`
	Rows  []usageRow `json:"rows"` // never null
	Total usageRow   `json:"total"`
}

type usageRow struct {
	Key        string  `json:"key"`
	Requests   int64   `json:"requests"`
	Failed     int64   `json:"failed"`
	Cancelled  int64   `json:"cancelled"`
	Refused    int64   `json:"refused"`
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Reasoning  int64   `json:"reasoning_tokens"`
	Cost       string  `json:"cost_usd"`
	Unpriced   int64   `json:"unpriced"`
	Seconds    float64 `json:"seconds"`
}

func usageRowOf(r ledger.Row) usageRow {
	return usageRow{
		Key: r.Key, Requests: r.Requests, Failed: r.Failed, Cancelled: r.Cancelled, Refused: r.Refused, Input: r.Input, CacheRead: r.CacheRead,
		CacheWrite: r.CacheWrite, Output: r.Output, Reasoning: r.Reasoning, Cost: strings.TrimPrefix(r.Cost.String(), "$"), Unpriced: r.Unpriced,
		Seconds: r.Took.Seconds(),
	}
}

// printLedger reads the file of the ledger itself, with a running instance or
// without.
func (p *process) printLedger(ctx context.Context, s *setup, client *control.Client, f ledgerFlags, asJSON bool) error {
	by := ledger.By(f.By)
	if by != ledger.Day && by != ledger.Model && by != ledger.Editor {
		return &usageError{fmt.Errorf("--by must be day, model or editor")}
	}
	now := time.Now()
	since, err := parseWhen(cmp.Or(f.Since, "30d"), now, false)
	if err != nil {
		return &usageError{fmt.Errorf("--since %w", err)}
	}
	report := usageReport{By: f.By, Since: since, Rows: []usageRow{}}
	var until time.Time
	if f.Until != "" {
		if until, err = parseWhen(f.Until, now, true); err != nil {
			return &usageError{fmt.Errorf("--until %w", err)}
		}
		if !until.After(since) {
			return &usageError{fmt.Errorf("--until must be later than --since, which is 30d where it is not given")}
		}
		report.Until = &until
	}
	status, err := client.Status(ctx)
	demo := err == nil && status.Demo
	rows, err := ledger.OpenReader(ledgerPath(s, demo)).Sum(ctx, by, since, until)
	if err != nil {
		return err
	}
	for _, row := range rows {
		report.Rows = append(report.Rows, usageRowOf(row))
	}
	report.Total = usageRowOf(ledger.Total(rows))
	switch {
	case asJSON:
		return p.printJSON(report)
	case f.CSV:
		return p.printLedgerCSV(report)
	case len(rows) == 0:
		fmt.Fprintf(p.stdout, "no requests since %s\n", since.Format("2006-01-02 15:04"))
		return nil
	}
	return p.printLedgerTable(report, rows)
}

func (p *process) printLedgerCSV(report usageReport) error {
	out := csv.NewWriter(p.stdout)
	_ = out.Write([]string{report.By, "requests", "failed", "cancelled", "refused", "input_tokens", "cache_read_tokens", "cache_write_tokens",
		"output_tokens", "reasoning_tokens", "cost_usd", "unpriced", "seconds"})
	for _, r := range report.Rows {
		record := []string{r.Key}
		for _, n := range []int64{r.Requests, r.Failed, r.Cancelled, r.Refused, r.Input, r.CacheRead, r.CacheWrite, r.Output, r.Reasoning} {
			record = append(record, strconv.FormatInt(n, 10))
		}
		record = append(record, r.Cost, strconv.FormatInt(r.Unpriced, 10), strconv.FormatFloat(r.Seconds, 'f', 3, 64))
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func (p *process) printLedgerTable(report usageReport, rows []ledger.Row) error {
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, r ledger.Row) {
		cost := r.Cost.Dollars()
		if cost == "$0.00" && !r.Cost.IsZero() {
			cost = r.Cost.Short() // what has cost something is not shown as nothing
		}
		switch {
		case r.Unpriced > 0 && r.Cost.IsZero():
			cost = "not known"
		case r.Unpriced > 0:
			cost = "over " + cost
		}
		bad := r.Failed + r.Cancelled + r.Refused
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t\n", name, r.Requests, bad,
			tokens(r.Input), tokens(r.CacheRead), tokens(r.CacheWrite), tokens(r.Output), cost)
	}
	fmt.Fprintf(out, "%s\trequests\tnot done\tinput\tcache read\tcache write\toutput\tcost\t\n", report.By)
	for _, r := range rows {
		line(rowName(report.By, r.Key), r)
	}
	line("total", ledger.Total(rows))
	return out.Flush()
}

func rowName(by, key string) string {
	switch {
	case key != "":
		return key
	case by == string(ledger.Editor):
		return "main key"
	}
	return "not known"
}

func tokens(n int64) string { return app.TokenCount(int(n)) }
