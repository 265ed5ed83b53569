package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"cursortray/proxy/money"
)

// By says what a sum is told by.
type By string

// The values of By.
const (
	Day    By = "day"    // of the local time zone
	Model  By = "model"  // id
	Editor By = "editor" // id; "" is the main key
)

// Row is the sum of some entries.
type Row struct {
	Key string // a day such as 2026-11-30, or an id; "" is not known, or the main key
	// Requests are all of them; Failed, Cancelled and Refused those of them that
	// ended so. Refused ones ran into a limit of the user's own.
	Requests, Failed, Cancelled, Refused            int64
	Input, Output, CacheRead, CacheWrite, Reasoning int64
	// Cost is exact. Unpriced counts answers whose cost is not known, which are
	// not in it.
	Cost     money.Amount
	Unpriced int64
	Took     time.Duration // in all
}

// Refused is how the outcomes of requests begin that ran into a limit of the
// user's own.
const Refused = "spend_limit"

// Reader reads a ledger.
type Reader struct{ path string }

// OpenReader returns a reader of the file at path, which need not be there:
// then nothing is in it.
func OpenReader(path string) *Reader { return &Reader{path} }

// open opens the file for one call; nil means that there is none.
func (r *Reader) open(ctx context.Context) (*sql.DB, error) {
	info, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the ledger: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the ledger: %w", errForeign)
	case info.Size() == 0:
		return nil, nil
	}
	// Not mode=ro: such a connection would leave files beside the ledger.
	db, err := sql.Open("sqlite", dsn(r.path, "query_only(1)"))
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	db.SetMaxOpenConns(1)
	_, version, err := identify(ctx, db)
	if err == nil && version > 0 {
		return db, nil
	}
	db.Close()
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return nil, nil // it is just being made
}

// sums are the columns of a Row but its key. Dollars and their fractions are
// added up apart, because the sum of picodollars may go out of reach.
const sums = `count(*), sum(outcome NOT IN ('ok', 'cancelled') AND outcome NOT LIKE 'spend\_limit%' ESCAPE '\'),
	sum(outcome = 'cancelled'), sum(outcome LIKE 'spend\_limit%' ESCAPE '\'),
	sum(input), sum(output), sum(cache_read), sum(cache_write), sum(reasoning),
	coalesce(sum(cost / 1000000000000), 0), coalesce(sum(cost % 1000000000000), 0),
	sum(cost IS NULL AND outcome = 'ok' AND NOT paused), sum(took)`

// dayStep divides the days of every time zone.
const dayStep = 15 * time.Minute

