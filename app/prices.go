package app

import (
	"math/big"
	"strings"

	"cursortray/proxy/chat"
)

// priceLine is what a million tokens cost, in and out: "$4 / $20". It is empty
// unless both are known: no price is not free.
func priceLine(p *chat.Price) string {
	if p == nil {
		return ""
	}
	in, out := PerMillion(p.Input), PerMillion(p.Output)
	if in == "" || out == "" {
		return ""
	}
	return "$" + in + " / $" + out
}

// PerMillion makes a price per token one per million tokens: "4", "0.75",
// "0.075"; "" if it is not known.
func PerMillion(perToken string) string {
	if strings.Trim(perToken, "0123456789.") != "" || len(perToken) > 40 {
		return "" // a large exponent is a large number
	}
	price, ok := new(big.Rat).SetString(perToken)
	if !ok {
		return ""
	}
	price.Mul(price, big.NewRat(1_000_000, 1))
	if price.IsInt() {
		return price.Num().String()
	}
	whole, fraction, _ := strings.Cut(price.FloatString(6), ".")
	return whole + "." + fraction[:2] + strings.TrimRight(fraction[2:], "0")
}
