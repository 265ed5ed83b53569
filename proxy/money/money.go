// Package money holds amounts of US dollars, exactly, and decimal numbers as
// texts. It starts no goroutine.
package money

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Amount is an exact amount of US dollars, never negative. Its zero value is
// nothing at all; an amount that is not known has to be told apart from it.
type Amount struct{ pico int64 }

// An Amount counts in picodollars: a price per million tokens with four
// decimals, times a factor with two, is a whole number of them per token.
const (
	digits      = 12
	picoPerCent = 10_000_000_000
)

// ErrDecimal says that a text is no decimal number that can be held.
var ErrDecimal = errors.New("it is not a decimal number in reach, such as 12.5")

// ParseDecimal returns a decimal number times 10^digits, exactly.
func ParseDecimal(text string, digits int) (int64, error) {
	whole, fraction, dotted := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || dotted && strings.HasSuffix(text, ".") || len(fraction) > digits || len(whole) > 18 {
		return 0, ErrDecimal
	}
	all := whole + fraction
	if strings.ContainsFunc(all, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, ErrDecimal
	}
	n, err := strconv.ParseInt(all+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return 0, ErrDecimal
	}
	return n, nil
}

// OfPico returns an amount of picodollars; below zero it is nothing.
func OfPico(pico int64) Amount { return Amount{max(0, pico)} }

// Parse reads what MarshalText wrote.
func Parse(text string) (Amount, error) {
	var m Amount
	err := m.UnmarshalText([]byte(text))
	return m, err
}

// OfCents returns the nearest amount; below zero it is nothing.
func OfCents(cents float64) Amount {
	pico := math.Round(cents * picoPerCent)
	switch {
	case !(pico > 0):
		return Amount{}
	case pico >= math.MaxInt64:
		return Amount{math.MaxInt64}
	}
	return Amount{int64(pico)}
}

// Add returns the sum, at most the largest amount that there is.
func (m Amount) Add(n Amount) Amount {
	if m.pico > math.MaxInt64-n.pico {
		return Amount{math.MaxInt64}
	}
	return Amount{m.pico + n.pico}
}

// Sub returns the difference, nothing if n is larger.
func (m Amount) Sub(n Amount) Amount { return Amount{max(0, m.pico-n.pico)} }

// Compare returns -1, 0 or 1 if m is less than, equal to or more than n.
func (m Amount) Compare(n Amount) int {
	switch {
	case m.pico < n.pico:
		return -1
	case m.pico > n.pico:
		return 1
	}
	return 0
}

// Pico returns the number of picodollars.
func (m Amount) Pico() int64 { return m.pico }

// ToCents returns the nearest amount in whole cents. Amounts out of reach are
// the largest whole cents.
func (m Amount) ToCents() Amount {
	return Amount{min(m.rounded(picoPerCent), math.MaxInt64/picoPerCent) * picoPerCent}
}

// Equal says whether both are the same amount.
func (m Amount) Equal(n Amount) bool { return m == n }

// IsZero says whether it is nothing.
func (m Amount) IsZero() bool { return m.pico == 0 }

// String returns all of the amount: "$0.135951", with two decimals or more.
func (m Amount) String() string { return "$" + m.decimal() }

// MarshalText returns the number of dollars: "0.135951".
func (m Amount) MarshalText() ([]byte, error) { return []byte(m.decimal()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Amount) UnmarshalText(text []byte) error {
	pico, err := ParseDecimal(string(text), digits)
	if err == nil {
		m.pico = pico
	}
	return err
}

func (m Amount) decimal() string { return FormatDecimal(m.pico, digits, 2) }

// Dollars returns the amount in dollars and cents, as on a bill: "$17.85".
func (m Amount) Dollars() string {
	return "$" + FormatDecimal(m.rounded(picoPerCent), 2, 2)
}

// Short returns the amount for a menu. Small ones are in cents: "$1.39",
// "4.95¢", "<0.01¢".
func (m Amount) Short() string {
	hundredths := m.rounded(picoPerCent / 100)
	switch {
	case hundredths >= 1000: // ten cents
		return m.Dollars()
	case hundredths == 0 && m.pico > 0:
		return "<0.01¢"
	}
	return FormatDecimal(hundredths, 2, 0) + "¢"
}

// rounded returns the number of units in m, half of one rounded up.
func (m Amount) rounded(unit int64) int64 {
	n := m.pico / unit
	if m.pico%unit >= unit/2 {
		n++
	}
	return n
}

// FormatDecimal writes n/10^digits with as many decimals as it needs, and with
// least at least.
func FormatDecimal(n int64, digits, least int) string {
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

// Times returns m*factor/divisor without what comes after the last picodollar;
// false if that is out of reach.
func (m Amount) Times(factor, divisor int64) (Amount, bool) {
	high, low := bits.Mul64(uint64(m.pico), uint64(factor))
	if high >= uint64(divisor) {
		return Amount{}, false
	}
	n, _ := bits.Div64(high, low, uint64(divisor))
	if n > math.MaxInt64 {
		return Amount{}, false
	}
	return Amount{int64(n)}, true
}