// Sum is as Ledger.Sum, of what the file holds. Days come in order, the rest by
// cost, the highest first.
func (r *Reader) Sum(ctx context.Context, by By, since, until time.Time) ([]Row, error) {
	key := map[By]string{Day: fmt.Sprintf("at / %d", dayStep.Milliseconds()), Model: "model", Editor: "editor"}[by]
	if key == "" {
		return nil, fmt.Errorf("there is no sum by %q", string(by))
	}
	db, err := r.open(ctx)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	from, to := span(since, until)
	found, err := db.QueryContext(ctx, `SELECT `+key+`, `+sums+` FROM request WHERE at >= ? AND at < ? GROUP BY 1 ORDER BY 1`, from, to)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer found.Close()
	var rows []Row
	for found.Next() {
		row, err := scanRow(found, by)
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		if last := len(rows) - 1; last >= 0 && rows[last].Key == row.Key {
			rows[last].add(row)
		} else {
			rows = append(rows, row)
		}
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	if by != Day {
		slices.SortStableFunc(rows, func(a, b Row) int { return b.Cost.Compare(a.Cost) })
	}
	return rows, nil
}

func scanRow(found *sql.Rows, by By) (Row, error) {
	var row Row
	var step, dollars, rest, took int64
	key := any(&row.Key)
	if by == Day {
		key = &step
	}
	err := found.Scan(key, &row.Requests, &row.Failed, &row.Cancelled, &row.Refused, &row.Input, &row.Output, &row.CacheRead,
		&row.CacheWrite, &row.Reasoning, &dollars, &rest, &row.Unpriced, &took)
	if by == Day {
		row.Key = time.UnixMilli(step * dayStep.Milliseconds()).Format(time.DateOnly)
	}
	const pico = 1_000_000_000_000
	row.Cost = money.OfPico(rest)
	if dollars <= math.MaxInt64/pico {
		row.Cost = row.Cost.Add(money.OfPico(dollars * pico))
	} else {
		row.Cost = money.OfPico(math.MaxInt64)
	}
	row.Took = time.Duration(min(took, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	return row, err
}

func (r *Row) add(o Row) {
	for _, f := range [][2]*int64{
		{&r.Requests, &o.Requests}, {&r.Failed, &o.Failed}, {&r.Cancelled, &o.Cancelled}, {&r.Refused, &o.Refused},
		{&r.Input, &o.Input}, {&r.Output, &o.Output}, {&r.CacheRead, &o.CacheRead}, {&r.CacheWrite, &o.CacheWrite},
		{&r.Reasoning, &o.Reasoning}, {&r.Unpriced, &o.Unpriced},
	} {
		*f[0] += *f[1]
	}
	r.Cost = r.Cost.Add(o.Cost)
	r.Took += o.Took
}

// Total adds up rows.
func Total(rows []Row) Row {
	var total Row
	for _, row := range rows {
		total.add(row)
	}
	return total
}

// Recent is as Ledger.Recent, of what the file holds.
func (r *Reader) Recent(ctx context.Context, n int) ([]Entry, error) {
	db, err := r.open(ctx)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	found, err := db.QueryContext(ctx, `SELECT at, editor, model, dialect, backend, outcome, input, output, cache_read, cache_write,
		reasoning, cost, paused, context, window, took FROM request ORDER BY at DESC, id DESC LIMIT ?`, n)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer found.Close()
	var entries []Entry
	for found.Next() {
		var e Entry
		var at, took int64
		var cost sql.NullInt64
		if err := found.Scan(&at, &e.Editor, &e.Model, &e.Dialect, &e.Backend, &e.Outcome, &e.Input, &e.Output, &e.CacheRead, &e.CacheWrite,
			&e.Reasoning, &cost, &e.Paused, &e.Context, &e.Window, &took); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		e.At, e.Took = time.UnixMilli(at), time.Duration(took)*time.Millisecond
		if cost.Valid {
			e.Cost = strings.TrimPrefix(money.OfPico(cost.Int64).String(), "$")
		}
		entries = append(entries, e)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return entries, nil
}

// Load is what an editor used within a step of time.
type Load struct {
	At     time.Time // the beginning of the step
	Editor string
	Runs   int
	Cost   money.Amount
}

// Load is as Ledger.Load, of what the file holds: per step and editor the runs
// and their cost, in the order of time. Outcomes that begin with except do not
// count, nor do requests that came to no back-end, unless they were answered.
func (r *Reader) Load(ctx context.Context, since time.Time, step time.Duration, except string) ([]Load, error) {
	db, err := r.open(ctx)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	from, to := span(since, time.Time{})
	found, err := db.QueryContext(ctx, `SELECT at / ? * ?, editor, count(*), coalesce(sum(min(cost, 100000000000000000)), 0) FROM request
		WHERE at >= ? AND at < ? AND substr(outcome, 1, ?) <> ? AND (backend <> '' OR outcome = 'ok') GROUP BY 1, 2 ORDER BY 1`,
		step.Milliseconds(), step.Milliseconds(), from, to, len(except), except)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer found.Close()
	var loads []Load
	for found.Next() {
		var at, cost int64
		var l Load
		if err := found.Scan(&at, &l.Editor, &l.Runs, &cost); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		l.At, l.Cost = time.UnixMilli(at), money.OfPico(cost)
		loads = append(loads, l)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return loads, nil
}

// span returns the bounds in milliseconds; none is far away.
func span(since, until time.Time) (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if !since.IsZero() {
		from = since.UnixMilli()
	}
	if !until.IsZero() {
		to = until.UnixMilli()
	}
	return from, to
}
