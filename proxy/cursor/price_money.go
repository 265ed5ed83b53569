package cursor

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Money is an exact amount of US dollars, never negative. Its zero value is
// nothing at all; an amount that is not known has to be told apart from it.
type Money struct{ pico int64 }

// Money counts in picodollars: a price per million tokens with four decimals,
// times a factor with two, is a whole number of them per token.
const (
	moneyDigits = 12
	centDigits  = moneyDigits - 2
	picoPerCent = 10_000_000_000
)

var errDecimal = errors.New("it is not a decimal number in reach, such as 12.5")

// parseDecimal returns a decimal number times 10^digits, exactly.
func parseDecimal(text string, digits int) (int64, error) {
	whole, fraction, dotted := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || dotted && strings.HasSuffix(text, ".") || len(fraction) > digits || len(whole) > 18 {
		return 0, errDecimal
	}
	all := whole + fraction
	if strings.ContainsFunc(all, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, errDecimal
	}
	n, err := strconv.ParseInt(all+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return 0, errDecimal
	}
	return n, nil
}

// moneyOfCents returns the nearest amount; below zero it is nothing.
func moneyOfCents(cents float64) Money {
	pico := math.Round(cents * picoPerCent)
	switch {
	case !(pico > 0):
		return Money{}
	case pico >= math.MaxInt64:
		return Money{math.MaxInt64}
	}
	return Money{int64(pico)}
}

// Add returns the sum, at most the largest amount that there is.
func (m Money) Add(n Money) Money {
	if m.pico > math.MaxInt64-n.pico {
		return Money{math.MaxInt64}
	}
	return Money{m.pico + n.pico}
}

// Sub returns the difference, nothing if n is larger.
func (m Money) Sub(n Money) Money { return Money{max(0, m.pico-n.pico)} }

// Compare returns -1, 0 or 1 if m is less than, equal to or more than n.
func (m Money) Compare(n Money) int {
	switch {
	case m.pico < n.pico:
		return -1
	case m.pico > n.pico:
		return 1
	}
	return 0
}

// IsZero says whether it is nothing.
func (m Money) IsZero() bool { return m.pico == 0 }

// String returns all of the amount: "$0.135951", with two decimals or more.
func (m Money) String() string { return "$" + m.decimal() }

// MarshalText returns the number of dollars: "0.135951".
func (m Money) MarshalText() ([]byte, error) { return []byte(m.decimal()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Money) UnmarshalText(text []byte) error {
	pico, err := parseDecimal(string(text), moneyDigits)
	if err == nil {
		m.pico = pico
	}
	return err
}

func (m Money) decimal() string { return formatDecimal(m.pico, moneyDigits, 2) }

// Dollars returns the amount in dollars and cents, as on a bill: "$17.85".
func (m Money) Dollars() string {
	return "$" + formatDecimal(m.rounded(picoPerCent), 2, 2)
}

// Short returns the amount for a menu. Small ones are in cents: "$1.39",
// "4.95¢", "<0.01¢".
func (m Money) Short() string {
	hundredths := m.rounded(picoPerCent / 100)
	switch {
	case hundredths >= 1000: // ten cents
		return m.Dollars()
	case hundredths == 0 && m.pico > 0:
		return "<0.01¢"
	}
	return formatDecimal(hundredths, 2, 0) + "¢"
}

// rounded returns the number of units in m, half of one rounded up.
func (m Money) rounded(unit int64) int64 {
	n := m.pico / unit
	if m.pico%unit >= unit/2 {
		n++
	}
	return n
}

// formatDecimal writes n/10^digits with as many decimals as it needs, and with
// least at least.
func formatDecimal(n int64, digits, least int) string {
	text := strconv.FormatInt(n, 10)
	if short := digits + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	point := len(text) - digits
	end := len(text)
	for end > point+least && text[end-1] == '0' {
		end--
	}
	if end == point {
		return text[:point]
	}
	return text[:point] + "." + text[point:end]
}

// times returns m*factor/divisor without what comes after the last picodollar;
// false if that is out of reach.
func (m Money) times(factor, divisor int64) (Money, bool) {
	high, low := bits.Mul64(uint64(m.pico), uint64(factor))
	if high >= uint64(divisor) {
		return Money{}, false
	}
	n, _ := bits.Div64(high, low, uint64(divisor))
	if n > math.MaxInt64 {
		return Money{}, false
	}
	return Money{int64(n)}, true
}
