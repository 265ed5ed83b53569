package main

import (
	"fmt"
	"slices"
	"time"
)

// table prints one line per measured figure, as soon as it is there.
type table struct {
	headed       string // the yardstick in the newest head
	rows, missed int
}

// head names the columns, with the yardstick of the rows to come.
func (t *table) head(yardstick string) {
	if t.headed == yardstick {
		return
	}
	t.headed = yardstick
	t.line("measured", yardstick, "cursortray", "ratio", "target", "")
}

func (t *table) line(cells ...any) { fmt.Printf("%-38s %14s %14s %8s %10s  %s\n", cells...) }

func (t *table) row(name, raw, ours, ratio, target string, met bool) {
	t.rows++
	verdict := "ok"
	if !met {
		t.missed++
		verdict = "MISSED"
	}
	t.line(name, raw, ours, ratio, target, verdict)
}

// atLeast and atMost compare the two servers.
func (t *table) atLeast(name, unit string, raw, ours, target float64) {
	ratio := ours / raw
	t.row(name, figure(raw, unit), figure(ours, unit), fmt.Sprintf("%.2f", ratio), fmt.Sprintf(">= %.2f", target), ratio >= target)
}

func (t *table) atMost(name, unit string, raw, ours, target float64) {
	ratio := ours / raw
	t.row(name, figure(raw, unit), figure(ours, unit), fmt.Sprintf("%.2f", ratio), fmt.Sprintf("<= %.2f", target), ratio <= target)
}

// limit compares cursortray with a figure of its own.
func (t *table) limit(name, unit string, raw, ours, target float64) {
	t.row(name, figure(raw, unit), figure(ours, unit), "", fmt.Sprintf("<= %g %s", target, unit), ours <= target)
}

// within compares what cursortray takes with what the yardstick takes times
// target, plus an allowance in the same unit.
func (t *table) within(name, unit string, raw, ours, target, allowance float64) {
	limit := raw*target + allowance
	t.row(name, figure(raw, unit), figure(ours, unit), fmt.Sprintf("%.2f", ours/raw), "<= "+figure(limit, unit), ours <= limit)
}

func (t *table) summary() {
	fmt.Printf("%d of %d targets met\n", t.rows-t.missed, t.rows)
}

func figure(n float64, unit string) string {
	switch {
	case n >= 10000:
		return fmt.Sprintf("%.0f %s", n, unit)
	case n >= 100:
		return fmt.Sprintf("%.1f %s", n, unit)
	default:
		return fmt.Sprintf("%.2f %s", n, unit)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// percentile of sorted values.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mega(bytes int64) float64 { return float64(bytes) / (1 << 20) }
