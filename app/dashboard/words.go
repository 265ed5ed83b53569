package dashboard

import (
	"fmt"
	"math/big"
	"strings"
)

// plural is a number with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// dollars shows an exact decimal amount in cents, or finer when it is less than
// one cent; "" is not known and stays so.
func dollars(amount string) string {
	value, ok := amountOf(amount)
	switch {
	case !ok:
		return ""
	case value.Sign() == 0:
		return "$0.00"
	case value.Cmp(big.NewRat(1, 100)) < 0:
		return "$" + strings.TrimRight(value.FloatString(6), "0")
	}
	return "$" + value.FloatString(2)
}

// amountOf reads an exact decimal amount.
func amountOf(amount string) (*big.Rat, bool) {
	if amount == "" || len(amount) > 40 || strings.Trim(amount, "0123456789.") != "" {
		return nil, false
	}
	return new(big.Rat).SetString(amount)
}

// isCommand tells whether a message begins with a name that is written small.
func isCommand(message string) bool {
	word, _, _ := strings.Cut(message, " ")
	word = strings.TrimRight(word, ":,")
	return word == "cursor-agent" || word == "cursortray" || strings.ContainsAny(word, "_=/.")
}
