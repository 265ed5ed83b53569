package cursor

import (
	"strconv"
	"strings"
)

// usualWindow stands for a window that nobody tells.
const usualWindow = 200_000

var (
	tooltipSize = pattern(`(?i)\b([0-9]+(?:\.[0-9]+)?) ?([km])\b[^\n]{0,60}?\bcontext window`)
	sizeText    = pattern(`(?i)^([0-9]{1,7}(?:\.[0-9]{1,3})?)([km])$`)
)

// parseSize reads a size such as "272k" or "1m", 0 if it is none. Sizes are in
// thousands, not in powers of two.
func parseSize(s string) int {
	m := sizeText().FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	if strings.EqualFold(m[2], "m") {
		n *= 1000
	}
	return int(n*1000 + 0.5)
}

// formatSize is how a size is part of an id: "272k", "1m".
func formatSize(tokens int) string {
	if tokens%1_000_000 == 0 {
		return strconv.Itoa(tokens/1_000_000) + "m"
	}
	return strconv.Itoa(tokens/1000) + "k"
}

// tooltipWindow reads the window in a tooltip's "300k context window".
func tooltipWindow(markdown string) int {
	m := tooltipSize().FindStringSubmatch(markdown)
	if m == nil {
		return 0
	}
	return parseSize(m[1] + m[2])
}

// windows returns a model's window in normal mode and the one in Max Mode, 0 if
// that is not larger. The first that is known counts; figures are those of the
// program's own table.
func windows(row *modelRow, figures Figures) (normal, largest int) {
	byDefault := func(is func(variantRow) bool) int {
		for _, v := range row.Variants {
			if is(v) {
				return readVariant(v).Window
			}
		}
		return 0
	}
	normal = firstOf(
		byDefault(func(v variantRow) bool { return v.DefaultNormal }),
		row.Window, row.TooltipWindow, figures.Window, usualWindow)
	table := figures.MaxWindow
	if row.MaxMode != nil && !*row.MaxMode {
		table = 0 // the account's list knows better
	}
	largest = firstOf(
		byDefault(func(v variantRow) bool { return v.DefaultMax }),
		row.MaxWindow, table)
	if largest <= normal {
		largest = 0
	}
	return normal, largest
}

func firstOf(sizes ...int) int {
	for _, n := range sizes {
		if n > 0 {
			return n
		}
	}
	return 0
}
